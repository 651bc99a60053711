// SPDX-License-Identifier: Apache-2.0
//
// Quantisation in blocks. Kernels dequantise rows and channels, and so the weights stay in
// their bits:
//
//   before   %w = torchao.dequantize_affine(%q : i8[4,64], [1,32], %s : f32[4,2])
//   after    %v, %t = aten.view(%q, [8,32]), aten.view(%s, [8])
//            %d = quantized_decomposed.dequantize_per_channel(%v, %t, none, 0)
//            %w = aten.view(%d, [4,64])
//
// Blocks that lie otherwise, and quantising, become arithmetic that rounds as torchao does.
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "exir/pass/decompose/decompose.h"
#include "exir/pass/framework/constant_facts.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// A tensor with each dim that has several blocks as two: blocks and what is in one.
struct Blocks {
  Sizes parts;
  Sizes counts;  // `parts` with 1 for what is in a block
  Ints inner;    // the dims that are in a block
  bool is_split = false;

  // The first dim from which on all is in a block; nullopt where blocks are not rows.
  std::optional<size_t> rows_end() const {
    size_t end = parts.size();
    while (end > 0 && counts[end - 1].is(1)) --end;
    for (size_t i = 0; i < end; ++i) {
      if (!is_always(counts[i], parts[i])) return std::nullopt;
    }
    return end;
  }

  // The one dim of which each index is a block; nullopt where it is not one.
  std::optional<size_t> channel() const {
    std::optional<size_t> found;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (counts[i].is(1)) continue;
      if (found || is_split || !is_always(counts[i], parts[i])) return std::nullopt;
      found = i;
    }
    return found;
  }
};

Blocks blocks_of(const Node& node) {
  const Sizes sizes = sizes_of(node.input(arg::input));
  const Sizes block = sizes_in(node.argument(arg::block_size), sizes.size());
  Blocks blocks;
  for (size_t i = 0; i < block.size(); ++i) {
    const bool is_each = is_always(block[i], 1);
    if (is_each || is_always(block[i], sizes[i])) {
      if (!is_each) blocks.inner.push_back(static_cast<int64_t>(blocks.parts.size()));
      blocks.parts.push_back(sizes[i]);
      blocks.counts.push_back(is_each ? sizes[i] : Size(1));
      continue;
    }
    blocks.is_split = true;
    blocks.inner.push_back(static_cast<int64_t>(blocks.parts.size() + 1));
    blocks.parts.insert(blocks.parts.end(), {sizes[i] / block[i], block[i]});
    blocks.counts.insert(blocks.counts.end(), {sizes[i] / block[i], 1});
  }
  return blocks;
}

bool is_zero(const Value* zero_point) {
  if (zero_point == nullptr) return true;
  return zero_point->is_constant() && is_zero(zero_point->constant());
}

struct Bounds {
  int64_t low = INT8_MIN;
  int64_t high = INT8_MAX;
};

Bounds bounds_of(const Node& node, ScalarType dtype) {
  Bounds bounds;
  if (dtype == ScalarType::kByte) bounds = {0, UINT8_MAX};
  if (dtype == ScalarType::kShort) bounds = {INT16_MIN, INT16_MAX};
  if (dtype == ScalarType::kInt) bounds = {INT32_MIN, INT32_MAX};
  if (!node.argument(arg::quant_min).is_none()) {
    bounds.low = fixed_int(node.argument(arg::quant_min));
  }
  if (!node.argument(arg::quant_max).is_none()) {
    bounds.high = fixed_int(node.argument(arg::quant_max));
  }
  return bounds;
}

// By the kernel for channels, on rows of blocks or on a channel; null where they lie
// otherwise.
BuiltValue dequantize_channels(Builder& b, const Node& node, const Blocks& blocks) {
  Value* x = node.input(arg::input);
  const Sizes sizes = sizes_of(x);
  const ScalarType dtype = x->tensor().dtype;
  const Bounds bounds = bounds_of(node, dtype);
  const std::optional<size_t> channel = blocks.channel();
  const std::optional<size_t> end = blocks.rows_end();
  if (!channel && !end) return nullptr;
  int64_t axis = 0;
  if (channel) {
    axis = static_cast<int64_t>(*channel);
  } else {
    const auto middle = blocks.parts.begin() + static_cast<ptrdiff_t>(*end);
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, {product(Sizes(blocks.parts.begin(), middle)),
                                          product(Sizes(middle, blocks.parts.end()))}));
  }
  const Size groups = product(blocks.counts);
  PETREL_ASSIGN_OR_RETURN(Value * scale, b.view(node.input(arg::scale), {groups}));
  PETREL_ASSIGN_OR_RETURN(scale, b.cast(scale, ScalarType::kFloat));
  Value* zero_point = tensor_at(node, arg::zero_point);
  if (is_zero(zero_point)) zero_point = nullptr;
  if (zero_point != nullptr) {
    PETREL_ASSIGN_OR_RETURN(zero_point, b.view(zero_point, {groups}));
    PETREL_ASSIGN_OR_RETURN(zero_point, b.cast(zero_point, ScalarType::kLong));
  }
  PETREL_ASSIGN_OR_RETURN(
      Value * y, b.call(quantized_decomposed::dequantize_per_channel,
                        {x, scale, zero_point == nullptr ? Arg(none()) : Arg(zero_point), axis,
                         bounds.low, bounds.high, dtype}));
  return b.view(y, sizes);
}

