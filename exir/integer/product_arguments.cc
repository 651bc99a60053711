// SPDX-License-Identifier: Apache-2.0
#include "exir/integer/product_arguments.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// A bias is rounded by half a step of a product, which is then at most one level.
constexpr double kMostRoundedFactor = 2;

absl::StatusOr<std::vector<double>> numbers_of(const Argument& argument, const char* what) {
  if (!argument.is_value() || !argument.value()->is_constant()) {
    return cannot(absl::StrCat("its ", what, " is computed at run time"));
  }
  return decode_constant(*argument.value()->constant());
}

bool is_zero(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == 0; });
}

absl::StatusOr<ProductWeight> channels_of(const Node& node, int64_t channel_axis) {
  const Argument& axis = node.argument(arg::axis);
  if (!axis.is_int() || axis.as_int() != channel_axis)
    return cannot("its weight has scales along another dim");
  if (const Argument& zero_points = node.argument(arg::zero_points); !zero_points.is_none()) {
    PETREL_ASSIGN_OR_RETURN(const auto numbers, numbers_of(zero_points, "weight's zero point"));
    if (!is_zero(numbers)) return cannot("its weight has zero points");
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<double> scales,
                          numbers_of(node.argument(arg::scales), "weight's scale"));
  return ProductWeight{node.input(arg::input), std::move(scales)};
}

// The numbers of each channel.
struct ChannelNumbers {
  std::vector<double> multipliers, shifts, bias;
};

// One channel: the largest sum that it may have is that of inputs as far from the zero point
// as they can be.
absl::Status add_channel(absl::Span<const double> weight, double step, double bias,
                         const FormOperand& x, const FormTarget& target, size_t channel,
                         ChannelNumbers* numbers) {
  double sum = 0;
  for (const double level : weight) sum += std::fabs(level);
  // Where no input counts, a bias may count in any step.
  if (sum == 0) step = target.levels.scale;
  const double factor = step * target.levels.inverse;
  const double rounded = std::nearbyint(bias / step);
  sum = sum * static_cast<double>(x.levels.reach()) + std::fabs(rounded);
  if (sum > kMostSum) {
    return cannot(absl::StrCat("channel ", channel, " may sum up to ", sum,
                               ", and its bias is a part of that: more than int32 holds"));
  }
  if (factor >= kMostRoundedFactor &&
      static_cast<float>(rounded * step) != static_cast<float>(bias)) {
    return cannot(absl::StrCat("its bias counts in steps of ", factor, " levels in channel ",
                               channel, ", must be less than ", kMostRoundedFactor));
  }
  PETREL_ASSIGN_OR_RETURN(const FixedPoint point, factor_of(factor));
  numbers->multipliers.push_back(point.multiplier);
  numbers->shifts.push_back(point.shift);
  numbers->bias.push_back(rounded);
  return absl::OkStatus();
}

absl::StatusOr<ChannelNumbers> channel_numbers(const ProductWeight& weight,
                                               const std::vector<double>& bias,
                                               const FormOperand& x, const FormTarget& target) {
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> levels,
                          decode_constant(*weight.levels->constant()));
  const auto channels = static_cast<size_t>(weight.levels->tensor().sizes[0]);
  const size_t each = channels == 0 ? 0 : levels.size() / channels;
  ChannelNumbers numbers;
  for (size_t c = 0; c < channels; ++c) {
    const double scale = weight.scales[weight.scales.size() == 1 ? 0 : c];
    if (!(scale > 0) || !std::isfinite(scale))
      return cannot("its weight has a scale that is not above 0");
    if (!bias.empty() && !std::isfinite(bias[c])) return cannot("its bias is not finite");
    PETREL_RETURN_IF_ERROR(add_channel(absl::MakeSpan(levels).subspan(c * each, each),
                                       scale * x.levels.scale, bias.empty() ? 0 : bias[c], x,
                                       target, c, &numbers));
  }
  return numbers;
}

absl::StatusOr<Value*> add_channels(Builder& b, const Value& weight, const char* suffix,
                                    const std::vector<double>& numbers, ScalarType dtype) {
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(numbers, dtype));
  return add_numbers(b, absl::StrCat(weight.constant()->fqn, suffix), dtype, std::move(data),
                     weight.constant()->sources());
}

}  // namespace

