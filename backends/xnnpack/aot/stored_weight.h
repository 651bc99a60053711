// SPDX-License-Identifier: Apache-2.0
//
// Weights that a program stores as integers of a byte and dequantises where it uses them.
//
//   %w = dequantize_per_channel(constant @w : i8[8,3,3,3], scales, zero_points, 0, ...)
//   %w = torchao.dequantize_affine(constant @w : i8[8,64], [1,32], scales : f32[8,2], ...)
//
// Zero points of weights are 0: XNNPACK has none for filters, but see zero_point_share.h.
// What is no weight may have one, beside one scale.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_STORED_WEIGHT_H_
#define PETREL_BACKENDS_XNNPACK_AOT_STORED_WEIGHT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "exir/ir/graph.h"

namespace petrel::backends::xnnpack::aot {

struct StoredWeight {
  exir::ConstantPtr constant;  // i8
  std::vector<float> scales;   // one, or one for each index along axis, or for each group
  // Where these are; null where the program has one in itself.
  exir::ConstantPtr scale_constant;
  int32_t zero_point = 0;
  // Of stored_with_zero_points(): one for each scale.
  std::vector<float> zero_points;
  exir::ConstantPtr zero_point_constant;
  size_t axis = 0;
  int64_t group_size = 0;  // elements of a row of [rows, columns]; 0: there are no groups
  bool is_4_bit = false;   // the program says that all levels are in [-8, 7]

  bool is_per_channel() const { return group_size == 0 && scales.size() > 1; }
};

// Of a value that a node dequantises from a constant; nullopt for others.
std::optional<StoredWeight> stored_constant(const exir::Value* value);
// The same without zero points.
std::optional<StoredWeight> stored_weight(const exir::Value* weight);

// Only those that have zero points, which are constants.
std::optional<StoredWeight> stored_with_zero_points(const exir::Value* weight);

// The constant that a weight is or is stored as; null when it is computed at run time.
const exir::Value* weight_constant(const exir::Value* weight);

// A constant of the weight's values in floats, lying as the stored one does.
exir::ConstantPtr in_floats(const StoredWeight& weight);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_STORED_WEIGHT_H_
