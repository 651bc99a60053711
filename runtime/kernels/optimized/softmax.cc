// SPDX-License-Identifier: Apache-2.0
//
// Softmax and its logarithm along one dim of a contiguous float tensor: rows
// when the dim is the last, else as many columns side by side as a vector has
// lanes. A NaN, or nothing but -inf, makes the whole row NaN.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/instruction_sets.h"
#include "runtime/kernels/optimized/narrow_floats.h"
#include "runtime/kernels/optimized/parallel.h"
#include "runtime/kernels/optimized/reduction_shape.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/softmax.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

HWY_INLINE float LargestOf(const float* row, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V most = hn::Set(d, -kInfinity);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) most = hn::Max(most, hn::LoadU(d, row + i));
  HWY_ALIGN float each[kMaxLanes];
  hn::Store(most, d, each);
  float largest = -kInfinity;
  for (size_t k = 0; k < lanes; ++k) largest = each[k] > largest ? each[k] : largest;
  for (; i < n; ++i) largest = row[i] > largest ? row[i] : largest;
  return largest;
}

// The sum of e^(x - shift), stored to `out` when it is not null.
HWY_INLINE float SumOfExp(const float* in, float shift, float* out, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V by = hn::Set(d, shift);
  V sum = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V e = ExpOfNegative(hn::Sub(hn::LoadU(d, in + i), by));
    if (out != nullptr) hn::StoreU(e, d, out + i);
    sum = hn::Add(sum, e);
  }
  HWY_ALIGN float rest[kMaxLanes];
  std::fill(rest, rest + lanes, -kInfinity);  // e^ of which is 0
  if (i < n) {
    std::memcpy(rest, in + i, (n - i) * sizeof(float));
    for (size_t k = 0; k < n - i; ++k) rest[k] -= shift;
    const V e = ExpOfNegative(hn::Load(d, rest));
    hn::Store(e, d, rest);
    if (out != nullptr) std::memcpy(out + i, rest, (n - i) * sizeof(float));
    sum = hn::Add(sum, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void SoftmaxRow(const float* in, float* out, size_t n, bool logarithm) {
  const D d;
  const float largest = LargestOf(in, n);
  const float sum = SumOfExp(in, largest, logarithm ? nullptr : out, n);
  if (!logarithm) {
    const V factor = hn::Set(d, 1.0f / sum);
    return MapVectors(out, out, n, [=](V x) HWY_ATTR { return hn::Mul(x, factor); });
  }
  const V shift = hn::Set(d, largest);
  const V log_sum = Log(hn::Set(d, sum));
  MapVectors(in, out, n, [=](V x) HWY_ATTR { return hn::Sub(hn::Sub(x, shift), log_sum); });
}

// Up to a vector of columns, `stride` apart from row to row.
void SoftmaxColumns(const float* in, float* out, size_t n, size_t stride, size_t columns,
                    bool logarithm) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const auto load = [&](const float* from) HWY_ATTR {
    return columns >= lanes ? hn::LoadU(d, from) : LoadFirst(from, columns);
  };
  const auto store = [&](V v, float* to) HWY_ATTR {
    if (columns >= lanes) return hn::StoreU(v, d, to);
    StoreFirst(v, to, columns);
  };
  V largest = hn::Set(d, -kInfinity);
  for (size_t i = 0; i < n; ++i) largest = hn::Max(largest, load(in + i * stride));
  V sum = hn::Zero(d);
  for (size_t i = 0; i < n; ++i) {
    const V e = ExpOfNegative(hn::Sub(load(in + i * stride), largest));
    if (!logarithm) store(e, out + i * stride);
    sum = hn::Add(sum, e);
  }
  if (logarithm) {
    const V log_sum = Log(sum);
    for (size_t i = 0; i < n; ++i) {
      store(hn::Sub(hn::Sub(load(in + i * stride), largest), log_sum), out + i * stride);
    }
    return;
  }
  const V factor = hn::Div(hn::Set(d, 1.0f), sum);
  for (size_t i = 0; i < n; ++i) store(hn::Mul(load(out + i * stride), factor), out + i * stride);
}

size_t Columns() { return hn::Lanes(D()); }

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

PETREL_EXPORT(SoftmaxRow);
PETREL_EXPORT(SoftmaxColumns);
PETREL_EXPORT(Columns);

constexpr double kNanoseconds = 0.5;

// Of half or bfloat16, columns by way of a buffer of floats; false when a vector
// of columns does not fit it.
bool narrow_columns(const Tensor& self, const ReductionShape& shape, const Tensor& out,
                    bool logarithm) {
  const ScalarType type = self.scalar_type();
  const size_t n = shape.length, inner = shape.inner;
  const size_t lanes = PETREL_DISPATCH(Columns)();
  const size_t width = std::min<size_t>(64, kNarrowPiece / n / lanes * lanes);
  if (width == 0) return false;
  const size_t groups = (inner + width - 1) / width;
  parallel_for(
      shape.outer * groups, 3 * kNanoseconds * static_cast<double>(n * width),
      [&](size_t begin, size_t end) {
        float buffer[kNarrowPiece];
        for (size_t i = begin; i < end; ++i) {
          const size_t first = i % groups * width;
          const size_t at = i / groups * n * inner + first;
          const size_t columns = std::min(width, inner - first);
          for (size_t k = 0; k < n; ++k) {
            widen(type, self.const_data_ptr(), at + k * inner, buffer + k * columns, columns);
          }
          for (size_t j = 0; j < columns; j += lanes) {
            PETREL_DISPATCH(SoftmaxColumns)
            (buffer + j, buffer + j, n, columns, std::min(lanes, columns - j), logarithm);
          }
          for (size_t k = 0; k < n; ++k) {
            narrow(buffer + k * columns, type, out.mutable_data_ptr(), at + k * inner, columns);
          }
        }
      });
  return true;
}

// Of doubles, by the exponential of the C library.
void softmax_of_doubles(const double* in, const ReductionShape& shape, double* out,
                        bool logarithm) {
  const size_t n = shape.length, inner = shape.inner;
  parallel_for(shape.outer * inner, 8.0 * static_cast<double>(n), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t at = i / inner * n * inner + i % inner;
      const double* x = in + at;
      double* y = out + at;
      double largest = x[0];
      for (size_t k = 1; k < n; ++k) largest = std::max(largest, x[k * inner]);
      double sum = 0.0;
      for (size_t k = 0; k < n; ++k) {
        const double e = std::exp(x[k * inner] - largest);
        if (!logarithm) y[k * inner] = e;
        sum += e;
      }
      const double log_sum = std::log(sum);
      for (size_t k = 0; k < n; ++k) {
        y[k * inner] = logarithm ? x[k * inner] - largest - log_sum : y[k * inner] / sum;
      }
    }
  });
}

