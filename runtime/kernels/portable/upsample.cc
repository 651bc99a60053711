// SPDX-License-Identifier: Apache-2.0
//
// Resizing of the last two dimensions of [N, C, H, W].
//
// Place i of the output lies at scale * (i + 1/2) - 1/2 of the input; with
// align_corners at i * (in - 1) / (out - 1), so that corners meet corners.
#include <cmath>

#include "runtime/kernels/portable/check.h"

namespace petrel::runtime::portable {
namespace {

struct Resize {
  int64_t out[2];
  double scale[2];  // input places per output place, align_corners off
};

// Exactly one of the two lists is given. With factors, the scale is theirs and
// not that of the rounded sizes.
bool read_resize(KernelRuntimeContext& context, const Tensor& input,
                 std::optional<Span<const int64_t>> size, std::optional<Span<const double>> factors,
                 Resize* out) {
  if (!check(context, size.has_value() != factors.has_value(),
             "exactly one of output_size and scale_factors must be given") ||
      !check(context, (size ? size->size() : factors->size()) == 2,
             "output_size or scale_factors must have 2 numbers")) {
    return false;
  }
  for (size_t d = 0; d < 2; ++d) {
    const int64_t in = input.sizes()[2 + d];
    const double wanted = size ? static_cast<double>((*size)[d])
                               : std::floor(static_cast<double>(in) * (*factors)[d]);
    if (!check(context, wanted >= 1.0 && wanted <= INT32_MAX && in > 0,
               "an input or output size is not in [1, 2^31)")) {
      return false;
    }
    out->out[d] = static_cast<int64_t>(wanted);
    out->scale[d] = size ? static_cast<double>(in) / wanted : 1.0 / (*factors)[d];
  }
  return true;
}

bool prepare(KernelRuntimeContext& context, const Tensor& input, const Resize& resize,
             const Tensor& out) {
  const SizesType sizes[] = {input.sizes()[0], input.sizes()[1],
                             static_cast<SizesType>(resize.out[0]),
                             static_cast<SizesType>(resize.out[1])};
  return check_same_type(context, input, out) && check_arithmetic(context, input) &&
         resize_out(context, out, sizes);
}

// The two places around a point, and the weight of the second.
struct Between {
  int64_t low, high;
  double weight;
};

Between between(int64_t i, int64_t in, int64_t out, double scale, bool align_corners) {
  double at = 0.0;
  if (align_corners) {
    if (out > 1)
      at = static_cast<double>(i) * static_cast<double>(in - 1) / static_cast<double>(out - 1);
  } else {
    at = scale * (static_cast<double>(i) + 0.5) - 0.5;
    if (at < 0.0) at = 0.0;
  }
  int64_t low = static_cast<int64_t>(at);
  if (low > in - 1) low = in - 1;
  return {low, low + 1 < in ? low + 1 : low, at - static_cast<double>(low)};
}

// fn(n, c) for every plane.
template <typename Fn>
void for_each_plane(const Tensor& t, Fn fn) {
  for (ssize_t n = 0; n < t.size(0); ++n) {
    for (ssize_t c = 0; c < t.size(1); ++c) fn(n, c);
  }
}

// What is found once per column is kept for this many at a time.
constexpr int64_t kColumns = 128;

// fn(first, count) for pieces of `columns`.
template <typename Fn>
void for_each_piece(int64_t columns, Fn fn) {
  for (int64_t first = 0; first < columns; first += kColumns) {
    fn(first, columns - first < kColumns ? columns - first : kColumns);
  }
}

}  // namespace

// upsample_bilinear2d.vec_out(Tensor input, SymInt[]? output_size,
//   bool align_corners, float[]? scale_factors, *, out)
void upsample_bilinear2d_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor input = args.tensor(0);
  const std::optional<Span<const int64_t>> size = args.optional_int_list(1);
  const bool align_corners = args.boolean(2);
  const std::optional<Span<const double>> factors = args.optional_double_list(3);
  const Tensor out = args.out(4);
  Resize resize;
  if (!args.ok() || !check_rank(context, input, 4) || !check_floating(context, input) ||
      !read_resize(context, input, size, factors, &resize) ||
      !prepare(context, input, resize, out)) {
    return;
  }
  const auto load = loader<double>(input.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  const auto is = input.strides(), os = out.strides();
  const bool is_float = input.scalar_type() == ScalarType::Float;
  Between columns[kColumns];
  for_each_piece(resize.out[1], [&](int64_t first, int64_t count) {
    for (int64_t q = 0; q < count; ++q) {
      columns[q] = between(first + q, input.size(3), resize.out[1], resize.scale[1], align_corners);
    }
    for_each_plane(input, [&](ssize_t n, ssize_t c) {
      const int64_t base = n * is[0] + c * is[1];
      for (int64_t p = 0; p < resize.out[0]; ++p) {
        const Between h = between(p, input.size(2), resize.out[0], resize.scale[0], align_corners);
        const int64_t low = base + h.low * is[2], high = base + h.high * is[2];
        const int64_t to = n * os[0] + c * os[1] + p * os[2] + first * os[3];
        const auto row = [&](const auto& at, const auto& put) {
          for (int64_t q = 0; q < count; ++q) {
            const Between& w = columns[q];
            const double top =
                at(low + w.low * is[3]) * (1.0 - w.weight) + at(low + w.high * is[3]) * w.weight;
            const double bottom =
                at(high + w.low * is[3]) * (1.0 - w.weight) + at(high + w.high * is[3]) * w.weight;
            put(to + q * os[3], top * (1.0 - h.weight) + bottom * h.weight);
          }
        };
        if (is_float) {
          const float* x = input.const_data_ptr<float>();
          float* y = out.mutable_data_ptr<float>();
          row([x](int64_t i) { return static_cast<double>(x[i]); },
              [y](int64_t i, double v) { y[i] = static_cast<float>(v); });
          continue;
        }
        row([&](int64_t i) { return load(input.const_data_ptr(), static_cast<size_t>(i)); },
            [&](int64_t i, double v) { store(out.mutable_data_ptr(), static_cast<size_t>(i), v); });
      }
    });
  });
}

// upsample_nearest2d.vec_out(Tensor input, SymInt[]? output_size,
//   float[]? scale_factors, *, out)
void upsample_nearest2d_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor input = args.tensor(0);
  const std::optional<Span<const int64_t>> size = args.optional_int_list(1);
  const std::optional<Span<const double>> factors = args.optional_double_list(2);
  const Tensor out = args.out(3);
  Resize resize;
  if (!args.ok() || !check_rank(context, input, 4) ||
      !read_resize(context, input, size, factors, &resize) ||
      !prepare(context, input, resize, out)) {
    return;
  }
  const auto is = input.strides(), os = out.strides();
  const auto nearest = [&](int64_t i, size_t d) {
    const int64_t last = input.sizes()[2 + d] - 1;
    // Single precision, as PyTorch computes the place.
    const int64_t at = static_cast<int64_t>(
        std::floor(static_cast<float>(i) * static_cast<float>(resize.scale[d])));
    return at < last ? at : last;
  };
  int64_t places[kColumns];
  for_each_piece(resize.out[1], [&](int64_t first, int64_t count) {
    for (int64_t q = 0; q < count; ++q) places[q] = nearest(first + q, 1) * is[3];
    for_each_plane(input, [&](ssize_t n, ssize_t c) {
      for (int64_t p = 0; p < resize.out[0]; ++p) {
        const int64_t from = n * is[0] + c * is[1] + nearest(p, 0) * is[2];
        const int64_t to = n * os[0] + c * os[1] + p * os[2] + first * os[3];
        const auto pick = [&](auto zero) {
          using T = decltype(zero);
          const T* x = static_cast<const T*>(input.const_data_ptr()) + from;
          T* y = static_cast<T*>(out.mutable_data_ptr()) + to;
          for (int64_t q = 0; q < count; ++q) y[q * os[3]] = x[places[q]];
        };
        switch (out.element_size()) {
          case 1:
            pick(uint8_t{0});
            break;
          case 2:
            pick(uint16_t{0});
            break;
          case 4:
            pick(uint32_t{0});
            break;
          default:
            pick(uint64_t{0});
            break;  // no type with arithmetic is larger
        }
      }
    });
  });
}

