// SPDX-License-Identifier: Apache-2.0
//
// Pooling over windows of the last two dimensions of [N, C, H, W] or [C, H, W].
//
//   padded input   . . . . . .        ceil_mode lets a last window hang over the
//                  . x x x x .        end, as long as it starts inside the input
//                  . x x x x .        or its left padding
//                  . . . . . .
#include <algorithm>

#include "runtime/kernels/portable/check.h"

namespace petrel::runtime::portable {
namespace {

struct Range {
  int64_t begin, end;
};

struct Window {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;

  // Output size for an input of `in`; below 1 when the window does not fit, or there is
  // nothing but padding.
  int64_t output_size(int64_t in, bool ceil_mode) const {
    // In ceil mode a window may hang over, even the only one.
    const int64_t room =
        in + 2 * padding - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
    if (in < 1 || room < 0) return 0;
    int64_t out = room / stride + 1;
    if (ceil_mode && (out - 1) * stride >= in + padding) --out;
    return out;
  }

  // How many elements of an input of `in` a window goes over, at most.
  int64_t taps(int64_t in) const { return std::min(kernel, in); }

  // The part of window number `i` inside an input of `in`: its first element
  // and its end; elements are `dilation` apart.
  Range inside(int64_t i, int64_t in) const {
    const int64_t start = i * stride - padding;
    const int64_t end = std::min(start + (kernel - 1) * dilation + 1, in);
    if (start >= 0) return {start, end};
    const int64_t skipped = (-start + dilation - 1) / dilation;
    return {start + skipped * dilation, end};
  }
};

// One number for both dimensions, one for each, or none (then `fallback`).
bool read_list(KernelRuntimeContext& context, Span<const int64_t> list, int64_t least,
               const int64_t fallback[2], int64_t out[2]) {
  if (list.size() > 2) return fail(context, "a list of the window has more than 2 numbers");
  for (size_t d = 0; d < 2; ++d) {
    out[d] = list.empty() ? fallback[d] : list[list.size() == 1 ? 0 : d];
    if (out[d] < least || out[d] > INT32_MAX) {
      PETREL_LOG(Error, "%s: a window parameter is %lld, must be in [%lld, 2^31)",
                 context.kernel_name(), static_cast<long long>(out[d]),
                 static_cast<long long>(least));
      context.fail(Error::InvalidArgument);
      return false;
    }
  }
  return true;
}

bool read_windows(KernelRuntimeContext& context, Span<const int64_t> kernel,
                  Span<const int64_t> stride, Span<const int64_t> padding,
                  Span<const int64_t> dilation, Window out[2]) {
  const int64_t one[2] = {1, 1};
  const int64_t zero[2] = {0, 0};
  int64_t k[2], s[2], p[2], d[2];
  if (!check(context, !kernel.empty(), "the kernel size is missing") ||
      !read_list(context, kernel, 1, one, k) || !read_list(context, stride, 1, k, s) ||
      !read_list(context, padding, 0, zero, p) || !read_list(context, dilation, 1, one, d)) {
    return false;
  }
  for (size_t i = 0; i < 2; ++i) {
    if (!check(context, p[i] <= k[i] / 2, "padding is more than half the kernel")) return false;
    out[i] = {k[i], s[i], p[i], d[i]};
  }
  return true;
}

bool resize_pooled(KernelRuntimeContext& context, const Tensor& self, const Tensor& out,
                   int64_t height, int64_t width) {
  if (!check(context, height >= 1 && width >= 1 && height <= INT32_MAX && width <= INT32_MAX,
             "the window does not fit the padded input")) {
    return false;
  }
  SizeArray sizes(self.sizes());
  sizes[sizes.rank - 2] = static_cast<SizesType>(height);
  sizes[sizes.rank - 1] = static_cast<SizesType>(width);
  return resize_one_out(context, out, sizes.span());
}

// Calls fn(offset of the plane in `self`, offset in `out`) for every batch and
// channel.
template <typename Fn>
void for_each_plane(const Tensor& self, const Tensor& out, Fn fn) {
  const size_t leading = static_cast<size_t>(self.dim()) - 2;
  StridedLoop<2> loop(Span<const SizesType>(self.sizes().data(), leading));
  loop.strides_of(0, {self.sizes().data(), leading}, {self.strides().data(), leading});
  loop.strides_of(1, {out.sizes().data(), leading}, {out.strides().data(), leading});
  loop.run([&](const int64_t* at) { fn(at[0], at[1]); });
}

bool check_input(KernelRuntimeContext& context, const Tensor& self, const Tensor& out) {
  return check(context, self.dim() == 3 || self.dim() == 4, "input must have rank 3 or 4") &&
         check_arithmetic(context, self) && check_same_type(context, self, out);
}

}  // namespace

// max_pool2d_with_indices.out(Tensor self, int[2] kernel_size, int[2] stride,
//   int[2] padding, int[2] dilation, bool ceil_mode, *, out, indices)
void max_pool2d_with_indices_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 8);
  const Tensor self = args.tensor(0);
  Window window[2];
  const Span<const int64_t> kernel = args.int_list(1);
  const Span<const int64_t> stride = args.int_list(2);
  const Span<const int64_t> padding = args.int_list(3);
  const Span<const int64_t> dilation = args.int_list(4);
  const bool ceil_mode = args.boolean(5);
  const Tensor out = args.out(6);
  const Tensor indices = args.out(7);
  if (!args.ok() || !check_input(context, self, out) ||
      !read_windows(context, kernel, stride, padding, dilation, window) ||
      !check(context, indices.scalar_type() == ScalarType::Long, "indices must be int64")) {
    return;
  }
  const size_t hd = static_cast<size_t>(self.dim()) - 2;
  const int64_t in_h = self.sizes()[hd];
  const int64_t in_w = self.sizes()[hd + 1];
  const int64_t height = window[0].output_size(in_h, ceil_mode);
  const int64_t width = window[1].output_size(in_w, ceil_mode);
  if (!resize_pooled(context, self, out, height, width) ||
      !resize_pooled(context, self, indices, height, width) ||
      !check_contiguous(context, indices) ||
      !charge_each(context, out, window[0].taps(in_h) * window[1].taps(in_w))) {
    return;
  }
  const auto load = loader<double>(self.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  const int64_t sh = self.strides()[hd], sw = self.strides()[hd + 1];
  const int64_t oh = out.strides()[hd], ow = out.strides()[hd + 1];
  int64_t* index_out = indices.mutable_data_ptr<int64_t>();
  for_each_plane(self, out, [&](int64_t in_at, int64_t out_at) {
    for (int64_t p = 0; p < height; ++p) {
      for (int64_t q = 0; q < width; ++q) {
        double best = -std::numeric_limits<double>::infinity();
        const Range rows = window[0].inside(p, in_h);
        const Range columns = window[1].inside(q, in_w);
        // A window of padding alone has the place where it would begin, as in eager.
        int64_t best_index = rows.begin * in_w + columns.begin;
        bool is_first = true;
        for (int64_t h = rows.begin; h < rows.end; h += window[0].dilation) {
          for (int64_t w = columns.begin; w < columns.end; w += window[1].dilation) {
            const double v =
                load(self.const_data_ptr(), static_cast<size_t>(in_at + h * sh + w * sw));
            if (is_first || v > best || v != v) {
              best = v;
              best_index = h * in_w + w;
            }
            is_first = false;
          }
        }
        store(out.mutable_data_ptr(), static_cast<size_t>(out_at + p * oh + q * ow), best);
        *index_out++ = best_index;
      }
    }
  });
}

