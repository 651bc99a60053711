// SPDX-License-Identifier: Apache-2.0
//
// convolution.out(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride,
//   SymInt[] padding, SymInt[] dilation, bool transposed,
//   SymInt[] output_padding, SymInt groups, *, Tensor(a!) out)
//
// One and two spatial dimensions; one is read as two of which the first is 1.
//
//   input  [N, C, H, W]      weight [K, C / groups, R, S]     out [N, K, P, Q]
//   out[n, k, p, q] = bias[k] + sum over c, r, s of
//     input[n, c, p * stride - pad + r * dilation, ...] * weight[k, c, r, s]
//
// Transposed: weight is [C, K / groups, R, S], and each input element adds
// weight[c, k] to the window of the output that starts at h * stride - pad.
// Written as a sum over the inputs that reach an output element.
#include "runtime/kernels/portable/check.h"

namespace petrel::runtime::portable {
namespace {

// Sizes and strides of a tensor as [batch, channel, height, width].
struct Plane {
  int64_t size[4];
  int64_t stride[4];

  explicit Plane(const Tensor& t) {
    const bool flat = t.dim() == 3;
    for (ssize_t from = 0, to = 0; from < t.dim(); ++from, ++to) {
      if (flat && from == 2) to = 3;
      size[to] = t.size(from);
      stride[to] = t.strides()[static_cast<size_t>(from)];
    }
    if (flat) {
      size[2] = 1;
      stride[2] = 0;
    }
  }

  size_t at(int64_t a, int64_t b, int64_t c, int64_t d) const {
    return static_cast<size_t>(a * stride[0] + b * stride[1] + c * stride[2] + d * stride[3]);
  }
};

// stride, padding, ... for height and width.
struct Pair {
  int64_t height, width;
};

// A list of one number for all dimensions, or one per dimension; one
// dimension stands for the width.
bool read_pair(KernelRuntimeContext& context, Span<const int64_t> list, bool flat, int64_t least,
               int64_t neutral, Pair* out) {
  const size_t wanted = flat ? 1 : 2;
  if (list.size() != 1 && list.size() != wanted) {
    return fail(context, "a list of the convolution has the wrong length");
  }
  out->height = flat ? neutral : list[0];
  out->width = list[list.size() - 1];
  for (const int64_t v : {out->height, out->width}) {
    if (v < least || v > INT32_MAX) {
      PETREL_LOG(Error, "%s: a parameter is %lld, must be in [%lld, 2^31)", context.kernel_name(),
                 static_cast<long long>(v), static_cast<long long>(least));
      context.fail(Error::InvalidArgument);
      return false;
    }
  }
  return true;
}

struct Geometry {
  Pair stride, padding, dilation, output_padding;
  bool transposed;
  int64_t groups;

  // Size of the output along one dimension; below 0 when the window does not
  // fit.
  int64_t output_size(int64_t in, int64_t kernel, int64_t s, int64_t p, int64_t d,
                      int64_t extra) const {
    const int64_t window = d * (kernel - 1) + 1;
    if (transposed) return (in - 1) * s - 2 * p + window + extra;
    if (in + 2 * p < window) return -1;
    return (in + 2 * p - window) / s + 1;
  }
};

// C is what sums are computed in: double, or for integers uint64_t, which wraps.
template <typename C>
class Convolution {
 public:
  Convolution(const Geometry& geometry, const Tensor& input, const Tensor& weight,
              const std::optional<Tensor>& bias, const Tensor& out)
      : g_(geometry),
        in_(input),
        w_(weight),
        out_(out),
        input_(input.const_data_ptr()),
        weight_(weight.const_data_ptr()),
        load_(loader<C>(input.scalar_type())),
        store_(storer<C>(out.scalar_type())),
        bias_(bias),
        target_(out.mutable_data_ptr()) {}

  void run() const {
    const int64_t out_per_group = out_.size[1] / g_.groups;
    for (int64_t n = 0; n < out_.size[0]; ++n) {
      for (int64_t k = 0; k < out_.size[1]; ++k) {
        const int64_t group = k / out_per_group;
        const C start =
            bias_ ? load_(bias_->const_data_ptr(), static_cast<size_t>(k * bias_->strides()[0]))
                  : C{0};
        for (int64_t p = 0; p < out_.size[2]; ++p) {
          for (int64_t q = 0; q < out_.size[3]; ++q) {
            const C sum = start + (g_.transposed ? gather_transposed(n, k, group, p, q)
                                                 : gather(n, k, group, p, q));
            store_(target_, out_.at(n, k, p, q), sum);
          }
        }
      }
    }
  }

 private:
  C gather(int64_t n, int64_t k, int64_t group, int64_t p, int64_t q) const {
    const int64_t channels = w_.size[1];
    C sum{0};
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t r = 0; r < w_.size[2]; ++r) {
        const int64_t h = p * g_.stride.height - g_.padding.height + r * g_.dilation.height;
        if (h < 0 || h >= in_.size[2]) continue;
        for (int64_t s = 0; s < w_.size[3]; ++s) {
          const int64_t w = q * g_.stride.width - g_.padding.width + s * g_.dilation.width;
          if (w < 0 || w >= in_.size[3]) continue;
          sum += load_(input_, in_.at(n, group * channels + c, h, w)) *
                 load_(weight_, w_.at(k, c, r, s));
        }
      }
    }
    return sum;
  }

