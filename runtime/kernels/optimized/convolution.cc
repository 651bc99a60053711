// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of contiguous float tensors in one and two dims, not transposed.
//
//   depthwise (a channel from a channel)   rows of outputs, over padded copies
//   others                                 weights [K, C R S] times windows
//                                          [C R S, P Q], by gemm.h; windows are
//                                          gathered panel by panel while packing
#include <algorithm>
#include <cstring>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/gemm.h"
#include "runtime/kernels/optimized/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/convolution.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

// Output rows of a depthwise convolution over a padded input: out[p, q] is the
// sum of weight[t] * in[p * in_stride + q + offset[t]] over the taps, plus bias.
// Reads up to a vector beyond the last element that counts.
void DepthwiseRows(const float* in, size_t in_stride, const size_t* offset, const float* weight,
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
      const float* from = in + p * in_stride + q;
      V sum0 = start, sum1 = start, sum2 = start, sum3 = start;
      for (size_t t = 0; t < taps; ++t) {
        const V w = hn::Set(d, weight[t]);
        const float* at = from + offset[t];
        sum0 = hn::MulAdd(w, hn::LoadU(d, at), sum0);
        sum1 = hn::MulAdd(w, hn::LoadU(d, at + in_stride), sum1);
        sum2 = hn::MulAdd(w, hn::LoadU(d, at + 2 * in_stride), sum2);
        sum3 = hn::MulAdd(w, hn::LoadU(d, at + 3 * in_stride), sum3);
      }
      store(sum0, p, q);
      store(sum1, p + 1, q);
      store(sum2, p + 2, q);
      store(sum3, p + 3, q);
    }
    for (; p < rows; ++p) {
      const float* from = in + p * in_stride + q;
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
namespace {

HWY_EXPORT(DepthwiseRows);

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

struct Geometry {
  Axis height, width;
  int64_t batch = 0, channels = 0, out_channels = 0, groups = 1;

  size_t in_plane() const { return static_cast<size_t>(height.in * width.in); }
  size_t out_plane() const { return static_cast<size_t>(height.out * width.out); }
  size_t window() const { return static_cast<size_t>(height.window * width.window); }
  size_t in_group() const { return static_cast<size_t>(channels / groups); }
  size_t out_group() const { return static_cast<size_t>(out_channels / groups); }
};

// One number for all dims, or one per dim, of which the last is the width's.
bool read(Span<const int64_t> list, size_t dims, int64_t least, int64_t* height, int64_t* width) {
  if (list.size() != 1 && list.size() != dims) return false;
  for (const int64_t v : list) {
    if (v < least || v > INT32_MAX) return false;
  }
  if (dims == 2) *height = list[0];
  *width = list[list.size() - 1];
  return true;
}

// PackPanel for windows: job.b is the input of a group, job.source the Geometry.
// Row k of the panel is one tap of one channel, column j one output element.
void pack_windows(const GemmJob& job, size_t first_row, size_t depth, size_t first_column,
                  size_t columns, size_t width, float* panel) {
  const Geometry& g = *static_cast<const Geometry*>(job.source);
  const int64_t row_size = g.width.out;
  const int64_t stride = g.width.stride;
  for (size_t k = 0; k < depth; ++k, panel += width) {
    const int64_t tap = static_cast<int64_t>((first_row + k) % g.window());
    const float* plane = job.b + (first_row + k) / g.window() * g.in_plane();
    const int64_t tap_y = tap / g.width.window, tap_x = tap % g.width.window;
    int64_t first_valid = 0, last_valid = 0;
    g.width.outputs_of(tap_x, &first_valid, &last_valid);
    int64_t p = static_cast<int64_t>(first_column) / row_size;
    int64_t q = static_cast<int64_t>(first_column) % row_size;
    float* to = panel;
    for (int64_t left = static_cast<int64_t>(columns); left > 0; q = 0, ++p) {
      const int64_t end = std::min(row_size, q + left);
      left -= end - q;
      const int64_t y = p * g.height.stride - g.height.padding + tap_y * g.height.dilation;
      const bool exists = y >= 0 && y < g.height.in;
      // Zeros, elements, zeros.
      const int64_t begin_data = exists ? std::clamp(first_valid, q, end) : end;
      const int64_t end_data = exists ? std::clamp(last_valid, begin_data, end) : end;
      for (; q < begin_data; ++q) *to++ = 0.0f;
      const float* from =
          plane + y * g.width.in + q * stride - g.width.padding + tap_x * g.width.dilation;
      if (stride == 1) {
        for (int64_t i = 0; i < end_data - q; ++i) to[i] = from[i];
      } else {
        for (int64_t i = 0; i < end_data - q; ++i) to[i] = from[i * stride];
      }
      to += end_data - q;
      for (q = end_data; q < end; ++q) *to++ = 0.0f;
    }
  }
}

struct Call {
  Geometry g;
  const float* input;
  const float* weight;
  const float* bias;  // may be null
  float* out;
};

void select_group(const void* context, size_t i, GemmJob* job) {
  const Call& call = *static_cast<const Call*>(context);
  const Geometry& g = call.g;
  const size_t group = i % static_cast<size_t>(g.groups);
  job->a = call.weight + group * g.out_group() * job->depth;
  job->b = call.input + i * g.in_group() * g.in_plane();
  job->c = call.out + i * g.out_group() * g.out_plane();
  if (call.bias != nullptr) job->column_bias = call.bias + group * g.out_group();
}

void multiply_windows(const Call& call) {
  const Geometry& g = call.g;
  GemmJob job;
  job.rows = g.out_group();
  job.columns = g.out_plane();
  job.depth = g.in_group() * g.window();
  job.a_stride = job.depth;
  job.c_stride = job.columns;
  const bool is_plain = g.window() == 1 && g.height.stride == 1 && g.width.stride == 1 &&
                        g.height.padding == 0 && g.width.padding == 0;
  job.pack = is_plain ? &pack_rows : &pack_windows;
  job.b_stride = g.in_plane();
  job.source = &g;
  gemm_batch(job, static_cast<size_t>(g.batch * g.groups), &select_group, &call);
}

// A depthwise convolution, plane by plane and band by band. The part of the
// input that a band reads is copied with its padding and, for strides above 1,
// sorted by the remainder of its coordinates, so that every tap reads a
// rectangle with steps of one:
//
//   stride 2:   a b c d        a c | b d       tap [0, 0] reads rectangle 0,
//               e f g h   ->   i k | j l       tap [0, 1] rectangle 1,
//               i j k l        ----+----       tap [2, 0] rectangle 0, one row down
//               m n o p        e g | f h
//                              m o | n p
class Depthwise {
 public:
  explicit Depthwise(const Call& call) : call_(call), g_(call.g) {
    const Axis &y = g_.height, &x = g_.width;
    columns_ = static_cast<size_t>((x.out - 1) + ((x.window - 1) * x.dilation) / x.stride + 1);
    const int64_t phases = y.stride * x.stride;
    const int64_t reach = (y.window - 1) * y.dilation / y.stride + 1;
    const int64_t rows = static_cast<int64_t>(kBuffer - kSlack) /
                         std::max<int64_t>(phases * static_cast<int64_t>(columns_), 1);
    band_ = std::min(rows - reach + 1, y.out);
    rows_ = static_cast<size_t>(std::max<int64_t>(band_ + reach - 1, 0));
  }

  // False when not even one row of output fits the buffers.
  bool fits() const {
    return g_.window() <= kTaps && g_.height.stride <= kStride && g_.width.stride <= kStride &&
           band_ >= 1;
  }

  // Planes [begin, end) of the output.
  void run(size_t begin, size_t end) const {
    const Axis &y = g_.height, &x = g_.width;
    alignas(64) float buffer[kBuffer];
    size_t offset[kTaps];
    for (int64_t r = 0; r < y.window; ++r) {
      for (int64_t s = 0; s < x.window; ++s) {
        offset[r * x.window + s] = place(r * y.dilation, s * x.dilation);
      }
    }
    for (size_t i = begin; i < end; ++i) {
      const size_t k = i % static_cast<size_t>(g_.out_channels);
      const size_t n = i / static_cast<size_t>(g_.out_channels);
      const float* plane = call_.input + (n * static_cast<size_t>(g_.channels) +
                                          k / g_.out_group()) * g_.in_plane();
      for (int64_t p = 0; p < y.out; p += band_) {
        const int64_t rows = std::min(band_, y.out - p);
        fill(plane, p, buffer);
        HWY_DYNAMIC_DISPATCH(DepthwiseRows)
        (buffer, columns_, offset, call_.weight + k * g_.window(), g_.window(),
         call_.bias != nullptr ? call_.bias[k] : 0.0f,
         call_.out + i * g_.out_plane() + static_cast<size_t>(p * x.out),
         static_cast<size_t>(rows), static_cast<size_t>(x.out));
      }
    }
  }

 private:
  static constexpr size_t kBuffer = 16384;  // floats
  static constexpr size_t kSlack = 32;      // what vectors read beyond the end
  static constexpr size_t kTaps = 128;
  static constexpr int64_t kStride = 8;

  // Where the element [y, x] of the padded band lies.
  size_t place(int64_t y, int64_t x) const {
    const int64_t phase =
        y % g_.height.stride * g_.width.stride + x % g_.width.stride;
    return (static_cast<size_t>(phase) * rows_ + static_cast<size_t>(y / g_.height.stride)) *
               columns_ + static_cast<size_t>(x / g_.width.stride);
  }

  // The padded input of the output rows from p on.
  void fill(const float* plane, int64_t p, float* buffer) const {
    const Axis &y = g_.height, &x = g_.width;
    const size_t used = static_cast<size_t>(y.stride * x.stride) * rows_ * columns_ + kSlack;
    std::memset(buffer, 0, used * sizeof(float));
    const int64_t height = static_cast<int64_t>(rows_) * y.stride;
    const int64_t width = static_cast<int64_t>(columns_) * x.stride;
    for (int64_t row = 0; row < height; ++row) {
      const int64_t from_row = p * y.stride - y.padding + row;
      if (from_row < 0 || from_row >= y.in) continue;
      const float* from = plane + from_row * x.in;
      for (int64_t phase = 0; phase < x.stride; ++phase) {
        // Columns phase, phase + stride, ... of the padded row that exist.
        int64_t column = phase;
        while (column < x.padding) column += x.stride;
        if (column >= width) continue;
        float* to = buffer + place(row, column);
        const int64_t end = std::min(width, x.in + x.padding);
        if (x.stride == 1) {
          if (end > column) {
            std::memcpy(to, from + column - x.padding,
                        static_cast<size_t>(end - column) * sizeof(float));
          }
          continue;
        }
        for (; column < end; column += x.stride) *to++ = from[column - x.padding];
      }
    }
  }

  const Call& call_;
  const Geometry& g_;
  size_t columns_ = 0;  // of a rectangle
  size_t rows_ = 0;
  int64_t band_ = 0;  // output rows at a time
};

bool is_plain(const Tensor& tensor) { return is_float(tensor) && is_contiguous(tensor); }

bool convolve(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 10);
  const Tensor input = args.tensor(0);
  const Tensor weight = args.tensor(1);
  const std::optional<Tensor> bias = args.optional_tensor(2);
  const Span<const int64_t> stride = args.int_list(3);
  const Span<const int64_t> padding = args.int_list(4);
  const Span<const int64_t> dilation = args.int_list(5);
  const bool transposed = args.boolean(6);
  const int64_t groups = args.integer(8);
  const Tensor out = args.out(9);
  if (!args.ok()) return true;
  const ssize_t rank = input.dim();
  if (transposed || (rank != 3 && rank != 4) || weight.dim() != rank || out.dim() != rank ||
      !is_plain(input) || !is_plain(weight) || !is_float(out) ||
      (bias && (!is_plain(*bias) || bias->dim() != 1 || bias->size(0) != weight.size(0)))) {
    return false;
  }
  Call call;
  Geometry& g = call.g;
  g.batch = input.size(0);
  g.channels = input.size(1);
  g.out_channels = weight.size(0);
  g.groups = groups;
  if (rank == 4) {
    g.height.in = input.size(2);
    g.height.window = weight.size(2);
  }
  g.width.in = input.size(rank - 1);
  g.width.window = weight.size(rank - 1);
  const size_t dims = static_cast<size_t>(rank) - 2;
  if (!read(stride, dims, 1, &g.height.stride, &g.width.stride) ||
      !read(padding, dims, 0, &g.height.padding, &g.width.padding) ||
      !read(dilation, dims, 1, &g.height.dilation, &g.width.dilation) || groups < 1 ||
      g.channels % groups != 0 || g.out_channels % groups != 0 ||
      weight.size(1) != g.channels / groups || g.height.window < 1 || g.width.window < 1 ||
      !g.height.find_out() || !g.width.find_out() || g.height.out > INT32_MAX ||
      g.width.out > INT32_MAX) {
    return false;
  }
  using portable::SizesType;
  SizesType sizes[4] = {input.sizes()[0], weight.sizes()[0]};
  if (rank == 4) sizes[2] = static_cast<SizesType>(g.height.out);
  sizes[rank - 1] = static_cast<SizesType>(g.width.out);
  if (resize_tensor(out, {sizes, static_cast<size_t>(rank)}) != Error::Ok || !is_contiguous(out)) {
    return false;
  }
  if (out.numel() == 0) return true;
  call.input = input.const_data_ptr<float>();
  call.weight = weight.const_data_ptr<float>();
  call.bias = bias ? bias->const_data_ptr<float>() : nullptr;
  call.out = out.mutable_data_ptr<float>();
  const Depthwise depthwise(call);
  if (g.in_group() != 1 || !depthwise.fits()) {
    multiply_windows(call);
    return true;
  }
  constexpr double kNanosecondsPerTap = 0.05;
  parallel_for(static_cast<size_t>(g.batch * g.out_channels),
               kNanosecondsPerTap * static_cast<double>(g.out_plane() * g.window()),
               [&](size_t begin, size_t end) { depthwise.run(begin, end); });
  return true;
}

}  // namespace

// convolution.out(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride,
//   SymInt[] padding, SymInt[] dilation, bool transposed,
//   SymInt[] output_padding, SymInt groups, *, Tensor(a!) out)
void convolution_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!convolve(context, raw)) portable::convolution_out(context, raw);
}

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
