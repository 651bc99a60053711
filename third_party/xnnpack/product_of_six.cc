// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/product_of_six.h"

#include <petrel/f32-gemm-fma3.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "xnnpack/gemm.h"
#include "xnnpack/igemm.h"

namespace petrel::third_party::xnnpack {
namespace {

constexpr size_t kColumns = 16;
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

bool ProductOfSix::is_possible() { return __builtin_cpu_supports("fma"); }

void ProductOfSix::run(FmaKernel kernel) {
  const bool by_six = kernel == FmaKernel::kSixRows;
  const size_t at_once = by_six ? 6 : 5;
  xnn_f32_minmax_params params;
  params.scalar.min = kMin;
  params.scalar.max = kMax;
  const size_t kc = layer_.depth * sizeof(float);
  const size_t c_stride = stride() * sizeof(float);
  const size_t block = kColumns * sizeof(float);
  for (size_t row = 0; row < layer_.rows; row += at_once) {
    const size_t rows = std::min(at_once, layer_.rows - row);
    // Rows are stored behind a float that nobody may touch.
    float* const out = &output_[1 + row * stride()];
    if (layer_.window == 0) {
      const auto gemm = by_six ? &petrel_f32_gemm_minmax_ukernel_6x16__fma3
                               : &xnn_f32_gemm_minmax_ukernel_5x16__fma3_broadcast;
      gemm(rows, layer_.columns, kc, pixel(row, 0), kc, weights_, out, c_stride, block, &params);
      continue;
    }
    const auto igemm = by_six ? &petrel_f32_igemm_minmax_ukernel_6x16__fma3
                              : &xnn_f32_igemm_minmax_ukernel_5x16__fma3_broadcast_prfm;
    const float** const pointers = &(by_six ? by_six_ : by_five_)[row * layer_.window];
    igemm(rows, layer_.columns, kc, layer_.window * at_once * sizeof(void*), pointers, weights_,
          out, c_stride, block, sizeof(float), zeros_.data(), &params);
  }
}

#else

bool ProductOfSix::is_possible() { return false; }
void ProductOfSix::run(FmaKernel) {}

#endif

ProductOfSix::ProductOfSix(const FmaLayer& layer)
    : layer_(layer),
      input_(random_floats((layer.rows + layer.window) * layer.depth, 1)),
      zeros_(layer.depth, 0) {
  const size_t blocks = (layer.columns + kColumns - 1) / kColumns;
  storage_ = random_floats(blocks * kColumns * (1 + steps()) + 16, 2);
  const size_t skip = (64 - reinterpret_cast<uintptr_t>(storage_.data()) % 64) % 64;
  weights_ = storage_.data() + skip / sizeof(float);
  find_pointers(5, &by_five_);
  find_pointers(6, &by_six_);
  clear();
}

void ProductOfSix::clear() { output_.assign(1 + layer_.rows * stride(), kUntouched); }

// The first element of every other row's window lies outside the image.
const float* ProductOfSix::pixel(size_t row, size_t element) const {
  if (layer_.window != 0 && element == 0 && row % 2 == 1) return nullptr;
  return &input_[(row + element) * layer_.depth];
}

// As an indirection buffer has them, for an offset of one float.
void ProductOfSix::find_pointers(size_t rows, std::vector<const float*>* pointers) const {
  for (size_t first = 0; first < layer_.rows; first += rows) {
    for (size_t element = 0; element < layer_.window; ++element) {
      for (size_t row = first; row < first + rows; ++row) {
        const float* const data = pixel(std::min(row, layer_.rows - 1), element);
        pointers->push_back(data == nullptr ? zeros_.data() : data - 1);
      }
    }
  }
}

float ProductOfSix::expected(size_t row, size_t column) const {
  const float* w = &weights_[column / kColumns * kColumns * (1 + steps()) + column % kColumns];
  float sum = *w;
  for (size_t element = 0; element < std::max<size_t>(layer_.window, 1); ++element) {
    const float* const data = pixel(row, element);
    for (size_t k = 0; k < layer_.depth; ++k) {
      w += kColumns;
      sum = std::fma(data == nullptr ? 0.0f : data[k], *w, sum);
    }
  }
  return std::clamp(sum, kMin, kMax);
}

}  // namespace petrel::third_party::xnnpack
