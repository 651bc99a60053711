// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/scratch/windows.h"

namespace petrel::runtime::scratch {
namespace {

// One number for all dims, or one per dim, of which the last is the width's.
bool read_dims(Ints list, size_t dims, int64_t least, int64_t* height, int64_t* width) {
  if (list.size() != 1 && list.size() != dims) return false;
  for (const int64_t v : list) {
    if (v < least || v > INT32_MAX) return false;
  }
  if (dims == 2) *height = list[0];
  *width = list[list.size() - 1];
  return true;
}

bool read_pool_axis(size_t d, Ints kernel, Ints stride, Ints padding, Ints dilation, bool ceil_mode,
                    int64_t in, Axis* axis) {
  const auto at = [d](Ints list, int64_t fallback) {
    return list.empty() ? fallback : list[list.size() == 1 ? 0 : d];
  };
  for (const Ints list : {kernel, stride, padding, dilation}) {
    if (list.size() > 2) return false;
  }
  if (kernel.empty() || in < 1) return false;
  axis->in = in;
  axis->window = at(kernel, 1);
  axis->stride = at(stride, axis->window);
  axis->padding = at(padding, 0);
  axis->dilation = at(dilation, 1);
  for (const int64_t v : {axis->window, axis->stride, axis->dilation}) {
    if (v < 1 || v > INT32_MAX) return false;
  }
  if (axis->padding < 0 || axis->padding > axis->window / 2) return false;
  // In ceil mode a window may hang over, even the only one.
  const int64_t room = in + 2 * axis->padding - axis->dilation * (axis->window - 1) - 1 +
                       (ceil_mode ? axis->stride - 1 : 0);
  if (room < 0) return false;
  axis->out = room / axis->stride + 1;
  if (ceil_mode && (axis->out - 1) * axis->stride >= in + axis->padding) --axis->out;
  return axis->out >= 1 && axis->out <= INT32_MAX;
}

}  // namespace

bool read_convolution(Sizes input, Sizes weight, Ints stride, Ints padding, Ints dilation,
                      Axis* height, Axis* width) {
  const size_t rank = input.size();
  if ((rank != 3 && rank != 4) || weight.size() != rank) return false;
  if (rank == 4) {
    height->in = input[2];
    height->window = weight[2];
  }
  width->in = input[rank - 1];
  width->window = weight[rank - 1];
  const size_t dims = rank - 2;
  return read_dims(stride, dims, 1, &height->stride, &width->stride) &&
         read_dims(padding, dims, 0, &height->padding, &width->padding) &&
         read_dims(dilation, dims, 1, &height->dilation, &width->dilation) && height->window >= 1 &&
         width->window >= 1 && height->find_out() && width->find_out() &&
         height->out <= INT32_MAX && width->out <= INT32_MAX;
}

bool read_pool(Sizes self, Ints kernel, Ints stride, Ints padding, Ints dilation, bool ceil_mode,
               Axis* height, Axis* width) {
  const size_t rank = self.size();
  return (rank == 3 || rank == 4) &&
         read_pool_axis(0, kernel, stride, padding, dilation, ceil_mode, self[rank - 2], height) &&
         read_pool_axis(1, kernel, stride, padding, dilation, ceil_mode, self[rank - 1], width);
}

PlaneBands::PlaneBands(const Axis& height, const Axis& width) {
  const int64_t reach_x = (width.window - 1) * width.dilation / width.stride + 1;
  const int64_t reach_y = (height.window - 1) * height.dilation / height.stride + 1;
  const int64_t columns = width.out - 1 + reach_x;
  // More than the buffer holds is too much, whatever it is exactly.
  constexpr int64_t kMost = static_cast<int64_t>(kMostFloats);
  constexpr int64_t kMostTaps = static_cast<int64_t>(kTaps);
  if (columns > kMost || reach_y > kMost || height.stride > kStride || width.stride > kStride) {
    return;
  }
  const int64_t phases = height.stride * width.stride;
  const int64_t rows = static_cast<int64_t>(kMostFloats - kSlack) / (phases * columns);
  band_ = std::min(rows - reach_y + 1, height.out);
  columns_ = static_cast<size_t>(columns);
  rows_ = static_cast<size_t>(std::max<int64_t>(band_ + reach_y - 1, 0));
  floats_ = static_cast<size_t>(phases) * rows_ * columns_ + kSlack;
  fits_ = band_ >= 1 && height.window <= kMostTaps && width.window <= kMostTaps &&
          height.window * width.window <= kMostTaps;
  // Taps that are far apart leave more to be copied for an output than is computed, and paid for.
  constexpr int64_t kMostCopied = 4;
  fits_ = fits_ && static_cast<int64_t>(floats_ - kSlack) <=
                       kMostCopied * (phases + height.window * width.window) * band_ * width.out;
}

}  // namespace petrel::runtime::scratch
