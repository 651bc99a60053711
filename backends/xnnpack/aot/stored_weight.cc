// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/stored_weight.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/weight_blob.h"
#include "backends/xnnpack/format/quantization.h"
#include "exir/pass/framework/constant_data.h"

namespace petrel::backends::xnnpack::aot {
namespace {

namespace quantized = exir::quantized_decomposed;

bool is_fixed(const exir::Value* value) {
  return value->is_constant() && !value->constant()->is_mutable();
}

// The one for all elements; nullopt for several, and for what is no level.
std::optional<int32_t> zero_point_of(const exir::Argument& zero_points) {
  if (zero_points.is_none()) return 0;
  if (zero_points.is_int()) {
    const int64_t one = zero_points.as_int();
    return one >= INT8_MIN && one <= INT8_MAX ? std::make_optional(static_cast<int32_t>(one))
                                              : std::nullopt;
  }
  if (!zero_points.is_value() || !is_fixed(zero_points.value())) return std::nullopt;
  const auto numbers = exir::decode_constant(*zero_points.value()->constant());
  const bool are_zero = numbers.ok() && std::all_of(numbers->begin(), numbers->end(),
                                                    [](double n) { return n == 0; });
  return are_zero ? std::make_optional(0) : std::nullopt;
}

// Nullopt where XNNPACK would not take one of them.
std::optional<std::vector<float>> scales_of(const exir::Argument& argument) {
  std::vector<float> scales;
  if (!argument.is_value()) {
    const auto scale = number_argument(argument);
    if (!scale) return std::nullopt;
    scales = {static_cast<float>(*scale)};
  } else {
    if (!is_fixed(argument.value())) return std::nullopt;
    const auto numbers = exir::decode_constant(*argument.value()->constant());
    if (!numbers.ok()) return std::nullopt;
    for (const double number : *numbers) scales.push_back(static_cast<float>(number));
  }
  const bool are_usable = std::all_of(scales.begin(), scales.end(),
                                      [](float scale) { return check_scale(scale).ok(); });
  return are_usable ? std::make_optional(std::move(scales)) : std::nullopt;
}

bool has_4_bits(const exir::Node& node) {
  const auto low = number_argument(node.argument(arg::quant_min));
  const auto high = number_argument(node.argument(arg::quant_max));
  return low && high && *low >= -8 && *high <= 7;
}

// Along which axis, or in which groups, blocks of these sizes have scales of their own.
bool place_blocks(const std::vector<int64_t>& block, StoredWeight* weight) {
  const exir::Sizes& sizes = weight->constant->type.sizes;
  size_t axes = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    if (block[i] == sizes[i]) continue;
    ++axes;
    weight->axis = i;
    if (block[i] == 1) continue;
    if (i != 1 || block.size() != 2 || block[0] != 1 || sizes[1] % block[1] != 0) return false;
    weight->group_size = block[1];
  }
  if (weight->group_size != 0) weight->axis = 0;
  return axes <= 1 || weight->group_size != 0;
}

bool place(const exir::Node& node, StoredWeight* weight) {
  const exir::Sizes& sizes = weight->constant->type.sizes;
  if (node.is(quantized::dequantize_per_tensor)) return true;
  if (node.is(quantized::dequantize_per_channel)) {
    const auto axis = axis_argument(node.argument(arg::axis).as_int(), sizes.size());
    weight->axis = axis.value_or(0);
    return axis.has_value();
  }
  if (node.is(quantized::dequantize_per_channel_group)) {
    return sizes.size() == 2 && place_blocks({1, node.argument(arg::group_size).as_int()}, weight);
  }
  const auto block = ints_argument(node.argument(arg::block_size), sizes.size());
  return block && block->size() == sizes.size() && place_blocks(*block, weight);
}

bool has_all_scales(const StoredWeight& weight) {
  const exir::Sizes& sizes = weight.constant->type.sizes;
  const auto count = static_cast<int64_t>(weight.scales.size());
  if (weight.group_size != 0) return count == sizes[0] * (sizes[1] / weight.group_size);
  return count == 1 || count == sizes[weight.axis];
}

// All but zero points.
std::optional<StoredWeight> stored_levels(const exir::Value* value) {
  const exir::Node* node = value->producer();
  if (node == nullptr || value->tensor().dtype != exir::ScalarType::kFloat ||
      !node->is(quantized::dequantize_per_tensor, quantized::dequantize_per_channel,
                quantized::dequantize_per_channel_group, exir::torchao::dequantize_affine)) {
    return std::nullopt;
  }
  const exir::Value* stored = node->input(arg::input);
  const exir::Argument int8(exir::ScalarType::kChar);
  if (!is_fixed(stored) || stored->tensor().dtype != exir::ScalarType::kChar ||
      node->argument(arg::dtype, arg::input_dtype) != int8) {
    return std::nullopt;
  }
  StoredWeight found;
  found.constant = stored->constant();
  found.is_4_bit = has_4_bits(*node);
  const exir::Argument& scale = node->argument(arg::scale, arg::scales);
  auto scales = scales_of(scale);
  if (!scales || !place(*node, &found)) return std::nullopt;
  found.scales = *std::move(scales);
  if (scale.is_value()) found.scale_constant = scale.value()->constant();
  return has_all_scales(found) ? std::make_optional(std::move(found)) : std::nullopt;
}

const exir::Argument& zero_points_in(const exir::Value* value) {
  return value->producer()->argument(arg::zero_point, arg::zero_points);
}

}  // namespace

