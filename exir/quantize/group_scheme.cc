// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/group_scheme.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace petrel::exir {
namespace {

// Shares of max |w| / 7 that are tried: from 0.6, which clips a third of the largest, to
// 1.0, and 7/8, with which the largest becomes -8.
constexpr int kTrials = 20;
constexpr float kLeastShare = 0.6f;

float level_of(float value, float inverse) {
  return std::clamp(std::nearbyint(value * inverse), static_cast<float>(kLeastLevel4),
                    static_cast<float>(kMostLevel4));
}

double squared_error(const float* values, size_t count, float scale) {
  const float inverse = 1 / scale;
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const double error = values[i] - scale * level_of(values[i], inverse);
    sum += error * error;
  }
  return sum;
}

}  // namespace

float to_bfloat16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  bits += 0x7fff + (bits >> 16 & 1);
  bits &= 0xffff0000;
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

float quantize_group(const float* values, size_t count, int8_t* levels) {
  float most = 0;
  for (size_t i = 0; i < count; ++i) most = std::max(most, std::fabs(values[i]));
  const float whole = most / static_cast<float>(kMostLevel4);
  float best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial <= kTrials; ++trial) {
    const float share =
        kLeastShare + (1 - kLeastShare) * static_cast<float>(trial) / static_cast<float>(kTrials);
    const float scale = to_bfloat16(whole * share);
    if (!std::isnormal(scale) || !std::isnormal(1 / scale)) continue;
    const double error = squared_error(values, count, scale);
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    levels[i] = static_cast<int8_t>(level_of(values[i], 1 / best));
  }
  return best;
}

}  // namespace petrel::exir
