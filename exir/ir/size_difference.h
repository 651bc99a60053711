// SPDX-License-Identifier: Apache-2.0
//
// Looks for values of symbols at which two expressions differ. Finding none
// proves nothing, unless there are so few values that all were tried.
//
//   find_difference(s0, min(s0, 9))    {"s0": 10}, where s0 is in [1, 16]
#ifndef PETREL_EXIR_IR_SIZE_DIFFERENCE_H_
#define PETREL_EXIR_IR_SIZE_DIFFERENCE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "exir/ir/size_expression.h"

namespace petrel::exir {

using SymbolValues = std::map<std::string, int64_t>;

// No value below 2 is tried where a symbol has others: exporters assume that a
// size is neither 0 nor 1. nullopt also where an expression has unknown symbols.
std::optional<SymbolValues> find_difference(const SizeExpression& a, const SizeExpression& b);

// Proven: equal in form, or at all values of their symbols, where those are few.
bool are_equal(const SizeExpression& a, const SizeExpression& b);

// "s0 is 10 and s1 is 3"
std::string to_string(const SymbolValues& values);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_SIZE_DIFFERENCE_H_
