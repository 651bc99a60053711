// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/padded_plane.h"

#include <cstring>

#include "runtime/kernels/optimized/instruction_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/padded_plane.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

void WeightedRows(const float* in, size_t in_row, const size_t* offset, const float* weight,
                  size_t taps, float bias, float* out, size_t rows, size_t columns) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V start = hn::Set(d, bias);
  const auto store = [&](V v, size_t p, size_t q) HWY_ATTR {
    float* to = out + p * columns + q;
    if (columns - q >= lanes) return hn::StoreU(v, d, to);
    HWY_ALIGN float edge[kMaxLanes];
    hn::Store(v, d, edge);
    std::memcpy(to, edge, (columns - q) * sizeof(float));
  };
  for (size_t q = 0; q < columns; q += lanes) {
    size_t p = 0;
    for (; p + 4 <= rows; p += 4) {  // four rows share a weight
      const float* from = in + p * in_row + q;
      V sum0 = start, sum1 = start, sum2 = start, sum3 = start;
      for (size_t t = 0; t < taps; ++t) {
        const V w = hn::Set(d, weight[t]);
        const float* at = from + offset[t];
        sum0 = hn::MulAdd(w, hn::LoadU(d, at), sum0);
        sum1 = hn::MulAdd(w, hn::LoadU(d, at + in_row), sum1);
        sum2 = hn::MulAdd(w, hn::LoadU(d, at + 2 * in_row), sum2);
        sum3 = hn::MulAdd(w, hn::LoadU(d, at + 3 * in_row), sum3);
      }
      store(sum0, p, q);
      store(sum1, p + 1, q);
      store(sum2, p + 2, q);
      store(sum3, p + 3, q);
    }
    for (; p < rows; ++p) {
      const float* from = in + p * in_row + q;
      V sum = start;
      for (size_t t = 0; t < taps; ++t) {
        sum = hn::MulAdd(hn::Set(d, weight[t]), hn::LoadU(d, from + offset[t]), sum);
      }
      store(sum, p, q);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {

PETREL_EXPORT(WeightedRows);

void weighted_rows(const float* in, size_t in_row, const size_t* offset, const float* weight,
                   size_t taps, float bias, float* out, size_t rows, size_t columns) {
  PETREL_DISPATCH(WeightedRows)(in, in_row, offset, weight, taps, bias, out, rows, columns);
}

// Where the element [y, x] of the padded band lies.
size_t PaddedPlane::place(int64_t y, int64_t x) const {
  const int64_t phase = y % height_.stride * width_.stride + x % width_.stride;
  return (static_cast<size_t>(phase) * bands_.rows() + static_cast<size_t>(y / height_.stride)) *
             bands_.columns() +
         static_cast<size_t>(x / width_.stride);
}

void PaddedPlane::find_offsets(size_t* offset) const {
  for (int64_t r = 0; r < height_.window; ++r) {
    for (int64_t s = 0; s < width_.window; ++s) {
      offset[r * width_.window + s] = place(r * height_.dilation, s * width_.dilation);
    }
  }
}

void PaddedPlane::fill(const float* plane, int64_t p, float padding, float* buffer) const {
  const Axis &y = height_, &x = width_;
  std::fill(buffer, buffer + bands_.floats(), padding);
  const int64_t height = static_cast<int64_t>(bands_.rows()) * y.stride;
  const int64_t width = static_cast<int64_t>(bands_.columns()) * x.stride;
  const int64_t end = std::min(width, x.in + x.padding);
  for (int64_t row = 0; row < height; ++row) {
    const int64_t from_row = p * y.stride - y.padding + row;
    if (from_row < 0 || from_row >= y.in) continue;
    const float* from = plane + from_row * x.in;
    for (int64_t phase = 0; phase < x.stride; ++phase) {
      // Columns phase, phase + stride, ... of the padded row that exist.
      int64_t column = phase;
      if (column < x.padding) {
        column += (x.padding - column + x.stride - 1) / x.stride * x.stride;
      }
      if (column >= end) continue;
      float* to = buffer + place(row, column);
      if (x.stride == 1) {
        std::memcpy(to, from + column - x.padding,
                    static_cast<size_t>(end - column) * sizeof(float));
        continue;
      }
      for (; column < end; column += x.stride) *to++ = from[column - x.padding];
    }
  }
}

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