Rewritten quantize(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  const ScalarType dtype = node.result()->tensor().dtype;
  const Blocks blocks = blocks_of(node);
  Value* zero_point = tensor_at(node, arg::zero_point);
  const Bounds bounds = bounds_of(node, dtype);
  PETREL_ASSIGN_OR_RETURN(Value * y, b.view(x, blocks.parts));
  PETREL_ASSIGN_OR_RETURN(Value * scale, b.view(node.input(arg::scale), blocks.counts));
  PETREL_ASSIGN_OR_RETURN(scale, b.call(aten::reciprocal, {scale}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, y, scale));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::round, {y}));
  if (zero_point != nullptr) {
    PETREL_ASSIGN_OR_RETURN(zero_point, b.view(zero_point, blocks.counts));
    PETREL_ASSIGN_OR_RETURN(zero_point, b.cast(zero_point, y->tensor().dtype));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, zero_point));
  }
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::clamp, {y, bounds.low, bounds.high}));
  PETREL_ASSIGN_OR_RETURN(y, b.cast(y, dtype));
  return done(b, node, b.view(y, sizes_of(x)));
}

Rewritten dequantize(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  const ScalarType dtype = node.result()->tensor().dtype;
  const Blocks blocks = blocks_of(node);
  if (dtype == ScalarType::kFloat) {
    PETREL_ASSIGN_OR_RETURN(Value * y, dequantize_channels(b, node, blocks));
    if (y != nullptr) return done(b, node, y);
  }
  PETREL_ASSIGN_OR_RETURN(Value * y, b.view(x, blocks.parts));
  PETREL_ASSIGN_OR_RETURN(y, b.cast(y, dtype));
  if (Value* zero_point = tensor_at(node, arg::zero_point); !is_zero(zero_point)) {
    PETREL_ASSIGN_OR_RETURN(zero_point, b.view(zero_point, blocks.counts));
    PETREL_ASSIGN_OR_RETURN(zero_point, b.cast(zero_point, dtype));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::sub_Tensor, y, zero_point));
  }
  PETREL_ASSIGN_OR_RETURN(Value * scale, b.view(node.input(arg::scale), blocks.counts));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, y, scale));
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, sizes_of(x)));
  return done(b, node, b.cast(y, dtype));
}

double smallest_normal(ScalarType type) {
  if (type == ScalarType::kHalf) return std::ldexp(1.0, -14);
  if (type == ScalarType::kDouble) return std::numeric_limits<double>::min();
  return static_cast<double>(std::numeric_limits<float>::min());
}

// The scale of a range around 0, not yet bounded.
BuiltValue symmetric_scale(Builder& b, const std::string& mapping, const Bounds& bounds, Value* low,
                           Value* high) {
  if (mapping == "SYMMETRIC") {
    PETREL_ASSIGN_OR_RETURN(low, b.call(aten::neg, {low}));
    PETREL_ASSIGN_OR_RETURN(high, b.binary(aten::maximum, low, high));
    return b.call(aten::div_Scalar, {high, static_cast<double>(bounds.high - bounds.low) / 2});
  }
  PETREL_ASSIGN_OR_RETURN(low, b.call(aten::div_Scalar, {low, static_cast<double>(bounds.low)}));
  PETREL_ASSIGN_OR_RETURN(high, b.call(aten::div_Scalar, {high, static_cast<double>(bounds.high)}));
  PETREL_ASSIGN_OR_RETURN(Value * is_low, b.binary(aten::gt_Tensor, low, high));
  return b.call(aten::where_self, {is_low, low, high});
}

