// SPDX-License-Identifier: Apache-2.0
//
// Products by weights that are stored as integers, of which XNNPACK computes some with
// integers alone.
//
//   %w  = dequantize_per_channel(constant @w : i8[8,3,3,3], scales, zero_points, 0, ...)
//   %x  = dequantize_per_tensor(%q, 0.02, 3, ...)
//   %y  = convolution(%x, %w, ...)            one node of int8 values,
//   %qy = quantize_per_tensor(%y, 0.05, ...)  with a bias of int32
//
// Where a product is not between the two, linear multiplies floats by the integers, and a
// convolution by what they stand for. By 4 bits or groups multiplies linear only.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_QUANTIZED_WEIGHT_H_
#define PETREL_BACKENDS_XNNPACK_AOT_QUANTIZED_WEIGHT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/xnnpack/aot/lowering.h"
#include "backends/xnnpack/aot/stored_weight.h"

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

// How the one node that uses `value` quantises it. Nodes that do so alike were merged.
std::optional<TensorQuant> quantized_by_user(const exir::Value* value);
// How the integers lie that `value` was dequantised from, which are no constant.
std::optional<TensorQuant> quantized_input(const exir::Value* value);

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

// How the weight of a product of `input` is stored: with zero points only where the input is
// quantised at run time, and then rows or groups of linear have theirs.
std::optional<StoredWeight> stored_filter(const exir::Value* input, const exir::Value* weight);

struct ProductIds {
  uint32_t input = 0;
  uint32_t filter = 0;
  uint32_t bias = kNoId;
};

// Adds input, filter and bias as the payload wants them for this product.
absl::StatusOr<ProductIds> add_operands(Lowering& lowering, const FilterUse& use);

// How in_floats() computes from the weights that it takes.
MadeOf made_in_floats(const StoredWeight& weight);

// What keeps XNNPACK from multiplying by this weight what it quantised at run time.
// `axis` is that of the output channels, of which there are `outputs`.
exir::Support check_dynamic_filter(const exir::Value* weight, size_t axis, int64_t outputs);

// The same of groups in a weight of linear, whose rows are [outputs, inputs].
exir::Support check_groups(const StoredWeight& weight);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_QUANTIZED_WEIGHT_H_