absl::StatusOr<ProductWeight> weight_of(const Argument& argument, int64_t channel_axis) {
  const Node* const node = argument.value()->producer();
  ProductWeight weight;
  if (node != nullptr && node->is(quantized_decomposed::dequantize_per_channel)) {
    PETREL_ASSIGN_OR_RETURN(weight, channels_of(*node, channel_axis));
  } else if (const Node* const one = dequantising(argument.value()); one != nullptr) {
    const Int8Levels levels = *levels_of(*one);
    if (levels.zero_point != 0) return cannot("its weight has a zero point");
    weight = {one->input(arg::input), {levels.scale}};
  } else {
    return cannot("its weight is not stored in 8 bits");
  }
  if (!weight.levels->is_constant()) return cannot("its weight is computed at run time");
  if (weight.levels->tensor().dtype != ScalarType::kChar) {
    return cannot(absl::StrCat("its weight is ",
                               std::string(scalar_type_name(weight.levels->tensor().dtype)),
                               ", must be i8"));
  }
  return weight;
}

absl::StatusOr<std::vector<double>> bias_of(const Argument& argument) {
  if (argument.is_none()) return std::vector<double>();
  const Node* const node = argument.value()->producer();
  if (node == nullptr) return numbers_of(argument, "bias");
  PETREL_ASSIGN_OR_RETURN(std::vector<double> levels, numbers_of(node->arguments()[0], "bias"));
  std::vector<double> scales, zero_points = {0};
  if (node->is(quantized_decomposed::dequantize_per_channel)) {
    PETREL_ASSIGN_OR_RETURN(scales, numbers_of(node->argument(arg::scales), "bias's scale"));
    if (!node->argument(arg::zero_points).is_none()) {
      PETREL_ASSIGN_OR_RETURN(zero_points,
                              numbers_of(node->argument(arg::zero_points), "bias's zero point"));
    }
  } else if (node->is(quantized_decomposed::dequantize_per_tensor) &&
             node->argument(arg::scale).is_number() && node->argument(arg::zero_point).is_int()) {
    scales = {node->argument(arg::scale).as_number()};
    zero_points = {node->argument(arg::zero_point).as_number()};
  } else {
    return cannot("its bias is computed at run time");
  }
  for (const std::vector<double>* each : {&scales, &zero_points}) {
    if (each->size() != 1 && each->size() != levels.size()) {
      return cannot("its bias has a scale or a zero point for other than each level");
    }
  }
  for (size_t i = 0; i < levels.size(); ++i) {
    levels[i] = (levels[i] - zero_points[zero_points.size() == 1 ? 0 : i]) *
                scales[scales.size() == 1 ? 0 : i];
  }
  return levels;
}

absl::StatusOr<std::vector<Argument>> product_arguments(Builder& b, const FormOperand& x,
                                                        const ProductWeight& weight,
                                                        const std::vector<double>& bias,
                                                        const FormTarget& target) {
  if (!bias.empty() && bias.size() != static_cast<size_t>(weight.levels->tensor().sizes[0])) {
    return cannot("its bias has other channels than its weight");
  }
  PETREL_ASSIGN_OR_RETURN(const ChannelNumbers numbers, channel_numbers(weight, bias, x, target));
  std::vector<Argument> arguments = {Argument(x.value), Argument(weight.levels), Argument()};
  if (!is_zero(numbers.bias)) {
    PETREL_ASSIGN_OR_RETURN(
        Value * constant, add_channels(b, *weight.levels, "@bias", numbers.bias, ScalarType::kInt));
    arguments[2] = Argument(constant);
  }
  PETREL_ASSIGN_OR_RETURN(Value * multipliers, add_channels(b, *weight.levels, "@multiplier",
                                                            numbers.multipliers, ScalarType::kInt));
  PETREL_ASSIGN_OR_RETURN(
      Value * shifts, add_channels(b, *weight.levels, "@shift", numbers.shifts, ScalarType::kChar));
  arguments.emplace_back(multipliers);
  arguments.emplace_back(shifts);
  return arguments;
}

}  // namespace petrel::exir
