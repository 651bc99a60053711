// SPDX-License-Identifier: Apache-2.0
//
// Which wrong calls (wrong_calls.h) a set of kernels refuses. A table of them is kept in
// refusals.txt, so that no check of a kernel is lost without a word: a call that a
// check stops is taken, or ends the process, without it. For tests.
//
//   aten.add.out.0 f3e08          a case and 4 wrong calls a digit, 1 is refused
//
// The first call of a digit is its highest bit. A deliberate change:
//
//   ./bazelw run //runtime/kernels/portable:write_refusals > runtime/kernels/portable/refusals.txt
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_REFUSALS_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_REFUSALS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/kernel/kernel.h"

namespace petrel::runtime {

inline constexpr char kRefusals[] = "runtime/kernels/portable/refusals.txt";

// The digits of each case of kRecordedCalls.
using Refusals = std::map<std::string, std::string>;
using FindKernel = std::function<const Kernel*(const std::string& name)>;

// What the kernels that `find` knows answer; null leaves a case out.
Refusals refusals_of(const FindKernel& find);

// kRefusals; throws nothing, an absent file is an empty table.
Refusals kept_refusals();

// "aten.add.out.0: x0: size 1 + 1: is taken, was refused" for each wrong call of a
// case in both tables whose answers differ, at most 20 of them.
std::vector<std::string> differences(const Refusals& kept, const Refusals& found);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_REFUSALS_H_
