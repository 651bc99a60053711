// SPDX-License-Identifier: Apache-2.0
//
// Windows that slide over planes: how the arguments of convolutions and poolings
// describe them, and how much of a plane is worked on at a time. Arithmetic of
// shapes only, so that the compiler can know what a kernel will do.
//
//   Axis height, width;
//   if (!read_convolution(input, weight, stride, padding, dilation, &height, &width)) ...
//   const PlaneBands bands(height, width);
//   if (bands.fits()) use(bands.bytes());
#ifndef PETREL_RUNTIME_KERNELS_SCRATCH_WINDOWS_H_
#define PETREL_RUNTIME_KERNELS_SCRATCH_WINDOWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/core/span.h"

namespace petrel::runtime::scratch {

using Sizes = Span<const int32_t>;
using Ints = Span<const int64_t>;

// One spatial dimension.
struct Axis {
  int64_t in = 1, out = 1, window = 1;
  int64_t stride = 1, padding = 0, dilation = 1;

  // False when the window does not fit the padded input.
  bool find_out() {
    const int64_t reach = dilation * (window - 1) + 1;
    if (in + 2 * padding < reach) return false;
    out = (in + 2 * padding - reach) / stride + 1;
    return true;
  }

  // The outputs [first, last) for which tap `tap` reads an element that exists.
  void outputs_of(int64_t tap, int64_t* first, int64_t* last) const {
    const int64_t offset = tap * dilation - padding;  // of what output 0 reads
    *first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    const int64_t beyond = in - offset;  // outputs i with i * stride < beyond
    *last = beyond <= 0 ? 0 : std::min(out, (beyond + stride - 1) / stride);
    *first = std::min(*first, *last);
  }
};

// The axes of aten::convolution on [n, c, width] or [n, c, height, width]; false
// when an argument is wrong.
bool read_convolution(Sizes input, Sizes weight, Ints stride, Ints padding, Ints dilation,
                      Axis* height, Axis* width);

// Those of a pooling of the last two dims. An empty stride is the window's size.
bool read_pool(Sizes self, Ints kernel, Ints stride, Ints padding, Ints dilation, bool ceil_mode,
               Axis* height, Axis* width);

// How the rows of a plane are taken in bands, each copied to a buffer with its
// padding; runtime/kernels/optimized/padded_plane.h shows the buffer.
class PlaneBands final {
 public:
  static constexpr size_t kMostFloats = 16384;
  static constexpr size_t kTaps = 128;
  // Behind the last row there is room for vectors that reach beyond it.
  static constexpr size_t kSlack = 32;

  PlaneBands(const Axis& height, const Axis& width);

  // False when not even one row of output fits the largest buffer, or copying is most of the
  // work.
  bool fits() const { return fits_; }
  // Rows of output at a time.
  int64_t band() const { return band_; }
  // Of each rectangle of the buffer.
  size_t columns() const { return columns_; }
  size_t rows() const { return rows_; }
  // Of the buffer.
  size_t floats() const { return floats_; }
  size_t bytes() const { return floats_ * sizeof(float); }

 private:
  static constexpr int64_t kStride = 8;

  bool fits_ = false;
  int64_t band_ = 0;
  size_t columns_ = 0;
  size_t rows_ = 0;
  size_t floats_ = 0;
};

}  // namespace petrel::runtime::scratch

#endif  // PETREL_RUNTIME_KERNELS_SCRATCH_WINDOWS_H_
