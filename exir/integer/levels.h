// SPDX-License-Identifier: Apache-2.0
//
// What quantize_per_tensor and dequantize_per_tensor say of 8 bits, with numbers as their
// kernels round them:
//
//   %q = quantize_per_tensor(%x, 0.02, 3, -128, 127, i8)
//
//   Int8Levels l = *levels_of(node);      // l.dtype kChar, l.zero_point 3
//   l.level_of(0.5)                       // 28: what the node makes of it
#ifndef PETREL_EXIR_INTEGER_LEVELS_H_
#define PETREL_EXIR_INTEGER_LEVELS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "exir/ir/graph.h"

namespace petrel::exir {

struct Int8Levels {
  ScalarType dtype = ScalarType::kChar;  // or kByte
  double scale = 1;                      // a float
  double inverse = 1;                    // what quantising multiplies with, a float
  int64_t zero_point = 0;
  int64_t least = 0, most = 0;

  int64_t level_of(double number) const;
  bool operator==(const Int8Levels& other) const;

  // The least level that the type has.
  int64_t first() const { return dtype == ScalarType::kChar ? -128 : 0; }
  // How far a level can be from the zero point.
  int64_t reach() const;
};

// nullopt for other nodes, and where a number is not known, is not of 8 bits, or is none that a
// multiplier can be made of.
std::optional<Int8Levels> levels_of(const Node& node);

// The levels of a value that dequantize_per_tensor makes; null for others.
const Node* dequantising(const Value* value);

// dequantize_per_tensor.default or quantize_per_tensor.default after the first argument.
std::vector<Argument> with_numbers_of(const Node& node, Value* input);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_INTEGER_LEVELS_H_