std::optional<StoredWeight> stored_constant(const exir::Value* value) {
  std::optional<StoredWeight> found = stored_levels(value);
  if (!found) return std::nullopt;
  const std::optional<int32_t> zero_point = zero_point_of(zero_points_in(value));
  if (!zero_point) return std::nullopt;
  found->zero_point = *zero_point;
  return found;
}

std::optional<StoredWeight> stored_with_zero_points(const exir::Value* weight) {
  std::optional<StoredWeight> found = stored_levels(weight);
  if (!found || found->scale_constant == nullptr) return std::nullopt;
  const exir::Argument& zero_points = zero_points_in(weight);
  if (!zero_points.is_value() || !is_fixed(zero_points.value())) return std::nullopt;
  const auto numbers = exir::decode_constant(*zero_points.value()->constant());
  if (!numbers.ok() || numbers->size() != found->scales.size()) return std::nullopt;
  found->zero_points.assign(numbers->begin(), numbers->end());
  found->zero_point_constant = zero_points.value()->constant();
  return found;
}

std::optional<StoredWeight> stored_weight(const exir::Value* weight) {
  std::optional<StoredWeight> found = stored_constant(weight);
  return found && found->zero_point == 0 ? std::move(found) : std::nullopt;
}

const exir::Value* weight_constant(const exir::Value* weight) {
  if (weight->is_constant()) return weight;
  return stored_weight(weight) ? weight->producer()->input(arg::input) : nullptr;
}

exir::ConstantPtr in_floats(const StoredWeight& weight) {
  const exir::Constant& stored = *weight.constant;
  const WeightView view = WeightView::of(stored);
  const exir::Blob::Bytes bytes = stored.data.bytes();
  std::vector<uint8_t> floats(bytes.size() * sizeof(float));
  const auto index = [&view](size_t i, size_t axis) {
    const auto stride = static_cast<size_t>(view.strides[axis]);
    return stride == 0 ? 0 : i / stride % static_cast<size_t>(view.sizes[axis]);
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    size_t scale = 0;
    if (weight.is_per_channel()) scale = index(i, weight.axis);
    if (weight.group_size != 0) {
      const auto group = static_cast<size_t>(weight.group_size);
      scale = index(i, 0) * (static_cast<size_t>(view.sizes[1]) / group) + index(i, 1) / group;
    }
    const int32_t level = static_cast<int8_t>(bytes.data()[i]);
    const float value = static_cast<float>(level - weight.zero_point) * weight.scales[scale];
    std::memcpy(floats.data() + i * sizeof(float), &value, sizeof(float));
  }
  auto constant = std::make_shared<exir::Constant>();
  constant->kind = exir::Constant::Kind::kLiteral;
  constant->fqn = stored.fqn + "@float";
  constant->type = stored.type;
  constant->type.dtype = exir::ScalarType::kFloat;
  constant->data = exir::Blob::owned(std::move(floats));
  return constant;
}

}  // namespace petrel::backends::xnnpack::aot
