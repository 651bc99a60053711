// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a call: a recorded call with one thing changed, the way that a
// program from a stranger would. Some changes are harmless, most must be refused;
// which, refusals.h knows. For tests. A wrong call owns its case.
//
//   aten.add.out.0   add(%x0: f32[2,3], %x1: f32[3], 1) -> %y0
//     all like x0: type 4           another dtype, of all that have one dtype
//     all: the most dims            ones before the sizes, of all tensors
//     x0: type 4                    of one
//     x0: without the last dim      another rank
//     x0: size 1 + 1                another size
//     x0: dims turned around        another order in memory
//     x0: element 0 is 1000         an index that is nowhere
//     argument 2 is -1              other numbers, lists, absent tensors
//     output 0 is x0                memory that is read is written
//     all: no dims, x1: no elements    one element beside none
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_WRONG_CALLS_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_WRONG_CALLS_H_

#include <string>
#include <vector>

#include "test/eager/case_file.h"

namespace petrel::runtime {

struct WrongCall {
  std::string change;    // "x0: size 1 + 1"
  test::EagerCase call;  // what is expected has only its types and sizes
};

// In an order that depends on the case alone.
std::vector<WrongCall> wrong_calls(const test::EagerCase& right);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_WRONG_CALLS_H_
