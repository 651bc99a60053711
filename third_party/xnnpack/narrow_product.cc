// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/narrow_product.h"

#include <petrel/f32-gemm-narrow.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "xnnpack/gemm.h"
#include "xnnpack/igemm.h"

namespace petrel::third_party::xnnpack {
namespace {

constexpr size_t kRows = 7;
constexpr size_t kColumns = 32;
constexpr float kMin = -3, kMax = 4;

std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> floats(count);
  for (float& f : floats) f = uniform(bits);
  return floats;
}

size_t steps(const Tile& tile) { return std::max<size_t>(tile.window, 1) * tile.depth; }

}  // namespace

#if defined(__x86_64__)

bool NarrowProduct::is_possible() { return __builtin_cpu_supports("avx512f"); }

void NarrowProduct::run(Kernel kernel) {
  const bool narrow = kernel == Kernel::kNarrow;
  xnn_f32_minmax_params params;
  params.scalar.min = kMin;
  params.scalar.max = kMax;
  const size_t kc = tile_.depth * sizeof(float);
  const size_t row = stride() * sizeof(float);
  const size_t block = kColumns * sizeof(float);
  float* out = narrow ? narrow_.data() : whole_.data();
  // Rows are stored behind a few floats that nobody may touch.
  out += 1;
  if (tile_.window == 0) {
    const auto whole = tile_.rows == 1 ? &xnn_f32_gemm_minmax_ukernel_1x32__avx512f_broadcast
                                       : &xnn_f32_gemm_minmax_ukernel_7x32__avx512f_broadcast;
    const auto gemm = narrow ? &petrel_f32_gemm_minmax_ukernel_7x32__avx512f : whole;
    gemm(tile_.rows, tile_.columns, kc, input_.data(), kc, weights_, out, row, block, &params);
    return;
  }
  const auto igemm = narrow ? &petrel_f32_igemm_minmax_ukernel_7x32__avx512f
                            : &xnn_f32_igemm_minmax_ukernel_7x32__avx512f_broadcast;
  igemm(tile_.rows, tile_.columns, kc, tile_.window * kRows * sizeof(void*), pointers_.data(),
        weights_, out, row, block, sizeof(float), zeros_.data(), &params);
}

#else

bool NarrowProduct::is_possible() { return false; }
void NarrowProduct::run(Kernel) {}

#endif

// The first element of a window lies outside the image: it points to zeros.
NarrowProduct::NarrowProduct(const Tile& tile)
    : tile_(tile),
      input_(random_floats(kRows * steps(tile) + 1, 1)),
      zeros_(tile.depth, 0),
      whole_(kRows * stride() + kColumns, kUntouched),
      narrow_(whole_) {
  const size_t blocks = (tile.columns + kColumns - 1) / kColumns;
  const size_t count = blocks * kColumns * (1 + steps(tile));
  storage_ = random_floats(count + 16, 2);
  // Kernels of whole tiles want their weights aligned.
  const size_t skip = (64 - reinterpret_cast<uintptr_t>(storage_.data()) % 64) % 64;
  weights_ = storage_.data() + skip / sizeof(float);
  for (size_t w = 0; w < tile.window; ++w) {
    for (size_t row = 0; row < kRows; ++row) {
      const size_t used = std::min(row, tile.rows - 1);
      const float* pixel = &input_[used * steps(tile) + w * tile.depth];
      // The offset of an igemm is one float.
      pointers_.push_back(w == 0 ? zeros_.data() : pixel - 1);
    }
  }
}

const std::vector<float>& NarrowProduct::output(Kernel kernel) const {
  return kernel == Kernel::kNarrow ? narrow_ : whole_;
}

double NarrowProduct::expected(size_t row, size_t column) const {
  const size_t block = column / kColumns;
  const float* w = &weights_[block * kColumns * (1 + steps(tile_)) + column % kColumns];
  double sum = *w;
  for (size_t k = 0; k < steps(tile_); ++k) {
    w += kColumns;
    const bool is_outside = tile_.window != 0 && k < tile_.depth;
    if (!is_outside) sum += static_cast<double>(*w) * input_[row * steps(tile_) + k];
  }
  return std::clamp<double>(sum, kMin, kMax);
}

}  // namespace petrel::third_party::xnnpack
