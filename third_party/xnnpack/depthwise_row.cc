// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/depthwise_row.h"

#include <petrel/f32-dwconv-pixels.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "xnnpack/dwconv.h"

namespace petrel::third_party::xnnpack {
namespace {

constexpr float kMin = -3, kMax = 4;

std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> floats(count);
  for (float& f : floats) f = uniform(bits);
  return floats;
}

}  // namespace

#if defined(__x86_64__)

bool DepthwiseRow::is_possible(size_t lanes) {
  return lanes == 16 ? __builtin_cpu_supports("avx512f")
                     : __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx");
}

void DepthwiseRow::run(Pixels pixels) {
  const bool several = pixels == Pixels::kSeveral;
  const bool fma3 = shape_.lanes == 8;
  const auto own_3 = fma3 ? &petrel_f32_dwconv_minmax_ukernel_9p8c__fma3
                          : &petrel_f32_dwconv_minmax_ukernel_9p16c__avx512f;
  const auto their_3 = fma3 ? &xnn_f32_dwconv_minmax_ukernel_9p16c__fma3
                            : &xnn_f32_dwconv_minmax_ukernel_9p16c__avx512f;
  const auto of_3 = several ? own_3 : their_3;
  const auto of_5 = fma3      ? &petrel_f32_dwconv_minmax_ukernel_25p8c__fma3
                    : several ? &petrel_f32_dwconv_minmax_ukernel_25p16c__avx512f
                              : &xnn_f32_dwconv_minmax_ukernel_25p16c__avx512f;
  const auto of_7 = fma3 ? &petrel_f32_dwconv_minmax_ukernel_49p8c__fma3
                         : &petrel_f32_dwconv_minmax_ukernel_49p16c__avx512f;
  const auto kernel = shape_.size == 3 ? of_3 : shape_.size == 5 ? of_5 : of_7;
  xnn_f32_minmax_params params;
  params.scalar.min = shape_.has_bounds ? kMin : -INFINITY;
  params.scalar.max = shape_.has_bounds ? kMax : INFINITY;
  const size_t step = shape_.stride * shape_.size * sizeof(void*);
  // The offset of pointers is one float.
  kernel(shape_.channels, shape_.width, pointers_.data(), weights_,
         (several ? several_ : one_).data(), static_cast<intptr_t>(step),
         (stride() - shape_.channels) * sizeof(float), sizeof(float), zeros_.data(), &params);
}

#else

bool DepthwiseRow::is_possible(size_t) { return false; }
void DepthwiseRow::run(Pixels) {}

#endif

DepthwiseRow::DepthwiseRow(const RowShape& shape)
    : shape_(shape),
      zeros_(shape.channels, 0),
      one_(stride() * shape.width, kUntouched),
      several_(one_) {
  const size_t columns = shape.size + (shape.width - 1) * shape.stride;
  input_ = random_floats(shape.size * columns * shape.channels + 1, 1);
  for (size_t x = 0; x < columns; ++x) {
    for (size_t y = 0; y < shape.size; ++y) {
      const float* pixel = &input_[(y * columns + x) * shape.channels];
      pointers_.push_back(x == 0 ? zeros_.data() : pixel);
    }
  }
  const size_t tiles = (shape.channels + shape.lanes - 1) / shape.lanes;
  const size_t taps = shape.size * shape.size;
  storage_ = random_floats((tiles * (1 + taps) + 2) * shape.lanes, 2);
  const size_t skip = (64 - reinterpret_cast<uintptr_t>(storage_.data()) % 64) % 64;
  weights_ = storage_.data() + skip / sizeof(float);
}

const std::vector<float>& DepthwiseRow::output(Pixels pixels) const {
  return pixels == Pixels::kSeveral ? several_ : one_;
}

double DepthwiseRow::expected(size_t pixel, size_t channel) const {
  const size_t taps = shape_.size * shape_.size;
  const size_t lanes = shape_.lanes;
  const float* w = weights_ + channel / lanes * lanes * (1 + taps) + channel % lanes;
  double sum = *w;
  for (size_t tap = 0; tap < taps; ++tap) {
    const float* in = pointers_[pixel * shape_.stride * shape_.size + tap];
    const double x = in == zeros_.data() ? 0 : in[1 + channel];
    sum += x * w[(1 + tap) * lanes];
  }
  return shape_.has_bounds ? std::clamp<double>(sum, kMin, kMax) : sum;
}

}  // namespace petrel::third_party::xnnpack
