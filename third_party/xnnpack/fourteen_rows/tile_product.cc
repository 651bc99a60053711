// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/fourteen_rows/tile_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "third_party/xnnpack/fourteen_rows/products.h"
#include "xnnpack/gemm.h"
#include "xnnpack/igemm.h"

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

bool TileProduct::is_possible() { return __builtin_cpu_supports("avx512f"); }

void TileProduct::run_tile(Kernel kernel, size_t row, size_t rows) {
  xnn_f32_minmax_params params;
  params.scalar.min = kMin;
  params.scalar.max = kMax;
  const size_t kc = layer_.depth * sizeof(float);
  const size_t a_stride = row_stride() * sizeof(float);
  const size_t c_stride = stride() * sizeof(float);
  const size_t block = layer_.block_columns * sizeof(float);
  const petrel_ahead ahead = petrel_bring(layer_.block_columns * (1 + steps()) * sizeof(float), 64);
  // Rows are stored behind a float that nobody may touch.
  float* const out = &output_[1 + row * stride()];
  if (layer_.window == 0) {
    if (kernel == Kernel::kFourteenAhead) {
      petrel_f32_gemm_ahead_14x32__avx512f(rows, layer_.columns, kc, pixel(row, 0), a_stride,
                                           weights_, out, c_stride, block, &params, ahead);
      return;
    }
    const auto gemm = kernel == Kernel::kFourteen ? &petrel_f32_gemm_minmax_ukernel_14x32__avx512f
                      : kernel == Kernel::kHalves
                          ? &petrel_f32_gemm_minmax_ukernel_14x16__avx512f
                          : &xnn_f32_gemm_minmax_ukernel_7x32__avx512f_broadcast;
    gemm(rows, layer_.columns, kc, pixel(row, 0), a_stride, weights_, out, c_stride, block,
         &params);
    return;
  }
  const bool is_seven = kernel == Kernel::kSeven;
  const size_t size = layer_.window * (is_seven ? 7 : 14) * sizeof(void*);
  const float** const pointers = &(is_seven ? by_seven_ : by_fourteen_)[row * layer_.window];
  if (kernel == Kernel::kFourteenAhead) {
    petrel_f32_igemm_ahead_14x32__avx512f(rows, layer_.columns, kc, size, pointers, weights_, out,
                                          c_stride, block, sizeof(float), zeros_.data(), &params,
                                          ahead);
    return;
  }
  const auto igemm = is_seven ? &xnn_f32_igemm_minmax_ukernel_7x32__avx512f_broadcast
                     : kernel == Kernel::kHalves ? &petrel_f32_igemm_minmax_ukernel_14x16__avx512f
                                                 : &petrel_f32_igemm_minmax_ukernel_14x32__avx512f;
  igemm(rows, layer_.columns, kc, size, pointers, weights_, out, c_stride, block, sizeof(float),
        zeros_.data(), &params);
}

#else

bool TileProduct::is_possible() { return false; }
void TileProduct::run_tile(Kernel, size_t, size_t) {}

#endif

void TileProduct::run(Kernel kernel) {
  const size_t at_once = kernel == Kernel::kSeven ? 7 : 14;
  for (size_t row = 0; row < layer_.rows; row += at_once) {
    run_tile(kernel, row, std::min(at_once, layer_.rows - row));
  }
}

TileProduct::TileProduct(const TileLayer& layer)
    : layer_(layer),
      input_(random_floats((layer.rows + layer.window) * row_stride(), 1)),
      zeros_(layer.depth, 0) {
  if (!layer.is_finite) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < input_.size(); i += 5 * row_stride()) input_[i] = kInfinity;
    for (size_t i = 1; i < input_.size(); i += 3 * row_stride()) input_[i] = std::nanf("");
  }
  const size_t blocks = (layer.columns + layer_.block_columns - 1) / layer_.block_columns;
  storage_ = random_floats(blocks * layer_.block_columns * (1 + steps()) + 16, 2);
  // XNNPACK's kernels want their weights aligned.
  const size_t skip = (64 - reinterpret_cast<uintptr_t>(storage_.data()) % 64) % 64;
  weights_ = storage_.data() + skip / sizeof(float);
  find_pointers(7, &by_seven_);
  find_pointers(14, &by_fourteen_);
  clear();
}

void TileProduct::clear() { output_.assign(1 + layer_.rows * stride(), kUntouched); }

// The first element of every other row's window lies outside the image.
const float* TileProduct::pixel(size_t row, size_t element) const {
  if (layer_.window != 0 && element == 0 && row % 2 == 1) return nullptr;
  return &input_[(row + element) * row_stride()];
}

// As an indirection buffer has them, for an offset of one float.
void TileProduct::find_pointers(size_t rows, std::vector<const float*>* pointers) const {
  for (size_t first = 0; first < layer_.rows; first += rows) {
    for (size_t element = 0; element < layer_.window; ++element) {
      for (size_t row = first; row < first + rows; ++row) {
        const float* const data = pixel(std::min(row, layer_.rows - 1), element);
        pointers->push_back(data == nullptr ? zeros_.data() : data - 1);
      }
    }
  }
}

float TileProduct::expected(size_t row, size_t column) const {
  const float* w = &weights_[column / layer_.block_columns * layer_.block_columns * (1 + steps()) +
                             column % layer_.block_columns];
  float sum = *w;
  for (size_t element = 0; element < std::max<size_t>(layer_.window, 1); ++element) {
    const float* const data = pixel(row, element);
    for (size_t k = 0; k < layer_.depth; ++k) {
      w += layer_.block_columns;
      sum = std::fma(data == nullptr ? 0.0f : data[k], *w, sum);
    }
  }
  return std::isnan(sum) ? sum : std::clamp(sum, kMin, kMax);
}

}  // namespace petrel::third_party::xnnpack