namespace {

// The input places that an output place averages when the input shrinks: a
// triangle as wide as the step from one output place to the next.
struct Triangle {
  int64_t first, count;
  double center, inverse_scale;

  Triangle(int64_t i, int64_t in, double scale) {
    const double support = scale > 1.0 ? scale : 1.0;
    center = scale * (static_cast<double>(i) + 0.5);
    inverse_scale = 1.0 / support;
    const auto place = [&](double at) {
      // NaN, of steps without end, goes to the first element.
      if (!(at > 0.0)) return int64_t{0};
      return at >= static_cast<double>(in) ? in : static_cast<int64_t>(at);
    };
    first = place(center - support + 0.5);
    count = place(center + support + 0.5) - first;
  }

  double weight(int64_t k) const {
    const double x = (static_cast<double>(first + k) - center + 0.5) * inverse_scale;
    return x > -1.0 && x < 1.0 ? 1.0 - std::fabs(x) : 0.0;
  }
  double total() const {
    double sum = 0.0;
    for (int64_t k = 0; k < count; ++k) sum += weight(k);
    return sum;
  }
};

}  // namespace

// _upsample_bilinear2d_aa.out(Tensor self, SymInt[2] output_size,
//   bool align_corners, float? scales_h, float? scales_w, *, out)
void upsample_bilinear2d_aa_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 6);
  const Tensor input = args.tensor(0);
  const Span<const int64_t> size = args.int_list(1);
  const bool align_corners = args.boolean(2);
  const std::optional<double> factors[] = {args.optional_real(3), args.optional_real(4)};
  const Tensor out = args.out(5);
  Resize resize;
  if (!args.ok() || !check_rank(context, input, 4) || !check_floating(context, input) ||
      !read_resize(context, input, size, std::nullopt, &resize) ||
      !prepare(context, input, resize, out)) {
    return;
  }
  for (size_t d = 0; d < 2; ++d) {
    const double in = static_cast<double>(input.sizes()[2 + d]);
    if (align_corners) {
      resize.scale[d] =
          resize.out[d] > 1 ? (in - 1.0) / static_cast<double>(resize.out[d] - 1) : 0.0;
    } else if (factors[d] && *factors[d] > 0.0) {
      resize.scale[d] = 1.0 / *factors[d];
    }
  }
  // Windows are about twice as wide as the step, and not wider than the input.
  uint64_t taps[2];
  for (size_t d = 0; d < 2; ++d) {
    const double in = static_cast<double>(input.sizes()[2 + d]);
    taps[d] = static_cast<uint64_t>(std::min(in, 2.0 * resize.scale[d] + 2.0));
  }
  if (!context.charge(out.numel(), taps[0], taps[1])) return;
  const auto load = loader<double>(input.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  const auto is = input.strides(), os = out.strides();
  for_each_plane(input, [&](ssize_t n, ssize_t c) {
    const int64_t base = n * is[0] + c * is[1];
    for (int64_t p = 0; p < resize.out[0]; ++p) {
      const Triangle h(p, input.size(2), resize.scale[0]);
      const double h_total = h.total();
      for (int64_t q = 0; q < resize.out[1]; ++q) {
        const Triangle w(q, input.size(3), resize.scale[1]);
        double sum = 0.0;
        for (int64_t y = 0; y < h.count; ++y) {
          double row = 0.0;
          for (int64_t x = 0; x < w.count; ++x) {
            const int64_t at = base + (h.first + y) * is[2] + (w.first + x) * is[3];
            row += w.weight(x) * load(input.const_data_ptr(), static_cast<size_t>(at));
          }
          sum += h.weight(y) * row;
        }
        store(out.mutable_data_ptr(),
              static_cast<size_t>(n * os[0] + c * os[1] + p * os[2] + q * os[3]),
              sum / (h_total * w.total()));
      }
    }
  });
}

}  // namespace petrel::runtime::portable
