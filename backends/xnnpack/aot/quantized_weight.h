// SPDX-License-Identifier: Apache-2.0
//
// Weights that a program stores as integers, and the products that XNNPACK computes with
// integers alone.
//
//   %w  = dequantize_per_channel(constant @w : i8[8,3,3,3], scales, zero_points, 0, ...)
//   %x  = dequantize_per_tensor(%q, 0.02, 3, ...)
//   %y  = convolution(%x, %w, ...)            one node of int8 values,
//   %qy = quantize_per_tensor(%y, 0.05, ...)  with a bias of int32
//
// Where a product is not between the two, its weight is what it stands for, in floats.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_QUANTIZED_WEIGHT_H_
#define PETREL_BACKENDS_XNNPACK_AOT_QUANTIZED_WEIGHT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/xnnpack/aot/lowering.h"

namespace petrel::backends::xnnpack::aot {

// The constant arguments of a quantize_per_tensor or dequantize_per_tensor.
struct TensorQuant {
  float scale = 0;
  int32_t zero_point = 0;

  bool operator==(const TensorQuant& o) const {
    return scale == o.scale && zero_point == o.zero_point;
  }
  QuantParams params() const;
};

// Of a node of these operators on i8; nullopt for others, and for numbers that XNNPACK
// does not take.
std::optional<TensorQuant> tensor_quant(const exir::Node& node);

// What a weight is stored as.
struct StoredWeight {
  exir::ConstantPtr constant;  // i8
  std::vector<float> scales;   // one, or one for each index along axis
  size_t axis = 0;

  bool is_per_channel() const { return scales.size() > 1; }
  float scale(size_t channel) const { return scales[is_per_channel() ? channel : 0]; }
};

// Of a value that a node dequantises from a constant i8 without zero points; nullopt for
// others.
std::optional<StoredWeight> stored_weight(const exir::Value* weight);

// The constant that a weight is or is stored as; null when it is computed at run time.
const exir::Value* weight_constant(const exir::Value* weight);

// A constant of the weight's values in floats, lying as the stored one does.
exir::ConstantPtr in_floats(const StoredWeight& weight);

// A product as the functions that lower it see it.
struct FilterUse {
  const exir::Value* input;  // of the IR; where it was quantised at run time, dequantised
  const exir::Value* weight;
  const exir::Value* bias;    // null for none
  const exir::Value* result;  // of the activation that is merged into it, if any
  WeightView filter;          // of the constant
  Dims filter_dims = {};
  size_t weight_axis = 0;          // the output channels in the weight
  uint32_t filter_axis = 0;        // and in filter_dims
  Layout layout = Layout::kPlain;  // of the input
};

struct ProductIds {
  uint32_t input = 0;
  uint32_t filter = 0;
  uint32_t bias = kNoId;
};

// Adds input, filter and bias as the payload wants them for this product.
absl::StatusOr<ProductIds> add_operands(Lowering& lowering, const FilterUse& use);

// What keeps XNNPACK from multiplying by this weight what it quantised at run time.
// `axis` is that of the output channels, of which there are `outputs`.
exir::Support check_dynamic_filter(const exir::Value* weight, size_t axis, int64_t outputs);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_QUANTIZED_WEIGHT_H_