// avg_pool2d.out(Tensor self, int[2] kernel_size, int[2] stride, int[2] padding,
//   bool ceil_mode, bool count_include_pad, int? divisor_override, *, out)
void avg_pool2d_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 8);
  const Tensor self = args.tensor(0);
  Window window[2];
  const Span<const int64_t> kernel = args.int_list(1);
  const Span<const int64_t> stride = args.int_list(2);
  const Span<const int64_t> padding = args.int_list(3);
  const bool ceil_mode = args.boolean(4);
  const bool count_include_pad = args.boolean(5);
  const std::optional<int64_t> divisor = args.optional_integer(6);
  const Tensor out = args.out(7);
  if (!args.ok() || !check_input(context, self, out) ||
      !read_windows(context, kernel, stride, padding, {}, window) ||
      !check(context, !divisor || *divisor != 0, "divisor_override is 0")) {
    return;
  }
  const size_t hd = static_cast<size_t>(self.dim()) - 2;
  const int64_t in_h = self.sizes()[hd];
  const int64_t in_w = self.sizes()[hd + 1];
  const int64_t height = window[0].output_size(in_h, ceil_mode);
  const int64_t width = window[1].output_size(in_w, ceil_mode);
  if (!resize_pooled(context, self, out, height, width) ||
      !charge_each(context, out, window[0].taps(in_h) * window[1].taps(in_w))) {
    return;
  }
  const auto load = loader<double>(self.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  const int64_t sh = self.strides()[hd], sw = self.strides()[hd + 1];
  const int64_t oh = out.strides()[hd], ow = out.strides()[hd + 1];
  const auto clip = [](int64_t v, int64_t limit) { return v < 0 ? 0 : v > limit ? limit : v; };
  for_each_plane(self, out, [&](int64_t in_at, int64_t out_at) {
    for (int64_t p = 0; p < height; ++p) {
      const int64_t top = p * window[0].stride - window[0].padding;
      const int64_t bottom_padded = std::min(top + window[0].kernel, in_h + window[0].padding);
      const int64_t h_begin = clip(top, in_h), h_end = clip(top + window[0].kernel, in_h);
      for (int64_t q = 0; q < width; ++q) {
        const int64_t left = q * window[1].stride - window[1].padding;
        const int64_t right_padded = std::min(left + window[1].kernel, in_w + window[1].padding);
        const int64_t w_begin = clip(left, in_w), w_end = clip(left + window[1].kernel, in_w);
        double sum = 0.0;
        for (int64_t h = h_begin; h < h_end; ++h) {
          for (int64_t w = w_begin; w < w_end; ++w) {
            sum += load(self.const_data_ptr(), static_cast<size_t>(in_at + h * sh + w * sw));
          }
        }
        int64_t count = divisor             ? *divisor
                        : count_include_pad ? (bottom_padded - top) * (right_padded - left)
                                            : (h_end - h_begin) * (w_end - w_begin);
        const double mean = count == 0 ? 0.0 : sum / static_cast<double>(count);
        store(out.mutable_data_ptr(), static_cast<size_t>(out_at + p * oh + q * ow), mean);
      }
    }
  });
}

