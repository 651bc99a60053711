// SPDX-License-Identifier: Apache-2.0
//
// Rows less their mean, over the root of their variance. With n levels q of a row, their sum S
// and their squares' sum Q, d = n * q - S and V = n * Q - S * S:
//
//   (x - mean) / sqrt(variance + eps)  =  d / sqrt(V + eps * n^2 / scale^2)
//
// The root is taken of 2^(2 * spread) times that, so that it has bits enough where V is small.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/integer/forms.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr int64_t kMostSize = 1 << 20;
constexpr int32_t kMostSpread = 15;
constexpr int32_t kMostNormShift = 30;
// Of weights and biases; one for the sign.
constexpr int32_t kNumberBits = 30;
// A variance of levels is at most 2^14.
constexpr int32_t kVarianceBits = 14;
constexpr int32_t kSumBits = 61;

// One number for each channel; `otherwise` where there is none.
absl::StatusOr<std::vector<double>> channels_at(const Node& node, ArgHandle name, size_t count,
                                                double otherwise) {
  const Value* value = tensor_at(node, name);
  if (value == nullptr) return std::vector<double>(count, otherwise);
  // Quantisers of other devices than CPUs make levels of these as well.
  const auto stored = operand_of(node.argument(name), name.text);
  if (stored.ok()) value = stored->value;
  if (!value->is_constant() || value->constant()->is_mutable()) {
    return cannot(absl::StrCat("its ", name.text, " is computed at run time"));
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<double> numbers, decode_constant(*value->constant()));
  for (double& number : numbers) {
    if (stored.ok()) {
      number = (number - static_cast<double>(stored->levels.zero_point)) * stored->levels.scale;
    }
  }
  for (const double number : numbers) {
    if (!std::isfinite(number)) return cannot(absl::StrCat("its ", name.text, " is not finite"));
  }
  return numbers;
}

// Binary places before the point of the largest.
int32_t whole_bits(const std::vector<double>& numbers, double factor) {
  double most = 0;
  for (const double number : numbers) most = std::max(most, std::fabs(number) * factor);
  int exponent = 0;
  std::frexp(most, &exponent);
  return most == 0 ? -kNumberBits : exponent;
}

absl::StatusOr<Value*> add_integers(Builder& b, const char* name,
                                    const std::vector<double>& numbers, double factor,
                                    int32_t shift) {
  std::vector<double> rounded;
  for (const double number : numbers) {
    rounded.push_back(std::nearbyint(std::ldexp(number * factor, shift)));
  }
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(rounded, ScalarType::kInt));
  return add_numbers(b, name, ScalarType::kInt, std::move(data), {});
}

// The largest that it can be.
int64_t most(const rules::Size& size) {
  int64_t most = 1;
  while (most < kMostSize && !is_at_most(size, most)) most *= 2;
  return size.expression().is_constant() ? int64_t{size} : most;
}

// eps * row^2 * 2^(2 spread) of levels: where rows vary, eps has as many bits as leave room.
absl::StatusOr<Argument> epsilon_of(Builder& b, const Node& node, const rules::Size& row,
                                    double eps, int32_t spread) {
  const auto size = static_cast<double>(most(row));
  const double largest = std::nearbyint(std::ldexp(eps * size * size, 2 * spread));
  if (!(largest >= 0 && largest <= std::ldexp(1.0, kSumBits))) {
    return cannot(absl::StrCat("its eps is ", eps, " squared levels, in rows of ", most(row)));
  }
  if (row.expression().is_constant()) return Argument(static_cast<int64_t>(largest));
  int room = 0;
  std::frexp(largest, &room);
  const int32_t places = std::min(kSumBits - 1 - room, kSumBits);
  const double each = std::nearbyint(std::ldexp(eps, 2 * spread + places));
  PETREL_ASSIGN_OR_RETURN(const Argument n, number_of(b, node.input(arg::input), row));
  PETREL_ASSIGN_OR_RETURN(Value * made, b.call(executorch_prim::mul_Scalar, {n, n}));
  PETREL_ASSIGN_OR_RETURN(made,
                          b.call(executorch_prim::mul_Scalar, {made, static_cast<int64_t>(each)}));
  PETREL_ASSIGN_OR_RETURN(made,
                          b.call(executorch_prim::floordiv_Scalar, {made, int64_t{1} << places}));
  return Argument(made);
}