  C gather_transposed(int64_t n, int64_t k, int64_t group, int64_t p, int64_t q) const {
    const int64_t in_per_group = in_.size[1] / g_.groups;
    const int64_t k_in_group = k - group * w_.size[1];
    C sum{0};
    for (int64_t r = 0; r < w_.size[2]; ++r) {
      // p = h * stride - padding + r * dilation, solved for h.
      const int64_t h_scaled = p + g_.padding.height - r * g_.dilation.height;
      if (h_scaled < 0 || h_scaled % g_.stride.height != 0) continue;
      const int64_t h = h_scaled / g_.stride.height;
      if (h >= in_.size[2]) continue;
      for (int64_t s = 0; s < w_.size[3]; ++s) {
        const int64_t w_scaled = q + g_.padding.width - s * g_.dilation.width;
        if (w_scaled < 0 || w_scaled % g_.stride.width != 0) continue;
        const int64_t w = w_scaled / g_.stride.width;
        if (w >= in_.size[3]) continue;
        for (int64_t c = 0; c < in_per_group; ++c) {
          const int64_t channel = group * in_per_group + c;
          sum += load_(input_, in_.at(n, channel, h, w)) *
                 load_(weight_, w_.at(channel, k_in_group, r, s));
        }
      }
    }
    return sum;
  }

  const Geometry& g_;
  Plane in_, w_, out_;
  const void* input_;
  const void* weight_;
  Loader<C> load_;
  Storer<C> store_;
  const std::optional<Tensor>& bias_;
  void* target_;
};

}  // namespace

void convolution_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 10);
  const Tensor input = args.tensor(0);
  const Tensor weight = args.tensor(1);
  const std::optional<Tensor> bias = args.optional_tensor(2);
  const Span<const int64_t> stride = args.int_list(3);
  const Span<const int64_t> padding = args.int_list(4);
  const Span<const int64_t> dilation = args.int_list(5);
  Geometry g;
  g.transposed = args.boolean(6);
  const Span<const int64_t> output_padding = args.int_list(7);
  g.groups = args.integer(8);
  const Tensor out = args.out(9);
  if (!args.ok()) return;

  const bool flat = input.dim() == 3;
  if (!check(context, flat || input.dim() == 4, "input must have rank 3 or 4") ||
      !check_rank(context, weight, input.dim()) || !check_arithmetic(context, input) ||
      !check_same_type(context, input, weight) || !check_same_type(context, input, out) ||
      !read_pair(context, stride, flat, 1, 1, &g.stride) ||
      !read_pair(context, padding, flat, 0, 0, &g.padding) ||
      !read_pair(context, dilation, flat, 1, 1, &g.dilation)) {
    return;
  }
  // Only a transposed convolution has it; others may carry an empty list.
  g.output_padding = {0, 0};
  if (g.transposed && !read_pair(context, output_padding, flat, 0, 0, &g.output_padding)) return;

  const Plane in(input);
  const Plane w(weight);
  const int64_t channels = g.transposed ? w.size[0] : w.size[1];
  if (!check(context, g.groups >= 1, "groups must be at least 1") ||
      !check(context, w.size[2] > 0 && w.size[3] > 0, "the kernel is empty") ||
      !check(context, in.size[1] % g.groups == 0 && w.size[0] % g.groups == 0,
             "channels are not a multiple of groups") ||
      !check(context, channels == (g.transposed ? in.size[1] : in.size[1] / g.groups),
             "channels of input and weight differ")) {
    return;
  }
  int64_t out_channels = w.size[0];
  if (g.transposed && !check(context, checked_mul(w.size[1], g.groups, &out_channels),
                             "too many output channels")) {
    return;
  }
  if (bias && (!check_same_type(context, input, *bias) || !check_rank(context, *bias, 1) ||
               !check(context, bias->size(0) == out_channels,
                      "the bias does not match the output channels"))) {
    return;
  }
  const int64_t height = g.output_size(in.size[2], w.size[2], g.stride.height, g.padding.height,
                                       g.dilation.height, g.output_padding.height);
  const int64_t width = g.output_size(in.size[3], w.size[3], g.stride.width, g.padding.width,
                                      g.dilation.width, g.output_padding.width);
  const auto fits = [](int64_t v) { return v >= 0 && v <= INT32_MAX; };
  if (!check(context, fits(height) && fits(width) && fits(out_channels),
             "the window does not fit the padded input")) {
    return;
  }
  const auto narrow = [](int64_t v) { return static_cast<SizesType>(v); };
  const SizesType sizes[] = {narrow(in.size[0]), narrow(out_channels), narrow(height),
                             narrow(width)};
  const SizesType flat_sizes[] = {sizes[0], sizes[1], sizes[3]};
  if (!resize_out(context, out,
                  flat ? Span<const SizesType>(flat_sizes) : Span<const SizesType>(sizes))) {
    return;
  }
  const int64_t taps = w.size[2] * w.size[3];
  const int64_t channels_in_group = (g.transposed ? out_channels : in.size[1]) / g.groups;
  if (!charge_each(context, out, taps) ||
      !context.charge(g.transposed ? input.numel() : out.numel(), static_cast<uint64_t>(taps),
                      static_cast<uint64_t>(channels_in_group))) {
    return;
  }
  if (is_floating(input.scalar_type())) {
    Convolution<double>(g, input, weight, bias, out).run();
  } else {
    Convolution<uint64_t>(g, input, weight, bias, out).run();
  }
}

}  // namespace petrel::runtime::portable
