// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/scheme.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

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

template <typename T>
T read(const void* elements, size_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(elements) + i * sizeof(T), sizeof(T));
  return value;
}

// The bits of floats as integers in the order of the numbers, and back: NaN lies beyond the
// infinities.
int32_t ordered(int32_t bits) { return bits < 0 ? bits ^ 0x7FFFFFFF : bits; }

int32_t bits_of(float number) { return read<int32_t>(&number, 0); }

float number_of(int32_t place) {
  const int32_t bits = ordered(place);
  return read<float>(&bits, 0) + 0.0f;  // no -0
}

// Of `count` floats, aligned or not, as fast as they come from memory: nullopt where one is
// infinite or NaN.
std::optional<Range> range_of_finite(const void* elements, size_t count) {
  if (count == 0) return Range();
  // As many at once as compilers make vectors of.
  constexpr size_t kLanes = 16;
  std::array<int32_t, kLanes> least, most;
  least.fill(std::numeric_limits<int32_t>::max());
  most.fill(std::numeric_limits<int32_t>::min());
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const int32_t place = ordered(read<int32_t>(elements, i + lane));
      least[lane] = std::min(least[lane], place);
      most[lane] = std::max(most[lane], place);
    }
  }
  for (; i < count; ++i) {
    const int32_t place = ordered(read<int32_t>(elements, i));
    least[0] = std::min(least[0], place);
    most[0] = std::max(most[0], place);
  }
  const int32_t low = *std::min_element(least.begin(), least.end());
  const int32_t high = *std::max_element(most.begin(), most.end());
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (low <= ordered(bits_of(-kInfinity)) || high >= ordered(bits_of(kInfinity))) {
    return std::nullopt;
  }
  return Range{number_of(low), number_of(high)};
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
  const Blob::Bytes bytes = constant.data.bytes();
  const auto count = static_cast<size_t>(constant.type.numel());
  const std::optional<Range> range = range_of_finite(bytes.data(), count);
  if (range) return *range;
  size_t i = 0;
  while (std::isfinite(read<float>(bytes.data(), i))) ++i;
  return absl::InvalidArgumentError(absl::StrCat(
      "constant '", constant.fqn, "' has an element that is ", read<float>(bytes.data(), i)));
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
  const auto count = static_cast<size_t>(weight.type.numel());
  const auto channels = static_cast<size_t>(weight.type.sizes[axis]);
  size_t inner = 1;
  for (size_t d = axis + 1; d < weight.type.rank(); ++d) {
    inner *= static_cast<size_t>(weight.type.sizes[d]);
  }
  const Blob::Bytes bytes = weight.data.bytes();
  const auto element = [&](size_t i) { return read<float>(bytes.data(), i); };
  std::vector<float> largest(channels, 0);
  for (size_t i = 0; i < count;) {
    for (size_t c = 0; c < channels; ++c) {
      float most = largest[c];
      for (size_t end = i + inner; i < end; ++i) {
        const float value = std::fabs(element(i));
        if (!(value <= most) && !std::isnan(most)) most = value;  // also NaN
      }
      largest[c] = most;
    }
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
  quantized.levels.resize(count);
  for (size_t i = 0; i < count;) {
    for (size_t c = 0; c < channels; ++c) {
      const float scale = quantized.scales[c];
      for (size_t end = i + inner; i < end; ++i) {
        // Far below 2^22, where the sum is the nearest integer, the even one of two.
        constexpr float kWhole = 0x1.8p23f;
        const float level = element(i) / scale + kWhole - kWhole;
        quantized.levels[i] = static_cast<int8_t>(std::clamp(level, -kWeightLevels, kWeightLevels));
      }
    }
  }
  return quantized;
}

}  // namespace petrel::exir
