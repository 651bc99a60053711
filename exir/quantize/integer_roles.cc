// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/integer_roles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/quantize/scheme.h"

namespace petrel::exir {
namespace {

bool is_mutable(const Value& value) {
  return value.is_constant() && value.constant()->is_mutable();
}

bool is_fixed(const Value& value) { return value.is_constant() && !value.constant()->is_mutable(); }

bool is_number(const Node& node, ArgHandle name, double value) {
  const Argument& argument = node.argument(name);
  return argument.is_number() && argument.as_number() == value;
}

// 0 is exact in levels of any scale.
bool pads_with_zeros(const Node& node) {
  if (!node.is(aten::constant_pad_nd) || !node.argument(arg::pad).is_ints()) return false;
  const std::vector<int64_t>& pad = node.argument(arg::pad).as_ints();
  return is_number(node, arg::value, 0) &&
         std::all_of(pad.begin(), pad.end(), [](int64_t amount) { return amount >= 0; });
}

bool moves_for_backends(const Node& node) {
  return pads_with_zeros(node) || picks_elements(node) ||
         node.is(aten::view, aten::permute, aten::transpose_int, aten::slice_Tensor,
                 aten::unsqueeze, aten::squeeze_dims, aten::max_pool2d);
}

bool computes_for_backends(const Node& node) {
  if (node.is(aten::elu)) {
    const Argument& alpha = node.argument(arg::alpha);
    return alpha.is_number() && std::isfinite(alpha.as_number()) && alpha.as_number() > 0 &&
           is_number(node, arg::scale, 1) && is_number(node, arg::input_scale, 1);
  }
  return is_clamp(node) || node.is(aten::mean_dim, aten::avg_pool2d, aten::adaptive_avg_pool2d,
                                   aten::sigmoid, aten::tanh, aten::leaky_relu, aten::hardswish,
                                   aten::hardsigmoid, aten::gelu, aten::silu);
}

// A sum or product of two; a number may stand for one of them.
bool is_arithmetic(const Node& node) {
  const bool is_sum =
      node.is(aten::add_Tensor, aten::sub_Tensor, aten::add_Scalar, aten::sub_Scalar);
  if (is_sum && !is_number(node, arg::alpha, 1)) return false;
  if (node.is(aten::add_Scalar, aten::sub_Scalar, aten::mul_Scalar, aten::div_Scalar)) {
    const Argument& other = node.argument(arg::other);
    return other.is_number() && std::isfinite(other.as_number()) &&
           !(node.is(aten::div_Scalar) && other.as_number() == 0);
  }
  return is_sum || node.is(aten::mul_Tensor);
}

bool is_weighted_sum(const Node& node) {
  return node.is(aten::add_Tensor, aten::sub_Tensor) && node.argument(arg::alpha).is_number() &&
         std::isfinite(node.argument(arg::alpha).as_number());
}

// Of results beside the first, none is used.
bool gives_one(const Node& node) {
  for (size_t i = 1; i < node.num_results(); ++i) {
    if (node.result(i)->is_used()) return false;
  }
  return node.num_results() > 0;
}

bool averages(const Node& node) {
  return node.is(aten::mean_dim, aten::mean, aten::sum_dim_IntList, aten::sum, aten::avg_pool2d,
                 aten::_adaptive_avg_pool2d, aten::adaptive_avg_pool2d);
}

// Whether levels of its own can stand for a constant.
bool can_be_stored(const Value& constant) {
  return is_fixed(constant) && constant.tensor().is_contiguous() && constant.tensor().numel() > 0 &&
         range_of(*constant.constant()).ok();
}

// nullopt where the value is no constant of one element.
std::optional<double> constant_number(const Value& value) {
  if (!is_fixed(value) || value.tensor().numel() != 1) return std::nullopt;
  const absl::StatusOr<std::vector<double>> numbers = decode_constant(*value.constant());
  return numbers.ok() ? std::optional((*numbers)[0]) : std::nullopt;
}

}  // namespace

bool is_constant_number(const Value& value, double number) {
  return constant_number(value) == number;
}

bool shuts_out(const Value& value) {
  const std::optional<double> number = constant_number(value);
  return number && *number <= kShutOut;
}

bool masks_softmax(const Node& node) {
  if (!node.is(aten::where_self) || !node.result()->has_single_user() ||
      !node.result()->users()[0]->is(aten::_softmax)) {
    return false;
  }
  return shuts_out(*node.input(arg::other)) != shuts_out(*node.input(arg::self));
}

bool is_float_tensor(const Value& value) {
  return value.type().is_tensor() && value.tensor().dtype == ScalarType::kFloat;
}

bool is_clamp(const Node& node) {
  return node.is(aten::relu, aten::hardtanh, aten::relu6, aten::clamp);
}

bool read_clamp(const Node& node, double* least, double* most) {
  *most = std::numeric_limits<double>::infinity();
  *least = -*most;
  if (!is_clamp(node)) return false;
  if (node.is(aten::relu, aten::relu6)) {
    *least = 0;
    if (node.is(aten::relu6)) *most = 6;
    return true;
  }
  const Argument& min = node.argument(arg::min, arg::min_val);
  const Argument& max = node.argument(arg::max, arg::max_val);
  for (const auto& [end, number] : {std::pair(&min, least), std::pair(&max, most)}) {
    if (end->is_none()) continue;
    if (!end->is_number() || std::isnan(end->as_number())) return false;
    *number = end->as_number();
  }
  // Of ends the wrong way round, all becomes the second.
  *least = std::min(*least, *most);
  return true;
}

bool is_scaling(const Node& node) {
  if (!node.is(aten::mul_Scalar, aten::div_Scalar)) return false;
  const Argument& other = node.argument(arg::other);
  if (!other.is_number()) return false;
  const double factor = node.is(aten::mul_Scalar) ? other.as_number() : 1 / other.as_number();
  return factor > 0 && std::isfinite(factor);
}

bool is_table(const Node& node) {
  if (!node.op().has(kElementwise) || node.op().has(kView) || !node.is_pure() ||
      node.num_results() != 1) {
    return false;
  }
  const Value* source = nullptr;
  for (const Argument& argument : node.arguments()) {
    if (argument.is_list()) return false;
    if (!argument.is_value()) continue;
    const Value* const operand = argument.value();
    if (!is_float_tensor(*operand)) return false;
    if (is_fixed(*operand)) {
      if (operand->tensor().numel() != 1) return false;
      continue;
    }
    if (source != nullptr && source != operand) return false;
    source = operand;
  }
  return source != nullptr && source->tensor().all_sizes() == node.result()->tensor().all_sizes();
}

bool moves_levels(const Node& node) {
  if (node.num_results() != 1 || !node.result()->type().is_tensor()) return false;
  if (node.op().has(kView)) return !node.is(aten::view_dtype);
  if (node.is(aten::constant_pad_nd)) return node.argument(arg::value).is_number();
  return picks_elements(node) ||
         node.is(aten::clone, aten::embedding, aten::max_pool2d, aten::amax, aten::amin,
                 aten::reflection_pad1d, aten::reflection_pad2d, aten::replication_pad1d,
                 aten::replication_pad2d, aten::replication_pad3d, aten::upsample_nearest2d_vec,
                 aten::pixel_shuffle, aten::pixel_unshuffle);
}

bool picks_elements(const Node& node) {
  return node.is(aten::roll, aten::flip, aten::repeat, aten::index_select, aten::index_Tensor,
                 aten::gather);
}

bool joins_levels(const Node& node) {
  if (node.is(aten::index_put)) return node.argument(arg::accumulate) == Argument(false);
  return node.is(aten::cat, aten::maximum, aten::minimum, aten::where_self, aten::slice_scatter,
                 aten::select_scatter, aten::scatter_src);
}

bool chooses_among_levels(const Node& node) {
  if (node.is(aten::topk)) return !node.result(0)->is_used();
  return node.is(aten::gt_Scalar, aten::ge_Scalar, aten::lt_Scalar, aten::le_Scalar, aten::argmax,
                 aten::argmin);
}

IntegerRole role_of(const Node& node, QuantTarget target) {
  if (product_weight(node) != nullptr) return IntegerRole::kProduct;
  if (target != QuantTarget::kIntegers) {
    if (moves_for_backends(node) || node.is(aten::cat)) return IntegerRole::kMove;
    if (is_arithmetic(node)) return IntegerRole::kJoin;
    return computes_for_backends(node) ? IntegerRole::kOne : IntegerRole::kFloat;
  }
  if (is_table(node) || masks_softmax(node)) return IntegerRole::kOne;
  if (moves_levels(node) || joins_levels(node)) return IntegerRole::kMove;
  if (node.is(aten::mm, aten::bmm, aten::mul_Tensor) || is_weighted_sum(node)) {
    return IntegerRole::kJoin;
  }
  const bool is_form =
      averages(node) || node.is(aten::_softmax, aten::native_layer_norm, aten::native_group_norm);
  return is_form && gives_one(node) ? IntegerRole::kOne : IntegerRole::kFloat;
}

std::vector<Value*> level_inputs(const Node& node, QuantTarget target) {
  if (product_weight(node) != nullptr) {
    return {node.is(aten::addmm) ? node.input(arg::mat1) : node.input(arg::input, arg::self)};
  }
  if (node.is(aten::native_layer_norm, aten::native_group_norm)) return {node.input(arg::input)};
  std::vector<Value*> inputs;
  for (Value* operand : node.operands()) {
    const bool has_others = target == QuantTarget::kIntegers || picks_elements(node);
    const bool is_other = has_others && !is_float_tensor(*operand);
    // A number of a table has no levels.
    const bool is_number = target == QuantTarget::kIntegers && is_table(node) && is_fixed(*operand);
    const bool is_mask =
        target == QuantTarget::kIntegers && masks_softmax(node) && shuts_out(*operand);
    if (!is_other && !is_number && !is_mask) inputs.push_back(operand);
  }
  return inputs;
}

bool fits_integers(const Node& node, QuantTarget target) {
  if (!gives_one(node) || !is_float_tensor(*node.result())) return false;
  if (target != QuantTarget::kIntegers && node.num_results() != 1) return false;
  bool computes = false;
  for (const Value* input : level_inputs(node, target)) {
    if (!is_float_tensor(*input)) return false;
    if (target == QuantTarget::kIntegers && is_mutable(*input)) {
      computes = true;
    } else if (!input->is_constant()) {
      computes = true;
    } else {
      const bool takes_constants = target == QuantTarget::kIntegers || is_arithmetic(node);
      if (!takes_constants || !can_be_stored(*input)) return false;
      computes = computes || node.is(aten::embedding);
    }
  }
  return computes;
}

Value* product_weight(const Node& node) {
  if (!node.is(aten::convolution, aten::linear, aten::mm, aten::addmm)) return nullptr;
  Value* weight =
      node.is(aten::convolution, aten::linear) ? node.input(arg::weight) : node.input(arg::mat2);
  // A linear layer may have a vector: one output, without a dim of its own.
  const bool is_weight = is_fixed(*weight) && is_float_tensor(*weight) &&
                         weight->tensor().is_contiguous() && weight->tensor().numel() > 0 &&
                         weight->tensor().rank() >= 2;
  if (!is_weight) return nullptr;
  if (node.is(aten::convolution)) {
    const Argument& transposed = node.argument(arg::transposed);
    const Argument& groups = node.argument(arg::groups);
    if (!transposed.is_bool() || !groups.is_int()) return nullptr;
    // Of transposed groups the channels lie in two dimensions.
    if (transposed.as_bool() && groups.as_int() != 1) return nullptr;
    if (weight->tensor().rank() > 4) return nullptr;
  }
  if (node.is(aten::addmm)) {
    for (const ArgHandle factor : {arg::alpha, arg::beta}) {
      const Argument& value = node.argument(factor);
      if (!value.is_number() || value.as_number() != 1) return nullptr;
    }
  }
  return weight;
}

size_t weight_axis(const Node& product) {
  if (product.is(aten::mm, aten::addmm)) return 1;
  return product.is(aten::convolution) && product.argument(arg::transposed).as_bool() ? 1 : 0;
}

}  // namespace petrel::exir
