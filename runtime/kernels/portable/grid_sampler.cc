// SPDX-License-Identifier: Apache-2.0
//
// grid_sampler_2d.out(Tensor input, Tensor grid, int interpolation_mode,
//   int padding_mode, bool align_corners, *, out)
//
//   input [N, C, H, W]   grid [N, P, Q, 2]   out [N, C, P, Q]
//
// The grid holds places (x, y) in [-1, 1]: the centers of the corner elements
// with align_corners, else their outer edges. Modes as PyTorch numbers them:
// interpolation 0 bilinear, 1 nearest, 2 bicubic; padding 0 zeros, 1 border,
// 2 reflection.
#include <cmath>

#include "runtime/kernels/portable/check.h"

namespace petrel::runtime::portable {
namespace {

enum Interpolation { kBilinear, kNearest, kBicubic };
enum Padding { kZeros, kBorder, kReflection };

// One axis: how grid places become element places.
struct Axis {
  int64_t size;
  Padding padding;
  bool align_corners;

  double unnormalized(double place) const {
    const double n = static_cast<double>(size);
    return align_corners ? (place + 1.0) / 2.0 * (n - 1.0) : ((place + 1.0) * n - 1.0) / 2.0;
  }

  double clipped(double at) const {
    const double last = static_cast<double>(size - 1);
    // NaN goes to the first element.
    return at > 0.0 ? (at < last ? at : last) : 0.0;
  }

  // Back and forth between the outermost places.
  double reflected(double at) const {
    const double low = align_corners ? 0.0 : -0.5;
    const double span = align_corners ? static_cast<double>(size - 1) : static_cast<double>(size);
    if (span <= 0.0) return 0.0;
    const double distance = std::fabs(at - low);
    const double extra = std::fmod(distance, span);
    const double flips = std::floor(distance / span);
    return std::fmod(flips, 2.0) == 0.0 ? low + extra : low + span - extra;
  }

  // The place after padding, for modes that compute it before interpolating.
  double padded(double at) const {
    if (padding == kBorder) return clipped(at);
    if (padding == kReflection) return clipped(reflected(at));
    return at;
  }
};

// A double as an index; outside, and its neighbours too, for what no index can
// be.
int64_t whole(double value) {
  if (!(value > -1e15 && value < 1e15)) return -9;
  return static_cast<int64_t>(value);
}

// Weights of the four neighbours of a point at `t` in [0, 1) after the second.
void cubic_weights(double t, double* weights) {
  constexpr double kA = -0.75;
  const auto near = [](double x) { return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1.0; };
  const auto far = [](double x) { return ((kA * x - 5.0 * kA) * x + 8.0 * kA) * x - 4.0 * kA; };
  weights[0] = far(t + 1.0);
  weights[1] = near(t);
  weights[2] = near(1.0 - t);
  weights[3] = far(2.0 - t);
}

// The elements of a plane that make up a sample, and how much of each.
struct Taps {
  int64_t offset[16];
  double weight[16];
  int count = 0;
  double start = 0.0;  // what they are added to: NaN at a place that is no number