Rewritten choose(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  const Blocks blocks = blocks_of(node);
  if (blocks.inner.empty()) return false;
  const std::string mapping = node.argument(arg::mapping_type).as_string();
  const Bounds bounds = bounds_of(node, node.argument(arg::target_dtype).as_scalar_type());
  const TensorType& scale_type = node.result(0)->tensor();
  const TensorType& zero_type = node.result(1)->tensor();
  const double eps = node.argument(arg::eps).is_none() ? smallest_normal(x->tensor().dtype)
                                                       : fixed_number(node.argument(arg::eps));
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, blocks.parts));
  PETREL_ASSIGN_OR_RETURN(Value * low, b.call(aten::amin, {x, blocks.inner, false}));
  PETREL_ASSIGN_OR_RETURN(Value * high, b.call(aten::amax, {x, blocks.inner, false}));
  PETREL_ASSIGN_OR_RETURN(low, b.call(aten::clamp, {low, none(), 0}));
  PETREL_ASSIGN_OR_RETURN(high, b.call(aten::clamp, {high, 0, none()}));
  Value* scale = nullptr;
  Value* zero_point = nullptr;
  if (mapping == "ASYMMETRIC") {
    PETREL_ASSIGN_OR_RETURN(scale, b.binary(aten::sub_Tensor, high, low));
    PETREL_ASSIGN_OR_RETURN(
        scale, b.call(aten::div_Scalar, {scale, static_cast<double>(bounds.high - bounds.low)}));
    PETREL_ASSIGN_OR_RETURN(scale, b.call(aten::clamp, {scale, eps, none()}));
    PETREL_ASSIGN_OR_RETURN(zero_point, b.binary(aten::div_Tensor, low, scale));
    PETREL_ASSIGN_OR_RETURN(zero_point, b.call(aten::round, {zero_point}));
    PETREL_ASSIGN_OR_RETURN(zero_point, b.call(aten::neg, {zero_point}));
    PETREL_ASSIGN_OR_RETURN(zero_point, b.call(aten::add_Scalar, {zero_point, bounds.low}));
    PETREL_ASSIGN_OR_RETURN(zero_point, b.call(aten::clamp, {zero_point, bounds.low, bounds.high}));
    PETREL_ASSIGN_OR_RETURN(zero_point, b.cast(zero_point, zero_type.dtype));
  } else {
    PETREL_ASSIGN_OR_RETURN(scale, symmetric_scale(b, mapping, bounds, low, high));
    PETREL_ASSIGN_OR_RETURN(scale, b.call(aten::clamp, {scale, eps, none()}));
    PETREL_ASSIGN_OR_RETURN(
        zero_point,
        b.call(aten::full, {sizes_of(scale), (bounds.high + bounds.low + 1) / 2, zero_type.dtype}));
  }
  PETREL_ASSIGN_OR_RETURN(scale, b.cast(scale, scale_type.dtype));
  PETREL_ASSIGN_OR_RETURN(scale, b.view(scale, sizes_of(node.result(0))));
  PETREL_ASSIGN_OR_RETURN(zero_point, b.view(zero_point, sizes_of(node.result(1))));
  PETREL_RETURN_IF_ERROR(b.replace(node, {scale, zero_point}));
  return true;
}

Rewritten choose_around_zero(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  const Ints all = all_dims(x->tensor().rank());
  const Bounds bounds = {fixed_int(node.argument(arg::quant_min)),
                         fixed_int(node.argument(arg::quant_max))};
  PETREL_ASSIGN_OR_RETURN(Value * low, b.call(aten::amin, {x, all, false}));
  PETREL_ASSIGN_OR_RETURN(Value * high, b.call(aten::amax, {x, all, false}));
  PETREL_ASSIGN_OR_RETURN(low, b.call(aten::clamp, {low, none(), 0}));
  PETREL_ASSIGN_OR_RETURN(high, b.call(aten::clamp, {high, 0, none()}));
  PETREL_ASSIGN_OR_RETURN(Value * scale, symmetric_scale(b, "SYMMETRIC", bounds, low, high));
  PETREL_ASSIGN_OR_RETURN(scale, b.cast(scale, ScalarType::kFloat));
  PETREL_ASSIGN_OR_RETURN(
      scale, b.call(aten::clamp, {scale, fixed_number(node.argument(arg::eps)), none()}));
  PETREL_ASSIGN_OR_RETURN(scale, b.cast(scale, ScalarType::kDouble));
  PETREL_ASSIGN_OR_RETURN(scale, b.view(scale, {1}));
  const bool has_sign = node.argument(arg::dtype).as_scalar_type() != ScalarType::kByte;
  PETREL_ASSIGN_OR_RETURN(Value * zero_point,
                          b.call(aten::full, {Ints{1}, has_sign ? 0 : 128, ScalarType::kLong}));
  PETREL_RETURN_IF_ERROR(b.replace(node, {scale, zero_point}));
  return true;
}

