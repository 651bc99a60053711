// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/transposed_convolution.h"

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/gemm.h"
#include "runtime/kernels/optimized/narrow_floats.h"
#include "runtime/kernels/optimized/parallel.h"

namespace petrel::runtime::optimized {
namespace {

using portable::SizesType;

constexpr int64_t kMostColumns = 8192;  // of an output row, on the stack
constexpr int64_t kMostTaps = 64;       // of a window's row

struct Dim {
  int64_t in = 1, window = 1, out = 1;
  int64_t stride = 1, padding = 0, dilation = 1;
};

// What tap s of a row does: input [first, first + count) goes to the buffer from
// `to` on.
struct Tap {
  int64_t first = 0, count = 0, to = 0;
};

struct Call {
  Dim height, width;
  int64_t channels = 0, in_group = 0, out_group = 0, out_channels = 0;
  int64_t columns = 0;  // of the buffer for one remainder of the stride
  Tap taps[kMostTaps];
  const float* input = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float* out = nullptr;
  // The same of half or bfloat16; then those above are null.
  ScalarType type = ScalarType::Float;
  const void* narrow_input = nullptr;
  const void* narrow_weight = nullptr;
  const void* narrow_bias = nullptr;
  void* narrow_out = nullptr;
};

int64_t divide_down(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

void find_taps(Call* call) {
  const Dim& w = call->width;
  call->columns = (w.out + w.stride - 1) / w.stride;
  for (int64_t s = 0; s < w.window; ++s) {
    const int64_t offset = s * w.dilation - w.padding;
    const int64_t shift = divide_down(offset, w.stride);
    const int64_t rest = offset - shift * w.stride;
    // Columns rest, rest + stride, ... below w.out.
    const int64_t room = rest < w.out ? (w.out - rest + w.stride - 1) / w.stride : 0;
    Tap& tap = call->taps[s];
    tap.first = std::max<int64_t>(0, -shift);
    tap.count = std::max<int64_t>(0, std::min(w.in, room - shift) - tap.first);
    tap.to = rest * call->columns + tap.first + shift;
  }
}

void add_scaled(const float* __restrict from, float factor, float* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

// Planes [begin, end) of the output.
void sum_planes(const Call& call, size_t begin, size_t end) {
  const Dim &h = call.height, &w = call.width;
  float buffer[kMostColumns];
  const int64_t rests = std::min(w.stride, w.out);  // of columns by the stride
  for (size_t i = begin; i < end; ++i) {
    const int64_t n = static_cast<int64_t>(i) / call.out_channels;
    const int64_t k = static_cast<int64_t>(i) % call.out_channels;
    const int64_t group = k / call.out_group;
    const float* input = call.input + (n * call.channels + group * call.in_group) * h.in * w.in;
    const float* weight =
        call.weight +
        (group * call.in_group * call.out_group + k % call.out_group) * h.window * w.window;
    float* out = call.out + static_cast<int64_t>(i) * h.out * w.out;
    for (int64_t p = 0; p < h.out; ++p, out += w.out) {
      std::fill_n(buffer, call.columns * rests, call.bias != nullptr ? call.bias[k] : 0.0f);
      for (int64_t r = 0; r < h.window; ++r) {
        const int64_t scaled = p + h.padding - r * h.dilation;
        if (scaled < 0 || scaled % h.stride != 0 || scaled / h.stride >= h.in) continue;
        const float* row = input + scaled / h.stride * w.in;
        const float* factors = weight + r * w.window;
        for (int64_t c = 0; c < call.in_group; ++c) {
          for (int64_t s = 0; s < w.window; ++s) {
            const Tap& tap = call.taps[s];
            add_scaled(row + tap.first, factors[s], buffer + tap.to, tap.count);
          }
          row += h.in * w.in;
          factors += call.out_group * h.window * w.window;
        }
      }
      for (int64_t rest = 0; rest < rests; ++rest) {
        const float* from = buffer + rest * call.columns;
        for (int64_t q = rest; q < w.out; q += w.stride) out[q] = *from++;
      }
    }
  }
}

// Pixels of the input times the weights of some output channels: every pixel
// gives its window in each of them, which is then added where it belongs.
//
//   pixels [p, channels] x weights [channels, k r s]  ->  windows [p, k r s]
struct Windows {
  static constexpr int64_t kPixels = 96, kColumns = 256;
  static constexpr int64_t kMostPixels = 16384, kMostWindows = kPixels * kColumns;

  const Call& call;
  int64_t area, pixels, group_channels, blocks;  // of a group

  static constexpr int64_t kMostSums = 32768;
  struct Weights {
    ScalarType type;
    const void* data;
    size_t first;
  };

  explicit Windows(const Call& c)
      : call(c),
        area(c.height.window * c.width.window),
        pixels(std::min({kPixels, kMostPixels / c.in_group, kMostWindows / area})),
        group_channels(std::clamp<int64_t>(kColumns / area, 1, c.out_group)),
        blocks(0) {
    if (is_narrow(c.type)) {
      group_channels =
          std::clamp<int64_t>(kMostSums / (c.height.out * c.width.out), 1, group_channels);
    }
    blocks = (c.out_group + group_channels - 1) / group_channels;
  }

  // With few channels rows are faster, which are for floats only. The sums of
  // narrow floats need a plane on the stack.
  static bool fit(const Call& c) {
    const int64_t least_channels = is_narrow(c.type) ? 1 : 8;
    return c.in_group >= least_channels && c.in_group <= kMostPixels &&
           c.height.window * c.width.window <= kMostWindows / 8 &&
           (!is_narrow(c.type) || c.height.out * c.width.out <= kMostSums);
  }

  // A PackPanel that widens; job.source is the Weights.
  static void pack_narrow(const GemmJob& job, size_t first_row, size_t depth, size_t first_column,
                          size_t columns, size_t width, float* panel) {
    const Weights& from = *static_cast<const Weights*>(job.source);
    for (size_t k = 0; k < depth; ++k) {
      widen(from.type, from.data, from.first + (first_row + k) * job.b_stride + first_column,
            panel + k * width, columns);
    }
  }

  // Block `block` of the output channels of image and group `unit`.
  void run(int64_t unit, int64_t block) const {
    const int64_t out_plane = call.height.out * call.width.out;
    const int64_t first = block * group_channels;
    const int64_t count = std::min(group_channels, call.out_group - first);
    const int64_t plane = unit * call.out_group + first;  // of the output
    if (!is_narrow(call.type)) return sum(unit, first, count, call.out + plane * out_plane);
    float sums[kMostSums];
    sum(unit, first, count, sums);
    narrow(sums, call.type, call.narrow_out, static_cast<size_t>(plane * out_plane),
           static_cast<size_t>(count * out_plane));
  }

  // Channels [first, first + count) of the group, into their planes.
  void sum(int64_t unit, int64_t first, int64_t count, float* out) const {
    const Dim &h = call.height, &w = call.width;
    const int64_t groups = call.channels / call.in_group, group = unit % groups;
    const int64_t in_plane = h.in * w.in, out_plane = h.out * w.out;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t channel = group * call.out_group + first + k;
      float bias = call.bias != nullptr ? call.bias[channel] : 0.0f;
      if (call.narrow_bias != nullptr) {
        widen(call.type, call.narrow_bias, static_cast<size_t>(channel), &bias, 1);
      }
      std::fill_n(out + k * out_plane, out_plane, bias);
    }
    float turned[kMostPixels], windows[kMostWindows], row[kPixels];
    const int64_t weight = (group * call.in_group * call.out_group + first) * area;
    const Weights weights = {call.type, call.narrow_weight, static_cast<size_t>(weight)};
    GemmJob job;
    job.columns = static_cast<size_t>(count * area);
    job.depth = static_cast<size_t>(call.in_group);
    job.a = turned, job.a_stride = job.depth;
    job.b_stride = static_cast<size_t>(call.out_group * area);
    if (is_narrow(call.type)) {
      job.pack = &pack_narrow;
      job.source = &weights;
    } else {
      job.pack = &pack_rows;
      job.b = call.weight + weight;
    }
    job.c = windows, job.c_stride = job.columns;
    for (int64_t p = 0; p < in_plane; p += pixels) {
      const int64_t n = std::min(pixels, in_plane - p);
      for (int64_t c = 0; c < call.in_group; ++c) {
        const int64_t at = (unit * call.in_group + c) * in_plane + p;
        const float* from = row;
        if (is_narrow(call.type)) {
          widen(call.type, call.narrow_input, static_cast<size_t>(at), row, static_cast<size_t>(n));
        } else {
          from = call.input + at;
        }
        for (int64_t i = 0; i < n; ++i) turned[i * call.in_group + c] = from[i];
      }
      job.rows = static_cast<size_t>(n);
      gemm_on_this_thread(job);
      for (int64_t i = 0; i < n; ++i) {
        add_windows(windows + i * count * area, count, (p + i) / w.in, (p + i) % w.in, out);
      }
    }
  }

  // The windows of the input pixel [y, x] in `count` output planes.
  void add_windows(const float* from, int64_t count, int64_t y, int64_t x, float* out) const {
    const Dim &h = call.height, &w = call.width;
    const int64_t left = x * w.stride - w.padding;
    const int64_t right = left + (w.window - 1) * w.dilation;
    const bool is_inside = left >= 0 && right < w.out;
    for (int64_t k = 0; k < count; ++k, out += h.out * w.out) {
      for (int64_t r = 0; r < h.window; ++r, from += w.window) {
        const int64_t row = y * h.stride - h.padding + r * h.dilation;
        if (row < 0 || row >= h.out) continue;
        float* to = out + row * w.out;
        if (is_inside) {
          for (int64_t s = 0; s < w.window; ++s) to[left + s * w.dilation] += from[s];
          continue;
        }
        for (int64_t s = 0; s < w.window; ++s) {
          const int64_t column = left + s * w.dilation;
          if (column >= 0 && column < w.out) to[column] += from[s];
        }
      }
    }
  }
};

bool is_plain(const Tensor& tensor, ScalarType type) {
  return tensor.scalar_type() == type && is_contiguous(tensor);
}

// One dim of the window; false where sizes are wrong or large.
bool read_dim(int64_t in, int64_t window, int64_t stride, int64_t padding, int64_t dilation,
              int64_t output_padding, Dim* out) {
  constexpr int64_t kLimit = 1 << 20;
  for (const int64_t v : {in, window, stride, padding, dilation, output_padding}) {
    if (v < 0 || v > kLimit) return false;
  }
  if (in < 1 || window < 1 || stride < 1 || dilation < 1) return false;
  const int64_t size =
      (in - 1) * stride - 2 * padding + dilation * (window - 1) + 1 + output_padding;
  *out = {in, window, size, stride, padding, dilation};
  return size >= 1 && size <= INT32_MAX;
}

// What the operator is called with, but `transposed`.
struct Operands {
  Tensor input;
  Tensor weight;
  std::optional<Tensor> bias;
  Span<const int64_t> stride;
  Span<const int64_t> padding;
  Span<const int64_t> dilation;
  Span<const int64_t> output_padding;
  int64_t groups;
  Tensor out;
};

bool has_plain_operands(const Operands& o) {
  const ssize_t rank = o.input.dim();
  const ScalarType type = o.input.scalar_type();
  if (rank != 3 && rank != 4) return false;
  if (type != ScalarType::Float && !is_narrow(type)) return false;
  if (!is_plain(o.input, type) || !is_plain(o.weight, type)) return false;
  if (o.weight.dim() != rank || o.out.dim() != rank || o.out.scalar_type() != type) return false;
  // As many as the channels, unless there are none: then any number divides them.
  if (o.groups < 1 || o.groups > INT32_MAX || o.input.size(1) % o.groups != 0) return false;
  if (o.weight.size(0) != o.input.size(1)) return false;
  if (!o.bias) return true;
  return is_plain(*o.bias, type) && o.bias->dim() == 1 &&
         o.bias->size(0) == o.weight.size(1) * o.groups;
}

// The sizes of a call; false where they are wrong or large.
bool read_sizes(const Operands& o, Call* call) {
  const size_t dims = static_cast<size_t>(o.input.dim()) - 2;
  for (const Span<const int64_t>& list : {o.stride, o.padding, o.dilation, o.output_padding}) {
    if (list.size() != dims) return false;
  }
  call->type = o.input.scalar_type();
  call->channels = o.input.size(1);
  call->in_group = call->channels / o.groups;
  call->out_group = o.weight.size(1);
  call->out_channels = call->out_group * o.groups;
  for (size_t i = 0; i < dims; ++i) {
    const ssize_t d = static_cast<ssize_t>(i) + 2;
    Dim* dim = i + 1 == dims ? &call->width : &call->height;
    if (!read_dim(o.input.size(d), o.weight.size(d), o.stride[i], o.padding[i], o.dilation[i],
                  o.output_padding[i], dim)) {
      return false;
    }
  }
  return call->width.window <= kMostTaps && call->out_channels <= INT32_MAX &&
         call->width.out + call->width.stride <= kMostColumns;
}

bool resize_output(const Call& call, const Operands& o) {
  const ssize_t rank = o.out.dim();
  SizesType sizes[4] = {o.input.sizes()[0], static_cast<SizesType>(call.out_channels)};
  if (rank == 4) sizes[2] = static_cast<SizesType>(call.height.out);
  sizes[rank - 1] = static_cast<SizesType>(call.width.out);
  return resize_tensor(o.out, {sizes, static_cast<size_t>(rank)}) == Error::Ok &&
         is_contiguous(o.out);
}

void bind_memory(const Operands& o, Call* call) {
  if (is_narrow(call->type)) {
    call->narrow_input = o.input.const_data_ptr();
    call->narrow_weight = o.weight.const_data_ptr();
    call->narrow_bias = o.bias ? o.bias->const_data_ptr() : nullptr;
    call->narrow_out = o.out.mutable_data_ptr();
  } else {
    call->input = o.input.const_data_ptr<float>();
    call->weight = o.weight.const_data_ptr<float>();
    call->bias = o.bias ? o.bias->const_data_ptr<float>() : nullptr;
    call->out = o.out.mutable_data_ptr<float>();
  }
}

void run(const Call& call, int64_t images, int64_t groups) {
  const double products = static_cast<double>(call.in_group * call.height.in * call.width.in) *
                          static_cast<double>(call.height.window * call.width.window);
  if (Windows::fit(call)) {
    const Windows windows(call);
    const size_t blocks = static_cast<size_t>(windows.blocks);
    constexpr double kNanosecondsInTiles = 0.05;
    parallel_for(static_cast<size_t>(images * groups) * blocks,
                 kNanosecondsInTiles * products * static_cast<double>(windows.group_channels),
                 [&](size_t begin, size_t end) {
                   for (size_t u = begin; u < end; ++u) {
                     windows.run(static_cast<int64_t>(u / blocks),
                                 static_cast<int64_t>(u % blocks));
                   }
                 });
    return;
  }
  constexpr double kNanosecondsPerProduct = 0.2;
  parallel_for(static_cast<size_t>(images * call.out_channels), kNanosecondsPerProduct * products,
               [&](size_t begin, size_t end) { sum_planes(call, begin, end); });
}

}  // namespace

bool transposed_convolution(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 10);
  const Operands o = {args.tensor(0),   args.tensor(1),   args.optional_tensor(2),
                      args.int_list(3), args.int_list(4), args.int_list(5),
                      args.int_list(7), args.integer(8),  args.out(9)};
  const bool transposed = args.boolean(6);
  if (!args.ok()) return true;
  Call call;
  if (!transposed || !has_plain_operands(o) || !read_sizes(o, &call)) return false;
  if (is_narrow(call.type) && !Windows::fit(call)) return false;
  find_taps(&call);
  if (!resize_output(call, o)) return false;
  // Each output asks for each tap whether it has an input.
  const auto taps = static_cast<uint64_t>(call.height.window * call.width.window);
  if (o.out.numel() == 0 || !context.charge(o.out.numel(), taps) ||
      !context.charge(o.input.numel(), taps, static_cast<uint64_t>(call.out_group))) {
    return true;
  }
  bind_memory(o, &call);
  run(call, o.input.size(0), o.groups);
  return true;
}

}  // namespace petrel::runtime::optimized
