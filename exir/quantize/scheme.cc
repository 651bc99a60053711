// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/scheme.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace petrel::exir {
namespace {

constexpr float kWeightLevels = 127;

std::vector<float> floats_of(const Constant& constant) {
  std::vector<float> values(static_cast<size_t>(constant.type.numel()));
  const Blob::Bytes bytes = constant.data.bytes();
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace

void Range::include(const Range& other) {
  min = std::min(min, other.min);
  max = std::max(max, other.max);
}

Affine affine_of(const Range& range) {
  const float least = std::min(range.min, 0.0f);
  const float most = std::max(range.max, 0.0f);
  Affine numbers;
  // Halves first: the difference of two floats need not be one.
  const float scale = (most / 2 - least / 2) / (static_cast<float>(kMostLevel - kLeastLevel) / 2);
  if (std::isnormal(scale)) numbers.scale = scale;
  const float zero = static_cast<float>(kLeastLevel) - std::nearbyint(least / numbers.scale);
  numbers.zero_point = static_cast<int32_t>(
      std::clamp(zero, static_cast<float>(kLeastLevel), static_cast<float>(kMostLevel)));
  return numbers;
}

absl::Status check_affine(const Affine& numbers) {
  if (!std::isnormal(numbers.scale) || numbers.scale < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("scale is ", numbers.scale, ", must be a positive, normal number"));
  }
  if (numbers.zero_point < kLeastLevel || numbers.zero_point > kMostLevel) {
    return absl::InvalidArgumentError(absl::StrCat("zero point is ", numbers.zero_point,
                                                   ", must be ", kLeastLevel, " to ", kMostLevel));
  }
  return absl::OkStatus();
}

absl::StatusOr<Range> range_of(const Constant& constant) {
  Range range;
  for (const float value : floats_of(constant)) {
    if (!std::isfinite(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("constant '", constant.fqn, "' has an element that is ", value));
    }
    range.include({value, value});
  }
  return range;
}

std::vector<int8_t> levels_of(const Constant& constant, const Affine& numbers) {
  std::vector<int8_t> levels;
  for (const float value : floats_of(constant)) {
    const float level =
        std::nearbyint(value / numbers.scale) + static_cast<float>(numbers.zero_point);
    levels.push_back(static_cast<int8_t>(
        std::clamp(level, static_cast<float>(kLeastLevel), static_cast<float>(kMostLevel))));
  }
  return levels;
}

absl::StatusOr<QuantizedWeight> quantize_weight(const Constant& weight, size_t axis) {
  const std::vector<float> values = floats_of(weight);
  const auto channels = static_cast<size_t>(weight.type.sizes[axis]);
  size_t inner = 1;
  for (size_t d = axis + 1; d < weight.type.rank(); ++d) {
    inner *= static_cast<size_t>(weight.type.sizes[d]);
  }
  std::vector<float> largest(channels, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    float& most = largest[i / inner % channels];
    if (std::isnan(most)) continue;
    if (!(std::fabs(values[i]) <= most)) most = std::fabs(values[i]);  // also of NaN
  }
  QuantizedWeight quantized;
  for (size_t c = 0; c < channels; ++c) {
    if (!std::isfinite(largest[c])) {
      return absl::InvalidArgumentError(absl::StrCat(
          "weight '", weight.fqn, "' is not finite at index ", c, " of dimension ", axis));
    }
    // Weights too small for a scale are zeros.
    const float scale = largest[c] / kWeightLevels;
    quantized.scales.push_back(std::isnormal(scale) ? scale : 1.0f);
  }
  quantized.levels.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const float level = std::nearbyint(values[i] / quantized.scales[i / inner % channels]);
    quantized.levels[i] = static_cast<int8_t>(std::clamp(level, -kWeightLevels, kWeightLevels));
  }
  return quantized;
}

}  // namespace petrel::exir
