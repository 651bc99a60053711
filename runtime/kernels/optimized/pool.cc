// SPDX-License-Identifier: Apache-2.0
//
// Pooling over windows of contiguous float planes, by padded_plane.h.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/instruction_sets.h"
#include "runtime/kernels/optimized/lent_memory.h"
#include "runtime/kernels/optimized/padded_plane.h"
#include "runtime/kernels/optimized/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/pool.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

// The largest tap of each output of a row, and which tap it is: -1 where none is
// above -inf. The last NaN wins.
void LargestTaps(const float* in, const size_t* offset, size_t taps, float* out, int32_t* tap,
                 size_t columns) {
  const D d;
  const DI di;
  const size_t lanes = hn::Lanes(d);
  for (size_t q = 0; q < columns; q += lanes) {
    V best = hn::Set(d, -kInfinity);
    VI which = hn::Set(di, -1);
    for (size_t t = 0; t < taps; ++t) {
      const V x = hn::LoadU(d, in + q + offset[t]);
      const auto better = hn::Or(hn::Gt(x, best), hn::IsNaN(x));
      best = hn::IfThenElse(better, x, best);
      which =
          hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, static_cast<int32_t>(t)), which);
    }
    HWY_ALIGN float values[kMaxLanes];
    HWY_ALIGN int32_t places[kMaxLanes];
    hn::Store(best, d, values);
    hn::Store(which, di, places);
    const size_t count = std::min(lanes, columns - q);
    std::memcpy(out + q, values, count * sizeof(float));
    std::memcpy(tap + q, places, count * sizeof(int32_t));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

PETREL_EXPORT(LargestTaps);

constexpr double kNanosecondsPerTap = 0.08;

using List = Span<const int64_t>;

struct Windows {
  Axis height, width;
  size_t planes = 0;

  size_t in_plane() const { return static_cast<size_t>(height.in * width.in); }
  size_t out_plane() const { return static_cast<size_t>(height.out * width.out); }
  size_t taps() const { return static_cast<size_t>(height.window * width.window); }

  bool read(const Tensor& self, List kernel, List stride, List padding, List dilation,
            bool ceil_mode) {
    const ssize_t rank = self.dim();
    if ((rank != 3 && rank != 4) || !is_float(self) || !is_contiguous(self)) return false;
    planes = portable::product(self.sizes(), 0, static_cast<size_t>(rank) - 2);
    return scratch::read_pool(self.sizes(), kernel, stride, padding, dilation, ceil_mode, &height,
                              &width);
  }

  bool resize(const Tensor& self, const Tensor& out) const {
    portable::SizeArray sizes(self.sizes());
    sizes[sizes.rank - 2] = static_cast<portable::SizesType>(height.out);
    sizes[sizes.rank - 1] = static_cast<portable::SizesType>(width.out);
    return out.dim() == self.dim() && resize_tensor(out, sizes.span()) == Error::Ok &&
           is_contiguous(out);
  }
};

// The first element of window i that exists.
int64_t first_inside(const Axis& axis, int64_t i) {
  const int64_t start = i * axis.stride - axis.padding;
  if (start >= 0) return start;
  return start + (-start + axis.dilation - 1) / axis.dilation * axis.dilation;
}

// The index in the plane of each tap that won a row.
void places_of(const Windows& w, int64_t p, const int32_t* tap, int64_t* places) {
  const Axis &y = w.height, &x = w.width;
  for (int64_t q = 0; q < x.out; ++q) {
    const int64_t t = tap[q];
    int64_t row = 0, column = 0;
    if (t >= 0) {
      row = p * y.stride - y.padding + t / x.window * y.dilation;
      column = q * x.stride - x.padding + t % x.window * x.dilation;
    } else {  // nothing but -inf
      row = first_inside(y, p);
      column = first_inside(x, q);
    }
    places[q] = row * x.in + column;
  }
}