// _adaptive_avg_pool2d.out(Tensor self, SymInt[2] output_size, *, out): window i
// of n covers [floor(i * in / n), ceil((i + 1) * in / n)).
void adaptive_avg_pool2d_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> size = args.int_list(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_input(context, self, out) ||
      !check(context, size.size() == 2, "output_size must have 2 numbers") ||
      !resize_pooled(context, self, out, size[0], size[1])) {
    return;
  }
  const int64_t height = size[0], width = size[1];
  const size_t hd = static_cast<size_t>(self.dim()) - 2;
  const int64_t in_h = self.sizes()[hd];
  const int64_t in_w = self.sizes()[hd + 1];
  if (!check(context, in_h > 0 && in_w > 0, "the input plane is empty") ||
      !charge_each(
          context, out,
          (in_h / std::max<int64_t>(height, 1) + 2) * (in_w / std::max<int64_t>(width, 1) + 2))) {
    return;
  }
  const auto load = loader<double>(self.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  const int64_t sh = self.strides()[hd], sw = self.strides()[hd + 1];
  const int64_t oh = out.strides()[hd], ow = out.strides()[hd + 1];
  for_each_plane(self, out, [&](int64_t in_at, int64_t out_at) {
    for (int64_t p = 0; p < height; ++p) {
      const int64_t h_begin = p * in_h / height;
      const int64_t h_end = ((p + 1) * in_h + height - 1) / height;
      for (int64_t q = 0; q < width; ++q) {
        const int64_t w_begin = q * in_w / width;
        const int64_t w_end = ((q + 1) * in_w + width - 1) / width;
        double sum = 0.0;
        for (int64_t h = h_begin; h < h_end; ++h) {
          for (int64_t w = w_begin; w < w_end; ++w) {
            sum += load(self.const_data_ptr(), static_cast<size_t>(in_at + h * sh + w * sw));
          }
        }
        store(out.mutable_data_ptr(), static_cast<size_t>(out_at + p * oh + q * ow),
              sum / static_cast<double>((h_end - h_begin) * (w_end - w_begin)));
      }
    }
  });
}

}  // namespace petrel::runtime::portable
