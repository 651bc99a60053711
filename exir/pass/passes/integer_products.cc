// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/integer_products.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "exir/ops/table.h"
#include "exir/pass/framework/builder.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// The node that makes `value`, if it is of that operator.
const Node* made_by(const Value* value, OpHandle op) {
  const Node* node = value == nullptr ? nullptr : value->producer();
  return node != nullptr && node->is(op) ? node : nullptr;
}

// What is cast to `dtype`; null where nothing is.
Value* cast_to(const Value* value, ScalarType dtype) {
  const Node* cast = made_by(value, aten::_to_copy);
  return cast != nullptr && value->tensor().dtype == dtype ? cast->input(arg::self) : nullptr;
}

// What was rounded to bfloat16 or half for the next node; the value itself where nothing was.
const Value* before_rounding(const Value* value) {
  const ScalarType type = value->tensor().dtype;
  const bool is_narrow = type == ScalarType::kBFloat16 || type == ScalarType::kHalf;
  const Value* wide = is_narrow ? cast_to(value, type) : nullptr;
  return wide != nullptr && wide->tensor().dtype == ScalarType::kFloat ? wide : value;
}

Value* behind_view(Value* value) {
  const Node* view = made_by(value, aten::view);
  return view == nullptr ? value : view->input(arg::self);
}

bool is_number(const Node& node, ArgHandle name, int64_t number) {
  return node.argument(name) == Argument(number);
}

// x - y.
bool subtracts(const Node* node) { return node != nullptr && is_number(*node, arg::alpha, 1); }

struct IntegerProduct {
  const Node* quantize;
  Value* weight;            // i8[N,K]
  bool is_rounded = false;  // to bfloat16 or half, before the scales of columns
};

bool sums_columns(const Value* value, const Value* matrix) {
  const Node* sum = made_by(value, aten::sum_dim_IntList);
  return sum != nullptr && sum->input(arg::self) == matrix &&
         sum->argument(arg::dim) == Argument(Ints{0}) && sum->argument(arg::keepdim).as_bool();
}

// Of u8 levels `of_bytes` the i8 levels 128 below; null for others.
Value* signed_levels(const Value* of_bytes) {
  const Node* add = made_by(cast_to(of_bytes, ScalarType::kByte), aten::add_Scalar);
  if (add == nullptr || !is_number(*add, arg::other, 128) || !is_number(*add, arg::alpha, 1)) {
    return nullptr;
  }
  return cast_to(add->input(arg::self), ScalarType::kInt);
}

std::optional<IntegerProduct> product_of_integers(const Value* sums) {
  const Node* multiply = made_by(sums, aten::_int_mm);
  Value* levels = nullptr;
  if (multiply != nullptr) {
    levels = multiply->input(arg::self);
  } else {
    const Node* shift = made_by(sums, aten::sub_Tensor);
    if (!subtracts(shift)) return std::nullopt;
    multiply = made_by(shift->input(arg::self), aten::_int_mm);
    const Node* share = made_by(shift->input(arg::other), aten::mul_Scalar);
    if (multiply == nullptr || share == nullptr || !is_number(*share, arg::other, 128) ||
        !sums_columns(share->input(arg::self), multiply->input(arg::mat2))) {
      return std::nullopt;
    }
    levels = signed_levels(multiply->input(arg::self));
  }
  const Node* permute = made_by(multiply->input(arg::mat2), aten::permute);
  if (levels == nullptr || permute == nullptr) return std::nullopt;
  const Node* quantize = made_by(behind_view(levels), torchao::quantize_affine);
  Value* weight = permute->input(arg::self);
  const bool is_known = quantize != nullptr && weight->tensor().dtype == ScalarType::kChar &&
                        quantize->result()->tensor().dtype == ScalarType::kChar &&
                        permute->argument(arg::dims) == Argument(Ints{1, 0});
  if (!is_known) return std::nullopt;
  return IntegerProduct{quantize, weight, false};
}

// Whether `value` is `number`, as another view.
bool is_view_of(Value* value, const Value* number) {
  return value == number || (made_by(value, aten::view) != nullptr && behind_view(value) == number);
}

