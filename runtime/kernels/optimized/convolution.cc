// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of contiguous tensors in one and two dims; transposed ones
// are in transposed_convolution.cc.
//
//   depthwise (a channel from a channel)   rows of outputs, by padded_plane.h
//   others                                 weights [K, C R S] times windows
//                                          [C R S, P Q], by gemm.h; windows are
//                                          gathered panel by panel while packing
//   half, bfloat16, double                 the same by narrow_matmul.h, double_gemm.h
#include <algorithm>
#include <cstring>

#include "runtime/kernels/optimized/double_gemm.h"
#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/gemm.h"
#include "runtime/kernels/optimized/lent_memory.h"
#include "runtime/kernels/optimized/narrow_floats.h"
#include "runtime/kernels/optimized/narrow_matmul.h"
#include "runtime/kernels/optimized/padded_plane.h"
#include "runtime/kernels/optimized/parallel.h"
#include "runtime/kernels/optimized/transposed_convolution.h"

namespace petrel::runtime::optimized {
namespace {

struct Geometry {
  Axis height, width;
  int64_t batch = 0, channels = 0, out_channels = 0, groups = 1;

  size_t in_plane() const { return static_cast<size_t>(height.in * width.in); }
  size_t out_plane() const { return static_cast<size_t>(height.out * width.out); }
  size_t window() const { return static_cast<size_t>(height.window * width.window); }
  size_t in_group() const { return static_cast<size_t>(channels / groups); }
  size_t out_group() const { return static_cast<size_t>(out_channels / groups); }
};

// Fills a panel (PackPanel) with windows of `input`, that of a group. Row k of the
// panel is one tap of one channel, column j one output element. T is the type
// of elements, or one of their size of which 0 stands for 0.
template <typename T>
void pack_windows_of(const Geometry& g, const T* input, size_t first_row, size_t depth,
                     size_t first_column, size_t columns, size_t width, T* panel) {
  const int64_t row_size = g.width.out;
  const int64_t stride = g.width.stride;
  for (size_t k = 0; k < depth; ++k, panel += width) {
    const int64_t tap = static_cast<int64_t>((first_row + k) % g.window());
    const T* plane = input + (first_row + k) / g.window() * g.in_plane();
    const int64_t tap_y = tap / g.width.window, tap_x = tap % g.width.window;
    int64_t first_valid = 0, last_valid = 0;
    g.width.outputs_of(tap_x, &first_valid, &last_valid);
    int64_t p = static_cast<int64_t>(first_column) / row_size;
    int64_t q = static_cast<int64_t>(first_column) % row_size;
    T* to = panel;
    for (int64_t left = static_cast<int64_t>(columns); left > 0; q = 0, ++p) {
      const int64_t end = std::min(row_size, q + left);
      left -= end - q;
      const int64_t y = p * g.height.stride - g.height.padding + tap_y * g.height.dilation;
      const bool exists = y >= 0 && y < g.height.in;
      // Zeros, elements, zeros.
      const int64_t begin_data = exists ? std::clamp(first_valid, q, end) : end;
      const int64_t end_data = exists ? std::clamp(last_valid, begin_data, end) : end;
      for (; q < begin_data; ++q) *to++ = T{0};
      const T* from =
          plane + y * g.width.in + q * stride - g.width.padding + tap_x * g.width.dilation;
      if (stride == 1) {
        for (int64_t i = 0; i < end_data - q; ++i) to[i] = from[i];
      } else {
        for (int64_t i = 0; i < end_data - q; ++i) to[i] = from[i * stride];
      }
      to += end_data - q;
      for (q = end_data; q < end; ++q) *to++ = T{0};
    }
  }
}

// PackPanel for floats: job.b is the input of a group, job.source the Geometry.
void pack_windows(const GemmJob& job, size_t first_row, size_t depth, size_t first_column,
                  size_t columns, size_t width, float* panel) {
  pack_windows_of(*static_cast<const Geometry*>(job.source), job.b, first_row, depth, first_column,
                  columns, width, panel);
}

// The same for products that are not of floats.
template <typename T>
struct Source {
  const Geometry* g;
  const T* input;
};
template <typename T>
void pack_source(const void* source, size_t first_row, size_t depth, size_t first_column,
                 size_t columns, size_t width, T* panel) {
  const Source<T>& from = *static_cast<const Source<T>*>(source);
  pack_windows_of(*from.g, from.input, first_row, depth, first_column, columns, width, panel);
}

// Convolutions of half, bfloat16 and double, a product per group; false when
// windows are too deep for narrow_gemm(). `Product` is that of T.
template <typename T, typename Product, typename Multiply>
bool multiply_others(const Geometry& g, const Tensor& input, const Tensor& weight,
                     const std::optional<Tensor>& bias, const Tensor& out, Product product,
                     const Multiply& multiply) {
  product.rows = g.out_group();
  product.columns = g.out_plane();
  product.depth = g.in_group() * g.window();
  product.pack = &pack_source<T>;
  for (size_t i = 0; i < static_cast<size_t>(g.batch * g.groups); ++i) {
    const size_t group = i % static_cast<size_t>(g.groups);
    const Source<T> source = {
        &g, static_cast<const T*>(input.const_data_ptr()) + i * g.in_group() * g.in_plane()};
    product.source = &source;
    using A = decltype(product.a);
    product.a = static_cast<A>(static_cast<const void*>(
        static_cast<const T*>(weight.const_data_ptr()) + group * product.rows * product.depth));
    if (bias) {
      product.column_bias = static_cast<A>(static_cast<const void*>(
          static_cast<const T*>(bias->const_data_ptr()) + group * product.rows));
    }
    using C = decltype(product.c);
    product.c = static_cast<C>(static_cast<void*>(static_cast<T*>(out.mutable_data_ptr()) +
                                                  i * product.rows * product.columns));
    if (!multiply(product)) return false;
  }
  return true;
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

// Planes [begin, end) of the output of a depthwise convolution.
void depthwise_planes(const Call& call, const PaddedPlane& padded, float* buffer, size_t begin,
                      size_t end) {
  const Geometry& g = call.g;
  size_t offset[PaddedPlane::kTaps];
  padded.find_offsets(offset);
  for (size_t i = begin; i < end; ++i) {
    const size_t k = i % static_cast<size_t>(g.out_channels);
    const size_t n = i / static_cast<size_t>(g.out_channels);
    const float* plane =
        call.input + (n * static_cast<size_t>(g.channels) + k / g.out_group()) * g.in_plane();
    for (int64_t p = 0; p < g.height.out; p += padded.band()) {
      padded.fill(plane, p, 0.0f, buffer);
      weighted_rows(buffer, padded.row(), offset, call.weight + k * g.window(), g.window(),
                    call.bias != nullptr ? call.bias[k] : 0.0f,
                    call.out + i * g.out_plane() + static_cast<size_t>(p * g.width.out),
                    static_cast<size_t>(std::min(padded.band(), g.height.out - p)),
                    static_cast<size_t>(g.width.out));
    }
  }
}

bool is_plain(const Tensor& tensor, ScalarType type) {
  return tensor.scalar_type() == type && is_contiguous(tensor);
}

bool convolve(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 10);
  const Tensor input = args.tensor(0);
  const Tensor weight = args.tensor(1);
  const std::optional<Tensor> bias = args.optional_tensor(2);
  const Span<const int64_t> stride = args.int_list(3);
  const Span<const int64_t> padding = args.int_list(4);
  const Span<const int64_t> dilation = args.int_list(5);
  const bool transposed = args.boolean(6);
  static_cast<void>(args.int_list(7));  // of transposed ones alone, but a list
  const int64_t groups = args.integer(8);
  const Tensor out = args.out(9);
  if (!args.ok()) return true;
  const ssize_t rank = input.dim();
  const ScalarType type = input.scalar_type();
  if (transposed || (rank != 3 && rank != 4) || weight.dim() != rank || out.dim() != rank ||
      (type != ScalarType::Float && type != ScalarType::Double && !is_narrow(type)) ||
      !is_plain(input, type) || !is_plain(weight, type) || out.scalar_type() != type ||
      (bias && (!is_plain(*bias, type) || bias->dim() != 1 || bias->size(0) != weight.size(0)))) {
    return false;
  }
  Call call;
  Geometry& g = call.g;
  g.batch = input.size(0);
  g.channels = input.size(1);
  g.out_channels = weight.size(0);
  g.groups = groups;
  if (!scratch::read_convolution(input.sizes(), weight.sizes(), stride, padding, dilation,
                                 &g.height, &g.width) ||
      groups < 1 || g.channels % groups != 0 || g.out_channels % groups != 0 ||
      weight.size(1) != g.channels / groups) {
    return false;
  }
  using portable::SizesType;
  SizesType sizes[4] = {input.sizes()[0], weight.sizes()[0]};
  if (rank == 4) sizes[2] = static_cast<SizesType>(g.height.out);
  sizes[rank - 1] = static_cast<SizesType>(g.width.out);
  if (resize_tensor(out, {sizes, static_cast<size_t>(rank)}) != Error::Ok || !is_contiguous(out)) {
    return false;
  }
  if (out.numel() == 0 || !context.charge(out.numel(), static_cast<uint64_t>(g.window()),
                                          static_cast<uint64_t>(g.in_group()))) {
    return true;
  }
  if (is_narrow(type)) {
    NarrowProduct product;
    product.type = type;
    return multiply_others<uint16_t>(g, input, weight, bias, out, product, &narrow_gemm);
  }
  if (type == ScalarType::Double) {
    return multiply_others<double>(g, input, weight, bias, out, DoubleProduct(),
                                   [](const DoubleProduct& p) { return double_gemm(p), true; });
  }
  call.input = input.const_data_ptr<float>();
  call.weight = weight.const_data_ptr<float>();
  call.bias = bias ? bias->const_data_ptr<float>() : nullptr;
  call.out = out.mutable_data_ptr<float>();
  const PaddedPlane padded(g.height, g.width);
  if (g.in_group() != 1 || !padded.fits()) {
    multiply_windows(call);
    return true;
  }
  LentMemory<PaddedPlane::kBuffer> memory(context, padded.bytes());
  constexpr double kNanosecondsPerTap = 0.05;
  parallel_for(
      static_cast<size_t>(g.batch * g.out_channels),
      kNanosecondsPerTap * static_cast<double>(g.out_plane() * g.window()),
      [&](size_t begin, size_t end) {
        memory.lend([&](float* buffer) { depthwise_planes(call, padded, buffer, begin, end); });
      });
  return true;
}

}  // namespace

// convolution.out(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride,
//   SymInt[] padding, SymInt[] dilation, bool transposed,
//   SymInt[] output_padding, SymInt groups, *, Tensor(a!) out)
void convolution_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (convolve(context, raw)) return;
  if (!transposed_convolution(context, raw)) portable::convolution_out(context, raw);
}

}  // namespace petrel::runtime::optimized