// max_pool2d_with_indices.out(Tensor self, int[2] kernel_size, int[2] stride,
//   int[2] padding, int[2] dilation, bool ceil_mode, *, out, indices)
bool max_pool(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 8);
  const Tensor self = args.tensor(0);
  const List kernel = args.int_list(1);
  const List stride = args.int_list(2);
  const List padding = args.int_list(3);
  const List dilation = args.int_list(4);
  const bool ceil_mode = args.boolean(5);
  const Tensor out = args.out(6);
  const Tensor indices = args.out(7);
  if (!args.ok()) return true;
  Windows w;
  if (!w.read(self, kernel, stride, padding, dilation, ceil_mode) || !is_float(out) ||
      indices.scalar_type() != ScalarType::Long) {
    return false;
  }
  const PaddedPlane padded(w.height, w.width);
  constexpr int64_t kColumns = 4096;
  if (!padded.fits() || w.width.out > kColumns || !w.resize(self, out) ||
      !w.resize(self, indices)) {
    return false;
  }
  if (!context.charge(out.numel(), w.taps())) return true;
  const float* in = self.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  int64_t* places = indices.mutable_data_ptr<int64_t>();
  LentMemory<PaddedPlane::kBuffer> memory(context, padded.bytes());
  const auto planes = [&](float* buffer, size_t begin, size_t end) {
    size_t offset[PaddedPlane::kTaps];
    int32_t tap[kColumns];
    padded.find_offsets(offset);
    for (size_t i = begin; i < end; ++i) {
      for (int64_t p = 0; p < w.height.out; ++p) {
        if (p % padded.band() == 0) {
          padded.fill(in + i * w.in_plane(), p, -std::numeric_limits<float>::infinity(), buffer);
        }
        const size_t at = i * w.out_plane() + static_cast<size_t>(p * w.width.out);
        PETREL_DISPATCH(LargestTaps)
        (buffer + static_cast<size_t>(p % padded.band()) * padded.row(), offset, w.taps(), to + at,
         tap, static_cast<size_t>(w.width.out));
        places_of(w, p, tap, places + at);
      }
    }
  };
  parallel_for(w.planes, kNanosecondsPerTap * static_cast<double>(w.out_plane() * w.taps()),
               [&](size_t begin, size_t end) {
                 memory.lend([&](float* buffer) { planes(buffer, begin, end); });
               });
  return true;
}

// Elements of window i that count in an average.
int64_t counted(const Axis& axis, int64_t i, bool with_padding) {
  const int64_t start = i * axis.stride - axis.padding;
  const int64_t end = start + axis.window;
  if (with_padding) return std::min(end, axis.in + axis.padding) - start;
  return std::min(end, axis.in) - std::max<int64_t>(start, 0);
}

// avg_pool2d.out(Tensor self, int[2] kernel_size, int[2] stride, int[2] padding,
//   bool ceil_mode, bool count_include_pad, int? divisor_override, *, out)
bool avg_pool(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 8);
  const Tensor self = args.tensor(0);
  const List kernel = args.int_list(1);
  const List stride = args.int_list(2);
  const List padding = args.int_list(3);
  const bool ceil_mode = args.boolean(4);
  const bool count_include_pad = args.boolean(5);
  const std::optional<int64_t> divisor = args.optional_integer(6);
  const Tensor out = args.out(7);
  if (!args.ok()) return true;
  Windows w;
  if (!w.read(self, kernel, stride, padding, {}, ceil_mode) || !is_float(out) ||
      (divisor && *divisor == 0)) {
    return false;
  }
  const PaddedPlane padded(w.height, w.width);
  if (!padded.fits() || !w.resize(self, out)) return false;
  if (!context.charge(out.numel(), w.taps())) return true;
  const float* in = self.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  float ones[PaddedPlane::kTaps];
  std::fill(ones, ones + w.taps(), 1.0f);
  LentMemory<PaddedPlane::kBuffer> memory(context, padded.bytes());
  const auto planes = [&](float* buffer, size_t begin, size_t end) {
    size_t offset[PaddedPlane::kTaps];
    padded.find_offsets(offset);
    for (size_t i = begin; i < end; ++i) {
      for (int64_t p = 0; p < w.height.out; p += padded.band()) {
        const int64_t rows = std::min(padded.band(), w.height.out - p);
        float* band = to + i * w.out_plane() + static_cast<size_t>(p * w.width.out);
        padded.fill(in + i * w.in_plane(), p, 0.0f, buffer);
        weighted_rows(buffer, padded.row(), offset, ones, w.taps(), 0.0f, band,
                      static_cast<size_t>(rows), static_cast<size_t>(w.width.out));
        for (int64_t k = 0; k < rows; ++k) {
          const int64_t height = counted(w.height, p + k, count_include_pad);
          for (int64_t q = 0; q < w.width.out; ++q) {
            const int64_t count =
                divisor ? *divisor : height * counted(w.width, q, count_include_pad);
            band[k * w.width.out + q] /= static_cast<float>(count);
          }
        }
      }
    }
  };
  parallel_for(w.planes, kNanosecondsPerTap * static_cast<double>(w.out_plane() * w.taps()),
               [&](size_t begin, size_t end) {
                 memory.lend([&](float* buffer) { planes(buffer, begin, end); });
               });
  return true;
}

}  // namespace

void max_pool2d_with_indices_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!max_pool(context, raw)) portable::max_pool2d_with_indices_out(context, raw);
}
void avg_pool2d_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!avg_pool(context, raw)) portable::avg_pool2d_out(context, raw);
}

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