// For each row, with sums of halves in floats, as PyTorch does.
Rewritten choose_around_zero_for_rows(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  PETREL_ASSIGN_OR_RETURN(Value * scale, b.call(aten::abs, {x}));
  PETREL_ASSIGN_OR_RETURN(scale, b.call(aten::amax, {scale, Ints{-1}, true}));
  if (scale->tensor().dtype == ScalarType::kHalf) {
    PETREL_ASSIGN_OR_RETURN(scale, b.cast(scale, ScalarType::kFloat));
  }
  PETREL_ASSIGN_OR_RETURN(scale, b.call(aten::clamp, {scale, 1e-5, none()}));
  PETREL_ASSIGN_OR_RETURN(scale, b.call(aten::div_Scalar, {scale, INT8_MAX}));
  PETREL_ASSIGN_OR_RETURN(scale, b.cast(scale, ScalarType::kDouble));
  PETREL_ASSIGN_OR_RETURN(Value * zero_point,
                          b.call(aten::full, {sizes_of(scale), 0, ScalarType::kLong}));
  PETREL_RETURN_IF_ERROR(b.replace(node, {scale, zero_point}));
  return true;
}

// Zero points are added before numbers are rounded, which is elsewhere for two levels equally near.
Rewritten quantize_groups(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  const ScalarType dtype = node.result()->tensor().dtype;
  const Bounds bounds = bounds_of(node, dtype);
  const Size size = fixed_int(node.argument(arg::group_size));
  const Size groups = numel_of(x) / size;
  PETREL_ASSIGN_OR_RETURN(Value * y, b.view(x, {groups, size}));
  PETREL_ASSIGN_OR_RETURN(Value * scale, b.view(node.input(arg::scales), {groups, 1}));
  PETREL_ASSIGN_OR_RETURN(scale, b.call(aten::reciprocal, {scale}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, y, scale));
  Value* zero_point = tensor_at(node, arg::zero_points);
  if (!is_zero(zero_point)) {
    PETREL_ASSIGN_OR_RETURN(zero_point, b.view(zero_point, {groups, 1}));
    PETREL_ASSIGN_OR_RETURN(zero_point, b.cast(zero_point, y->tensor().dtype));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, zero_point));
  }
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::round, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::clamp, {y, bounds.low, bounds.high}));
  PETREL_ASSIGN_OR_RETURN(y, b.cast(y, dtype));
  return done(b, node, b.view(y, sizes_of(x)));
}

Rewritten dequantize_groups(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  Value* zero_points = tensor_at(node, arg::zero_points);
  const Size size = fixed_int(node.argument(arg::group_size));
  const Size groups = numel_of(x) / size;
  PETREL_ASSIGN_OR_RETURN(Value * y, b.view(x, {groups, size}));
  PETREL_ASSIGN_OR_RETURN(Value * scales, b.view(node.input(arg::scales), {groups}));
  if (zero_points != nullptr) {
    PETREL_ASSIGN_OR_RETURN(zero_points, b.view(zero_points, {groups}));
  }
  PETREL_ASSIGN_OR_RETURN(
      y, b.call(quantized_decomposed::dequantize_per_channel,
                {y, scales, zero_points == nullptr ? Arg(none()) : Arg(zero_points), 0,
                 node.argument(arg::quant_min), node.argument(arg::quant_max),
                 node.argument(arg::dtype), node.argument(arg::output_dtype)}));
  return done(b, node, b.view(y, sizes_of(x)));
}

// Products of bytes are exact in 32 bits.
Rewritten int_mm(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(node.input(arg::self), ScalarType::kInt));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.cast(node.input(arg::mat2), ScalarType::kInt));
  return done(b, node, b.binary(aten::mm, x, y));
}

constexpr Rewrite kRows[] = {
    {torchao::choose_qparams_affine, choose},
    {torchao::quantize_affine, quantize},
    {torchao::dequantize_affine, dequantize},
    {quantized_decomposed::choose_qparams_symmetric_tensor, choose_around_zero},
    {quantized_decomposed::choose_qparams_per_token, choose_around_zero_for_rows},
    {quantized_decomposed::quantize_per_channel_group, quantize_groups},
    {quantized_decomposed::dequantize_per_channel_group, dequantize_groups},
    {aten::_int_mm, int_mm},
};

}  // namespace

Rewrites quantized_decompositions() { return kRows; }

}  // namespace petrel::exir
