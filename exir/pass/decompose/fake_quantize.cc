// SPDX-License-Identifier: Apache-2.0
//
// Rounding to levels becomes quantising and dequantising, which backends take with the
// operators around them as integers:
//
//   before   %y = aten.fake_quantize_per_tensor_affine(%x, 0.05, 10, 0, 255)
//   after    %q = quantized_decomposed.quantize_per_tensor(%x, 0.05, 10, 0, 255, u8)
//            %y = quantized_decomposed.dequantize_per_tensor(%q, 0.05, 10, 0, 255, u8)
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/pass/decompose/decompose.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/constant_facts.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

template <typename Level>
bool holds_levels(int64_t low, int64_t high) {
  return low >= std::numeric_limits<Level>::min() && high <= std::numeric_limits<Level>::max();
}

// The smallest type of all levels.
ScalarType type_of_levels(int64_t low, int64_t high) {
  if (holds_levels<int8_t>(low, high)) return ScalarType::kChar;
  if (holds_levels<uint8_t>(low, high)) return ScalarType::kByte;
  if (holds_levels<int16_t>(low, high)) return ScalarType::kShort;
  return ScalarType::kInt;
}

// What a tensor of one element holds; nullopt where the program may change it.
std::optional<double> known_number(const Argument& argument) {
  if (argument.is_number()) return fixed_number(argument);
  const Value* value = tensor_in(argument);
  if (value == nullptr || !value->is_constant() || value->constant()->is_mutable()) {
    return std::nullopt;
  }
  const auto numbers = decode_constant(*value->constant());
  if (!numbers.ok() || numbers->size() != 1) return std::nullopt;
  return numbers->front();
}

// Puts `y` in the place of the node unless somebody asks which elements were within levels.
Rewritten finish(Builder& b, Node& node, Value* y) {
  if (node.num_results() == 1) return done(b, node, y);
  PETREL_RETURN_IF_ERROR(b.replace(node, {y, nullptr}));
  return true;
}

bool is_mask_used(const Node& node) { return node.num_results() > 1 && node.result(1)->is_used(); }

Rewritten per_tensor(Builder& b, Node& node) {
  if (is_mask_used(node)) return false;
  Value* x = tensor_at(node, arg::self);
  if (const Argument* enabled = find_argument(node, arg::fake_quant_enabled)) {
    const auto is_on = known_number(*enabled);
    if (!is_on) return false;
    if (*is_on == 0) return finish(b, node, x);
  }
  const int64_t low = fixed_int(node.argument(arg::quant_min));
  const int64_t high = fixed_int(node.argument(arg::quant_max));
  const ScalarType levels = type_of_levels(low, high);
  const ScalarType dtype = x->tensor().dtype;
  const auto scale = known_number(node.argument(arg::scale));
  const auto zero_point = known_number(node.argument(arg::zero_point));
  if (zero_point &&
      !(*zero_point >= static_cast<double>(low) && *zero_point <= static_cast<double>(high))) {
    return absl::InvalidArgumentError(absl::StrCat(node.describe(), ": zero point is ", *zero_point,
                                                   ", must be within [", low, ", ", high, "]"));
  }
  if (scale && zero_point) {
    // torch rounds a scale to f32 before it divides by it, which decides what lies halfway.
    const auto by = static_cast<double>(static_cast<float>(*scale));
    const auto zero = static_cast<int64_t>(*zero_point);
    PETREL_ASSIGN_OR_RETURN(Value * y, b.call(quantized_decomposed::quantize_per_tensor,
                                              {x, by, zero, low, high, levels}));
    PETREL_ASSIGN_OR_RETURN(y, b.call(quantized_decomposed::dequantize_per_tensor,
                                      {y, by, zero, low, high, levels, dtype}));
    return finish(b, node, y);
  }
  PETREL_ASSIGN_OR_RETURN(Value * by, b.cast(tensor_at(node, arg::scale), ScalarType::kDouble));
  PETREL_ASSIGN_OR_RETURN(Value * zero,
                          b.cast(tensor_at(node, arg::zero_point), ScalarType::kLong));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(quantized_decomposed::quantize_per_tensor_tensor,
                                            {x, by, zero, low, high, levels}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(quantized_decomposed::dequantize_per_tensor_tensor,
                                    {y, by, zero, low, high, levels, dtype}));
  return finish(b, node, y);
}

Rewritten per_channel(Builder& b, Node& node) {
  if (is_mask_used(node)) return false;
  Value* x = tensor_at(node, arg::self, arg::input);
  const Argument& axis = node.argument(arg::axis);
  const int64_t low = fixed_int(node.argument(arg::quant_min));
  const int64_t high = fixed_int(node.argument(arg::quant_max));
  const ScalarType levels = type_of_levels(low, high);
  Value* scales = tensor_at(node, arg::scale, arg::scales);
  Value* given = tensor_at(node, arg::zero_point, arg::zero_points);
  // Backends want weights without zero points.
  const bool are_zero = given->is_constant() && is_zero(given->constant());
  PETREL_ASSIGN_OR_RETURN(Value * zeros, b.cast(given, ScalarType::kLong));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(quantized_decomposed::quantize_per_channel,
                                            {x, scales, zeros, axis, low, high, levels}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(quantized_decomposed::dequantize_per_channel,
                                    {y, scales, are_zero ? Arg(none()) : Arg(zeros), axis, low,
                                     high, levels, x->tensor().dtype}));
  return finish(b, node, y);
}

constexpr Rewrite kRows[] = {
    {aten::fake_quantize_per_tensor_affine, per_tensor},
    {aten::fake_quantize_per_tensor_affine_tensor_qparams, per_tensor},
    {aten::fake_quantize_per_tensor_affine_cachemask, per_tensor},
    {aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams, per_tensor},
    {aten::fake_quantize_per_channel_affine, per_channel},
    {aten::fake_quantize_per_channel_affine_cachemask, per_channel},
    {quantized_decomposed::fake_quant_per_channel, per_channel},
};

}  // namespace

Rewrites fake_quantize_decompositions() { return kRows; }

}  // namespace petrel::exir
