// SPDX-License-Identifier: Apache-2.0
//
// Windows that slide over a plane of floats, as vector code likes them. The
// part of the plane that a band of output rows reads is copied with its padding
// and, for strides above 1, sorted by the remainder of its coordinates, so that
// every tap of the window reads a rectangle with steps of one:
//
//   stride 2:   a b c d        a c | b d       tap [0, 0] reads rectangle 0,
//               e f g h   ->   i k | j l       tap [0, 1] rectangle 1,
//               i j k l        ----+----       tap [2, 0] rectangle 0, one row down
//               m n o p        e g | f h
//                              m o | n p
//
//   const PaddedPlane padded(height, width);   // Axis each, outputs found
//   if (!padded.fits()) ...
//   alignas(64) float buffer[PaddedPlane::kBuffer];   // or padded.bytes()
//   size_t offset[PaddedPlane::kTaps];
//   padded.find_offsets(offset);
//   for (int64_t p = 0; p < height.out; p += padded.band()) {
//     padded.fill(plane, p, 0.0f, buffer);
//     // Tap t of the output [p + i, q] is buffer[i * padded.row() + q + offset[t]].
//   }
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_PADDED_PLANE_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_PADDED_PLANE_H_

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/scratch/windows.h"

namespace petrel::runtime::optimized {

using scratch::Axis;

class PaddedPlane final {
 public:
  static constexpr size_t kBuffer = scratch::PlaneBands::kMostFloats;
  static constexpr size_t kTaps = scratch::PlaneBands::kTaps;

  PaddedPlane(const Axis& height, const Axis& width)
      : height_(height), width_(width), bands_(height, width) {}

  // False when not even one row of output fits the buffers.
  bool fits() const { return bands_.fits(); }
  // Of the buffer that is needed, at most kBuffer floats.
  size_t bytes() const { return bands_.bytes(); }

  // Output rows at a time.
  int64_t band() const { return bands_.band(); }
  // Elements from one output row to the next, in the buffer. Behind the last
  // one there is room for vectors that reach beyond it.
  size_t row() const { return bands_.columns(); }

  // Where each tap lies, seen from the output; taps row by row.
  void find_offsets(size_t* offset) const;

  // The input of the output rows from p on; `padding` stands for what is not there.
  void fill(const float* plane, int64_t p, float padding, float* buffer) const;

 private:
  size_t place(int64_t y, int64_t x) const;

  Axis height_, width_;
  scratch::PlaneBands bands_;
};

// out[p, q] = bias + the sum of weight[t] * in[p * in_row + q + offset[t]].
void weighted_rows(const float* in, size_t in_row, const size_t* offset, const float* weight,
                   size_t taps, float bias, float* out, size_t rows, size_t columns);

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_PADDED_PLANE_H_