  void find(Interpolation interpolation, const Axis& axis_y, double y, int64_t stride_y,
            const Axis& axis_x, double x, int64_t stride_x) {
    // Elements that do not exist count as 0.
    const auto add = [&](int64_t h, int64_t w, double share) {
      if (h < 0 || h >= axis_y.size || w < 0 || w >= axis_x.size) return;
      offset[count] = h * stride_y + w * stride_x;
      weight[count++] = share;
    };
    if (interpolation == kNearest) {
      return add(whole(std::nearbyint(axis_y.padded(y))), whole(std::nearbyint(axis_x.padded(x))),
                 1.0);
    }
    if (interpolation == kBilinear) {
      y = axis_y.padded(y);
      x = axis_x.padded(x);
      start = (x - x) + (y - y);
      const double top = std::floor(y), left = std::floor(x);
      const int64_t h = whole(top), w = whole(left);
      const double dy = y - top, dx = x - left;
      add(h, w, (1.0 - dy) * (1.0 - dx));
      add(h, w + 1, (1.0 - dy) * dx);
      add(h + 1, w, dy * (1.0 - dx));
      add(h + 1, w + 1, dy * dx);
      return;
    }
    // Bicubic pads each neighbour by itself.
    start = (x - x) + (y - y);
    const double top = std::floor(y), left = std::floor(x);
    double weights_y[4], weights_x[4];
    cubic_weights(y - top, weights_y);
    cubic_weights(x - left, weights_x);
    int64_t columns[4];
    for (int j = 0; j < 4; ++j) columns[j] = whole(axis_x.padded(left - 1.0 + j));
    for (int i = 0; i < 4; ++i) {
      const int64_t row = whole(axis_y.padded(top - 1.0 + i));
      for (int j = 0; j < 4; ++j) add(row, columns[j], weights_y[i] * weights_x[j]);
    }
  }
};

}  // namespace

void grid_sampler_2d_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 6);
  const Tensor input = args.tensor(0);
  const Tensor grid = args.tensor(1);
  const int64_t interpolation = args.integer(2);
  const int64_t padding = args.integer(3);
  const bool align_corners = args.boolean(4);
  const Tensor out = args.out(5);
  if (!args.ok() || !check_floating(context, input) || !check_same_type(context, input, grid) ||
      !check_same_type(context, input, out) || !check_rank(context, input, 4) ||
      !check_rank(context, grid, 4) ||
      !check(context, grid.size(0) == input.size(0) && grid.size(3) == 2,
             "the grid must be [batch, height, width, 2]") ||
      !check(context, input.size(2) > 0 && input.size(3) > 0, "the input is empty") ||
      !check(context, interpolation >= kBilinear && interpolation <= kBicubic,
             "interpolation_mode is not in [0, 2]") ||
      !check(context, padding >= kZeros && padding <= kReflection,
             "padding_mode is not in [0, 2]")) {
    return;
  }
  const SizesType sizes[] = {input.sizes()[0], input.sizes()[1], grid.sizes()[1], grid.sizes()[2]};
  if (!resize_out(context, out, sizes)) return;
  const auto load = loader<double>(input.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  const auto is = input.strides(), gs = grid.strides(), os = out.strides();
  const Axis axis_y = {input.size(2), static_cast<Padding>(padding), align_corners};
  const Axis axis_x = {input.size(3), static_cast<Padding>(padding), align_corners};
  const bool is_float = input.scalar_type() == ScalarType::Float;
  for (int64_t n = 0; n < sizes[0]; ++n) {
    for (int64_t p = 0; p < sizes[2]; ++p) {
      for (int64_t q = 0; q < sizes[3]; ++q) {
        const int64_t place = n * gs[0] + p * gs[1] + q * gs[2];
        const double x = load(grid.const_data_ptr(), static_cast<size_t>(place));
        const double y = load(grid.const_data_ptr(), static_cast<size_t>(place + gs[3]));
        // All channels are sampled alike.
        Taps taps;
        taps.find(static_cast<Interpolation>(interpolation), axis_y, axis_y.unnormalized(y), is[2],
                  axis_x, axis_x.unnormalized(x), is[3]);
        const int64_t from = n * is[0], to = n * os[0] + p * os[2] + q * os[3];
        for (int64_t c = 0; c < sizes[1]; ++c) {
          double sum = taps.start;
          if (is_float) {
            const float* plane = input.const_data_ptr<float>() + from + c * is[1];
            for (int i = 0; i < taps.count; ++i) sum += taps.weight[i] * plane[taps.offset[i]];
            out.mutable_data_ptr<float>()[to + c * os[1]] = static_cast<float>(sum);
            continue;
          }
          for (int i = 0; i < taps.count; ++i) {
            sum += taps.weight[i] * load(input.const_data_ptr(),
                                         static_cast<size_t>(from + c * is[1] + taps.offset[i]));
          }
          store(out.mutable_data_ptr(), static_cast<size_t>(to + c * os[1]), sum);
        }
      }
    }
  }
}

}  // namespace petrel::runtime::portable
