// SPDX-License-Identifier: Apache-2.0
//
// Reads the literal arguments of nodes the way PyTorch means them.
//
//   std::optional<Ints> stride = ints_argument(node.argument(arg::stride), 2);
//   [2] or 2 -> {2, 2};  [] -> {};  a value computed at run time -> nullopt

#ifndef PETREL_BACKENDS_XNNPACK_AOT_ARGUMENTS_H_
#define PETREL_BACKENDS_XNNPACK_AOT_ARGUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "exir/ir/graph.h"
#include "exir/ops/size.h"

namespace petrel::backends::xnnpack::aot {

// A list of `count` numbers, where one stands for all. An empty list stays
// empty; nullopt for another length and for anything that is not literal.
std::optional<std::vector<int64_t>> ints_argument(const exir::Argument& argument, size_t count);

// A number, or `absent` where the argument is none.
std::optional<double> number_argument(const exir::Argument& argument,
                                      std::optional<double> absent = std::nullopt);

// An axis in [0, rank), counted from the end when negative.
std::optional<size_t> axis_argument(int64_t axis, size_t rank);

// A size as a number; nullopt for one that varies.
std::optional<int64_t> fixed(const exir::rules::Size& size);

// "%g".
std::string number_text(double value);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_ARGUMENTS_H_