// zero point * scale * (sum of each row of the weight)
bool is_share_of_zero_points(const Value* value, const IntegerProduct& product) {
  const Node* share = made_by(before_rounding(value), aten::mul_Tensor);
  const Node* zero =
      share == nullptr ? nullptr : made_by(share->input(arg::self), aten::mul_Tensor);
  if (zero == nullptr) return false;
  Value* zero_point = cast_to(zero->input(arg::self), ScalarType::kFloat);
  const Node* sum =
      made_by(cast_to(share->input(arg::other), ScalarType::kFloat), aten::sum_dim_IntList);
  return zero_point != nullptr && sum != nullptr &&
         is_view_of(zero_point, product.quantize->input(arg::zero_point)) &&
         is_view_of(zero->input(arg::other), product.quantize->input(arg::scale)) &&
         sum->input(arg::self) == product.weight &&
         (sum->argument(arg::dim) == Argument(Ints{-1}) ||
          sum->argument(arg::dim) == Argument(Ints{1}));
}

bool is_symmetric(const Node& quantize) {
  const Node* chooser = made_by(quantize.input(arg::scale), torchao::choose_qparams_affine);
  return chooser != nullptr && quantize.input(arg::zero_point) == chooser->result(1) &&
         chooser->argument(arg::mapping_type).as_string() != "ASYMMETRIC" &&
         is_number(*chooser, arg::quant_min, INT8_MIN) &&
         is_number(*chooser, arg::quant_max, INT8_MAX);
}

// `value` is the product with the scales of rows, and without what zero points add.
std::optional<IntegerProduct> product_of_rows(const Value* value) {
  const Node* difference = made_by(value, aten::sub_Tensor);
  const Value* scaled = subtracts(difference) ? difference->input(arg::self) : value;
  const Node* scale = made_by(before_rounding(scaled), aten::mul_Tensor);
  if (scale == nullptr) return std::nullopt;
  const Value* sums = cast_to(scale->input(arg::self), ScalarType::kFloat);
  auto product = sums == nullptr ? std::nullopt : product_of_integers(sums);
  if (!product || tensor_at(*product->quantize, arg::zero_point) == nullptr ||
      !is_view_of(scale->input(arg::other), product->quantize->input(arg::scale))) {
    return std::nullopt;
  }
  const bool is_whole = difference == nullptr
                            ? is_symmetric(*product->quantize)
                            : is_share_of_zero_points(difference->input(arg::other), *product);
  if (!is_whole) return std::nullopt;
  product->is_rounded = before_rounding(scaled) != scaled;
  return product;
}

bool has_one_element(const Value* value) {
  const rules::Sizes sizes = sizes_of(value);
  return is_always(sizes, rules::Sizes(sizes.size(), 1));
}

// What lies in `scale`: one number for each of `outputs` along the last dim, or one for all. Null
// for others.
Value* scales_of_outputs(Value* scale, const rules::Size& outputs) {
  Value* const whole = behind_view(scale);
  const rules::Sizes sizes = sizes_of(scale);
  rules::Sizes by_output(sizes.size(), 1);
  if (!by_output.empty()) by_output.back() = outputs;
  return has_one_element(whole) || is_always(sizes, by_output) ? whole : nullptr;
}

// Floats of i8[N,K] by what scales_of_outputs() gave.
absl::StatusOr<Value*> dequantised(Builder& b, Value* weight, Value* scales) {
  const rules::Sizes sizes = sizes_of(weight);
  rules::Sizes count = {sizes[0], 1};
  rules::Sizes block = {1, sizes[1]};
  if (has_one_element(scales)) std::swap(count[0], block[0]);
  if (!is_always(sizes_of(scales), count)) {
    PETREL_ASSIGN_OR_RETURN(scales, b.view(scales, count));
  }
  return b.call(torchao::dequantize_affine, {weight, block, scales, none(), ScalarType::kChar,
                                             INT8_MIN, INT8_MAX, ScalarType::kFloat});
}

absl::StatusOr<bool> linear(Builder& b, Node& node, bool with_rounded) {
  Value* scale = tensor_at(node, arg::other);
  const auto product =
      scale == nullptr ? std::nullopt : product_of_rows(tensor_at(node, arg::self));
  if (!product || (product->is_rounded && !with_rounded)) return false;
  Value* const scales = scales_of_outputs(scale, sizes_of(product->weight)[0]);
  if (scales == nullptr) return false;
  const Node& quantize = *product->quantize;
  PETREL_ASSIGN_OR_RETURN(Value * x,
                          b.call(torchao::dequantize_affine,
                                 {quantize.result(), quantize.argument(arg::block_size),
                                  quantize.argument(arg::scale), quantize.argument(arg::zero_point),
                                  ScalarType::kChar, quantize.argument(arg::quant_min),
                                  quantize.argument(arg::quant_max), ScalarType::kFloat}));
  PETREL_ASSIGN_OR_RETURN(Value * weight, dequantised(b, product->weight, scales));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::linear, {x, weight}));
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, sizes_of(node.result())));
  return done(b, node, b.cast(y, node.result()->tensor().dtype));
}