// _softmax.out(Tensor self, int dim, bool half_to_float, *, out)
bool softmax(KernelRuntimeContext& context, Span<EValue*> raw, bool logarithm) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const bool half_to_float = args.boolean(2);
  const Tensor out = args.out(3);
  if (!args.ok()) return true;
  const ScalarType type = self.scalar_type();
  const bool is_double = type == ScalarType::Double;
  if (half_to_float || out.scalar_type() != type ||
      (!is_float(self) && !is_narrow(type) && !is_double)) {
    return false;
  }
  const auto shape = ReductionShape::of(self, Span<const int64_t>(&dim, 1));
  if (!shape || resize_tensor(out, self.sizes()) != Error::Ok || !is_contiguous(out)) return false;
  const size_t n = shape->length, inner = shape->inner;
  if (n == 0 || inner == 0) return true;
  if (is_double) {
    softmax_of_doubles(self.const_data_ptr<double>(), *shape, out.mutable_data_ptr<double>(),
                       logarithm);
    return true;
  }
  if (is_narrow(type)) {
    if (inner != 1) return narrow_columns(self, *shape, out, logarithm);
    if (n > kNarrowPiece) return false;
    parallel_for(shape->outer, 2 * kNanoseconds * static_cast<double>(n),
                 [&](size_t begin, size_t end) {
                   float row[kNarrowPiece];
                   for (size_t i = begin; i < end; ++i) {
                     widen(type, self.const_data_ptr(), i * n, row, n);
                     PETREL_DISPATCH(SoftmaxRow)(row, row, n, logarithm);
                     narrow(row, type, out.mutable_data_ptr(), i * n, n);
                   }
                 });
    return true;
  }
  const float* in = self.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  if (inner == 1) {
    parallel_for(shape->outer, kNanoseconds * static_cast<double>(n),
                 [&](size_t begin, size_t end) {
                   for (size_t i = begin; i < end; ++i) {
                     PETREL_DISPATCH(SoftmaxRow)(in + i * n, to + i * n, n, logarithm);
                   }
                 });
    return true;
  }
  const size_t width = PETREL_DISPATCH(Columns)();
  const size_t groups = (inner + width - 1) / width;
  parallel_for(shape->outer * groups, kNanoseconds * static_cast<double>(n * width),
               [&](size_t begin, size_t end) {
                 for (size_t i = begin; i < end; ++i) {
                   const size_t first = i % groups * width;
                   const size_t at = i / groups * n * inner + first;
                   PETREL_DISPATCH(SoftmaxColumns)
                   (in + at, to + at, n, inner, std::min(width, inner - first), logarithm);
                 }
               });
  return true;
}

}  // namespace

void softmax_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!softmax(context, raw, false)) portable::softmax_out(context, raw);
}
void log_softmax_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!softmax(context, raw, true)) portable::log_softmax_out(context, raw);
}

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