// Rows of `row`, whose weights repeat in the order of elements.
absl::StatusOr<Value*> norm(Builder& b, const Node& node, const FormTarget& target,
                            const rules::Size& row, const rules::Size& repeat, size_t channels) {
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::input), "input"));
  if (!is_at_least(row, 1) || !is_at_most(row, kMostSize) || !is_at_most(repeat, kMostSize)) {
    return cannot(absl::StrCat("its rows have ", to_string(row.expression()),
                               " elements, must have 1 to ", kMostSize));
  }
  const int64_t size = most(row);
  PETREL_RETURN_IF_ERROR(check_table({static_cast<int64_t>(channels)}));
  PETREL_ASSIGN_OR_RETURN(const auto weights, channels_at(node, arg::weight, channels, 1));
  PETREL_ASSIGN_OR_RETURN(const auto biases, channels_at(node, arg::bias, channels, 0));
  if (weights.size() != channels || biases.size() != channels) {
    return cannot("it has other weights than channels");
  }
  const double inverse = target.levels.inverse;
  if (!node.argument(arg::eps).is_number()) return cannot("its eps is computed at run time");
  const double eps = node.argument(arg::eps).as_number() / x.levels.scale / x.levels.scale;
  int32_t spread = std::min((kSumBits - kVarianceBits - 2 * bits_of(size)) / 2, kMostSpread);
  // A large eps has bits enough by itself.
  int eps_bits = 0;
  std::frexp(eps, &eps_bits);
  spread = std::min(spread, std::max(0, (kSumBits - eps_bits - 2 * bits_of(size)) / 2));
  spread = std::min(spread, kNumberBits - whole_bits(weights, inverse));
  if (spread < 0) return cannot("its weight is too large for the scale of its result");
  const int32_t shift = std::min({kNumberBits - whole_bits(weights, inverse) - spread,
                                  kNumberBits - whole_bits(biases, inverse), kMostNormShift});
  if (shift < 0) return cannot("its bias is too large for the scale of its result");
  PETREL_ASSIGN_OR_RETURN(const Argument epsilon, epsilon_of(b, node, row, eps, spread));
  PETREL_ASSIGN_OR_RETURN(const Argument of_row, number_of(b, node.input(arg::input), row));
  PETREL_ASSIGN_OR_RETURN(const Argument of_one, number_of(b, node.input(arg::input), repeat));
  PETREL_ASSIGN_OR_RETURN(Value * weight,
                          add_integers(b, "int8_weight", weights, inverse, spread + shift));
  PETREL_ASSIGN_OR_RETURN(Value * bias, add_integers(b, "int8_bias", biases, inverse, shift));
  return with_target(b, petrel_ops::int8_norm,
                     {Argument(x.value), of_row, of_one, Argument(weight), Argument(bias), epsilon,
                      Argument(int64_t{spread}), Argument(int64_t{shift})},
                     target);
}

absl::StatusOr<Value*> layer_norm(Builder& b, const Node& node, const FormTarget& target) {
  const std::optional<Ints> shape = literal_ints_at(node, arg::normalized_shape, 1);
  if (!shape) return cannot("its sizes vary");
  int64_t size = 1;
  for (const int64_t one : *shape) size *= one;
  return norm(b, node, target, size, 1, static_cast<size_t>(size));
}

absl::StatusOr<Value*> group_norm(Builder& b, const Node& node, const FormTarget& target) {
  const rules::Sizes sizes = sizes_of(node.input(arg::input));
  if (sizes.size() < 2 || !sizes[1].expression().is_constant()) {
    return cannot("its channels vary");
  }
  const int64_t channels = sizes[1], groups = node.argument(arg::group).as_int();
  if (channels < 1 || groups < 1) return cannot("it has no elements");
  const rules::Size area = product(rules::Sizes(sizes.begin() + 2, sizes.end()));
  return norm(b, node, target, channels / groups * area, area, static_cast<size_t>(channels));
}

constexpr FormRow kRows[] = {
    {aten::native_layer_norm, layer_norm},
    {aten::native_group_norm, group_norm},
};

}  // namespace

absl::Span<const FormRow> norm_forms() { return kRows; }

}  // namespace petrel::exir