absl::StatusOr<bool> linear_of_exact(Builder& b, Node& node) { return linear(b, node, false); }
absl::StatusOr<bool> linear_of_any(Builder& b, Node& node) { return linear(b, node, true); }

// A product of floats by levels of i8 that were cast to floats.
struct StoredProduct {
  Value* x;
  Value* weight;  // i8[N,K]
};

// The constant of i8 that `value` casts, perhaps after `value` was turned.
Value* levels_cast_in(const Value* value, bool is_turned) {
  Value* levels = cast_to(value, value->tensor().dtype);
  if (is_turned) {
    const Node* permute = made_by(levels, aten::permute);
    const bool swaps = permute != nullptr && permute->argument(arg::dims) == Argument(Ints{1, 0});
    levels = swaps ? permute->input(arg::self) : nullptr;
  }
  const bool is_stored = levels != nullptr && levels->is_constant() &&
                         levels->tensor().dtype == ScalarType::kChar &&
                         levels->tensor().rank() == 2;
  return is_stored ? levels : nullptr;
}

std::optional<StoredProduct> product_of_stored(const Value* value) {
  if (value == nullptr || !value->has_single_user()) return std::nullopt;
  StoredProduct product{};
  if (const Node* mm = made_by(value, aten::mm); mm != nullptr) {
    product = {mm->input(arg::self), levels_cast_in(mm->input(arg::mat2), true)};
  } else if (const Node* linear = made_by(value, aten::linear);
             linear != nullptr && linear->argument(arg::bias).is_none()) {
    product = {linear->input(arg::input), levels_cast_in(linear->input(arg::weight), false)};
  }
  return product.weight == nullptr ? std::nullopt : std::make_optional(product);
}

absl::StatusOr<bool> linear_of_stored(Builder& b, Node& node) {
  Value* const self = tensor_at(node, arg::self);
  Value* const other = tensor_at(node, arg::other);
  for (const auto& [y, scale] : {std::pair(self, other), std::pair(other, self)}) {
    const auto product = scale == nullptr ? std::nullopt : product_of_stored(y);
    if (!product || y->tensor().dtype != node.result()->tensor().dtype) continue;
    Value* scales = scales_of_outputs(scale, sizes_of(product->weight)[0]);
    if (scales == nullptr) continue;
    // Networks of bfloat16 and half round them for the product.
    if (Value* const wide = cast_to(scales, scales->tensor().dtype); wide != nullptr) scales = wide;
    if (!scales->is_constant() || !is_floating_point(scales->tensor().dtype)) continue;
    PETREL_ASSIGN_OR_RETURN(Value * weight, dequantised(b, product->weight, scales));
    PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(product->x, ScalarType::kFloat));
    PETREL_ASSIGN_OR_RETURN(Value * made, b.call(aten::linear, {x, weight}));
    PETREL_ASSIGN_OR_RETURN(made, b.view(made, sizes_of(node.result())));
    return done(b, node, b.cast(made, node.result()->tensor().dtype));
  }
  return false;
}

constexpr Rewrite kExactRows[] = {{aten::mul_Tensor, linear_of_exact}};
constexpr Rewrite kAllRows[] = {{aten::mul_Tensor, linear_of_any}};
constexpr Rewrite kStoredRows[] = {{aten::mul_Tensor, linear_of_stored}};
constexpr Rewrites kExact[] = {Rewrites(kExactRows)};
constexpr Rewrites kAll[] = {Rewrites(kAllRows)};
constexpr Rewrites kStored[] = {Rewrites(kStoredRows)};

}  // namespace

absl::StatusOr<bool> integer_products(Graph& graph, const PassContext& context) {
  // Kernels round as the program says.
  const bool has_backend = context.keep_whole && context.keep_whole(op(aten::linear));
  bool changed = false;
  if (graph.any_operator([](const OpInfo& op) { return op.is(aten::_int_mm); })) {
    PETREL_ASSIGN_OR_RETURN(changed, apply_rewrites(graph, has_backend ? kAll : kExact));
  }
  if (!has_backend) return changed;
  PETREL_ASSIGN_OR_RETURN(const bool has_stored, apply_rewrites(graph, kStored));
  return changed || has_stored;
}

}  // namespace petrel::exir
