// SPDX-License-Identifier: Apache-2.0
//
// Reductions of contiguous float tensors over dims that are next to each other
// (reduction_shape.h): a row at a time when nothing is left inside, else whole
// rows of what is left. Sums of a few thousand elements run in float,
// those sums in double.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/fold.h"
#include "runtime/kernels/optimized/instruction_sets.h"
#include "runtime/kernels/optimized/narrow_floats.h"
#include "runtime/kernels/optimized/parallel.h"
#include "runtime/kernels/optimized/reduction_shape.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/reduce.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/row_sum-inl.h"
#include "runtime/kernels/optimized/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

// Results are double, so that sums keep what they gained.

// The better of two values; NaN is best.
template <bool kLargest>
HWY_INLINE V Better(V candidate, V best) {
  const auto better = kLargest ? hn::Gt(candidate, best) : hn::Lt(candidate, best);
  return hn::IfThenElse(hn::Or(better, hn::IsNaN(candidate)), candidate, best);
}
template <bool kLargest>
HWY_INLINE float BetterOf(float candidate, float best) {
  const bool better = kLargest ? candidate > best : candidate < best;
  return better || candidate != candidate ? candidate : best;
}

template <bool kLargest>
HWY_INLINE double BestOfRow(const float* row, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  float best = row[0];
  size_t i = 0;
  if (n >= lanes) {
    V bests = hn::LoadU(d, row);
    for (i = lanes; i + lanes <= n; i += lanes) {
      bests = Better<kLargest>(hn::LoadU(d, row + i), bests);
    }
    HWY_ALIGN float each[kMaxLanes];
    hn::Store(bests, d, each);
    best = each[0];
    for (size_t k = 1; k < lanes; ++k) best = BetterOf<kLargest>(each[k], best);
  }
  for (; i < n; ++i) best = BetterOf<kLargest>(row[i], best);
  return best;
}
double LargestOfRow(const float* row, size_t n) { return BestOfRow<true>(row, n); }
double SmallestOfRow(const float* row, size_t n) { return BestOfRow<false>(row, n); }

// The same for `columns` <= kColumns columns of n rows, `stride` apart.
constexpr size_t kColumns = 64;

void SumColumns(const float* in, size_t n, size_t stride, size_t columns, double* result) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  constexpr size_t kBlock = 256;
  std::fill(result, result + columns, 0.0);
  for (size_t first = 0; first < n; first += kBlock) {
    HWY_ALIGN float sum[kColumns] = {};
    const size_t end = n - first < kBlock ? n : first + kBlock;
    for (size_t i = first; i < end; ++i) {
      const float* row = in + i * stride;
      size_t j = 0;
      for (; j + lanes <= columns; j += lanes) {
        hn::Store(hn::Add(hn::Load(d, sum + j), hn::LoadU(d, row + j)), d, sum + j);
      }
      for (; j < columns; ++j) sum[j] += row[j];
    }
    for (size_t j = 0; j < columns; ++j) result[j] += sum[j];
  }
}

template <bool kLargest>
HWY_INLINE void BestOfColumns(const float* in, size_t n, size_t stride, size_t columns,
                              double* result) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN float best[kColumns];
  std::memcpy(best, in, columns * sizeof(float));
  for (size_t i = 1; i < n; ++i) {
    const float* row = in + i * stride;
    size_t j = 0;
    for (; j + lanes <= columns; j += lanes) {
      hn::Store(Better<kLargest>(hn::LoadU(d, row + j), hn::Load(d, best + j)), d, best + j);
    }
    for (; j < columns; ++j) best[j] = BetterOf<kLargest>(row[j], best[j]);
  }
  for (size_t j = 0; j < columns; ++j) result[j] = best[j];
}
void LargestOfColumns(const float* in, size_t n, size_t stride, size_t columns, double* result) {
  BestOfColumns<true>(in, n, stride, columns, result);
}
void SmallestOfColumns(const float* in, size_t n, size_t stride, size_t columns, double* result) {
  BestOfColumns<false>(in, n, stride, columns, result);
}

// The squares of the deviations from the mean.
double SquaresOfRow(const float* row, size_t n, float mean) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  constexpr size_t kBlock = 4096;
  const V center = hn::Set(d, mean);
  double total = 0.0;
  size_t i = 0;
  while (i + lanes <= n) {
    const size_t end = n - i < kBlock ? n : i + kBlock;
    V sum = hn::Zero(d);
    for (; i + lanes <= end; i += lanes) {
      const V far = hn::Sub(hn::LoadU(d, row + i), center);
      sum = hn::MulAdd(far, far, sum);
    }
    total += hn::GetLane(hn::SumOfLanes(d, sum));
  }
  for (; i < n; ++i) total += (row[i] - mean) * (row[i] - mean);
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

PETREL_EXPORT(SumRow);
PETREL_EXPORT(LargestOfRow);
PETREL_EXPORT(SmallestOfRow);
PETREL_EXPORT(SumColumns);
PETREL_EXPORT(LargestOfColumns);
PETREL_EXPORT(SmallestOfColumns);
PETREL_EXPORT(SquaresOfRow);

constexpr double kNanoseconds = 0.15;
constexpr size_t kColumns = 64;

using OfRow = double (*)(const float* row, size_t n);
using OfColumns = void (*)(const float* in, size_t n, size_t stride, size_t columns,
                           double* result);
struct Reducer {
  OfRow of_row;
  OfColumns of_columns;
};

Reducer sums() { return {PETREL_DISPATCH(SumRow), PETREL_DISPATCH(SumColumns)}; }
Reducer best(bool largest) {
  return largest ? Reducer{PETREL_DISPATCH(LargestOfRow), PETREL_DISPATCH(LargestOfColumns)}
                 : Reducer{PETREL_DISPATCH(SmallestOfRow), PETREL_DISPATCH(SmallestOfColumns)};
}

// store(i, result) for element i of what remains.
template <typename Store>
void reduce(const float* in, const ReductionShape& shape, const Reducer& reducer, Store store) {
  const size_t n = shape.length, inner = shape.inner;
  if (shape.outer == 0 || inner == 0) return;
  if (inner == 1) {
    parallel_for(shape.outer, kNanoseconds * static_cast<double>(n), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) store(i, reducer.of_row(in + i * n, n));
    });
    return;
  }
  const size_t groups = (inner + kColumns - 1) / kColumns;
  const size_t width = std::min(inner, kColumns);
  parallel_for(shape.outer * groups, kNanoseconds * static_cast<double>(n * width),
               [&](size_t begin, size_t end) {
                 for (size_t i = begin; i < end; ++i) {
                   const size_t first = i % groups * kColumns;
                   const size_t columns = std::min(kColumns, inner - first);
                   double result[kColumns];
                   reducer.of_columns(in + i / groups * n * inner + first, n, inner, columns,
                                      result);
                   for (size_t j = 0; j < columns; ++j) {
                     store(i / groups * inner + first + j, result[j]);
                   }
                 }
               });
}

// reduce() of half or bfloat16, by way of floats; false when a row, or a block
// of columns, is longer than the buffer.
template <typename Store>
bool reduce_narrow(const Tensor& self, const ReductionShape& shape, const Reducer& reducer,
                   Store store) {
  const size_t n = shape.length, inner = shape.inner;
  const size_t width = std::min(inner, kColumns);
  if (n > kNarrowPiece / (width == 0 ? 1 : width)) return false;
  if (shape.outer == 0 || inner == 0) return true;
  const size_t groups = (inner + kColumns - 1) / kColumns;
  parallel_for(shape.outer * groups, 3 * kNanoseconds * static_cast<double>(n * width),
               [&](size_t begin, size_t end) {
                 float buffer[kNarrowPiece];
                 for (size_t i = begin; i < end; ++i) {
                   const size_t first = i % groups * kColumns;
                   const size_t columns = std::min(kColumns, inner - first);
                   const size_t at = i / groups * n * inner + first;
                   if (inner == 1) {
                     widen(self.scalar_type(), self.const_data_ptr(), at, buffer, n);
                     store(i, reducer.of_row(buffer, n));
                     continue;
                   }
                   for (size_t k = 0; k < n; ++k) {
                     widen(self.scalar_type(), self.const_data_ptr(), at + k * inner,
                           buffer + k * columns, columns);
                   }
                   double result[kColumns];
                   reducer.of_columns(buffer, n, columns, columns, result);
                   for (size_t j = 0; j < columns; ++j) {
                     store(i / groups * inner + first + j, result[j]);
                   }
                 }
               });
  return true;
}

// What the operators have in common: shape and output. False when the call is
// not for these kernels.
bool reduce_to(const Tensor& self, std::optional<Span<const int64_t>> dims, bool keepdim,
               const Tensor& out, const Reducer& reducer, bool mean) {
  const ScalarType type = self.scalar_type();
  if (out.scalar_type() != type || (!is_float(self) && !is_narrow(type))) return false;
  const auto shape = ReductionShape::of(self, dims);
  if (!shape || shape->length == 0 || !shape->resize(self, keepdim, out)) return false;
  const double count = mean ? static_cast<double>(shape->length) : 1.0;
  if (is_narrow(type)) {
    return reduce_narrow(self, *shape, reducer, [&](size_t i, double value) {
      const float rounded = static_cast<float>(value / count);
      narrow(&rounded, type, out.mutable_data_ptr(), i, 1);
    });
  }
  float* to = out.mutable_data_ptr<float>();
  reduce(self.const_data_ptr<float>(), *shape, reducer,
         [=](size_t i, double value) { to[i] = static_cast<float>(value / count); });
  return true;
}

// sum.IntList_out, mean.out(Tensor self, int[1]? dim, bool keepdim, *,
//   ScalarType? dtype, out)
bool sum_or_mean(KernelRuntimeContext& context, Span<EValue*> raw, bool mean) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const std::optional<Span<const int64_t>> dims = args.optional_int_list(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(4);
  return !args.ok() || reduce_to(self, dims, keepdim, out, sums(), mean) ||
         fold(self, dims, keepdim, out, mean ? Fold::kMean : Fold::kSum);
}

// amax.out, amin.out(Tensor self, int[1] dim, bool keepdim, *, out)
bool extreme(KernelRuntimeContext& context, Span<EValue*> raw, bool largest) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> dims = args.int_list(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(3);
  return !args.ok() || reduce_to(self, dims, keepdim, out, best(largest), false) ||
         fold(self, dims, keepdim, out, largest ? Fold::kLargest : Fold::kSmallest);
}

// max.unary_out, min.unary_out(Tensor self, *, out)
bool extreme_of_all(KernelRuntimeContext& context, Span<EValue*> raw, bool largest) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  return !args.ok() || reduce_to(self, std::nullopt, false, out, best(largest), false) ||
         fold(self, std::nullopt, false, out, largest ? Fold::kLargest : Fold::kSmallest);
}

// Where the value that won stands first; NaN is found, too.
int64_t place_in(const float* row, size_t n, float value) {
  size_t i = 0;
  if (value != value) {
    while (i < n && row[i] == row[i]) ++i;
  } else {
    while (i < n && row[i] != value) ++i;
  }
  // The row may have changed meanwhile only if outputs overlap inputs.
  return static_cast<int64_t>(i < n ? i : 0);
}

// Best of rows along the last dim, with its place; `values` may be null.
bool choose(const Tensor& self, std::optional<Span<const int64_t>> dims, bool keepdim,
            const Tensor* values, const Tensor& indices, bool largest) {
  if (!is_float(self) || indices.scalar_type() != ScalarType::Long ||
      (values != nullptr && !is_float(*values))) {
    return false;
  }
  const auto shape = ReductionShape::of(self, dims);
  if (!shape || shape->length == 0 || shape->inner != 1 || !shape->resize(self, keepdim, indices) ||
      (values != nullptr && !shape->resize(self, keepdim, *values))) {
    return false;
  }
  const float* in = self.const_data_ptr<float>();
  int64_t* places = indices.mutable_data_ptr<int64_t>();
  float* bests = values != nullptr ? values->mutable_data_ptr<float>() : nullptr;
  const size_t n = shape->length;
  reduce(in, *shape, best(largest), [=](size_t i, double value) {
    const float winner = static_cast<float>(value);
    places[i] = place_in(in + i * n, n, winner);
    if (bests != nullptr) bests[i] = winner;
  });
  return true;
}

// max.dim_max(Tensor self, int dim, bool keepdim, *, Tensor max, Tensor max_values)
bool best_along(KernelRuntimeContext& context, Span<EValue*> raw, bool largest) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const bool keepdim = args.boolean(2);
  const Tensor values = args.out(3);
  const Tensor indices = args.out(4);
  return !args.ok() ||
         choose(self, Span<const int64_t>(&dim, 1), keepdim, &values, indices, largest);
}

// argmax.out(Tensor self, int? dim, bool keepdim, *, out)
bool arg_best(KernelRuntimeContext& context, Span<EValue*> raw, bool largest) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const std::optional<int64_t> dim = args.optional_integer(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(3);
  if (!args.ok()) return true;
  if (!dim) return choose(self, std::nullopt, keepdim, nullptr, out, largest);
  return choose(self, Span<const int64_t>(&*dim, 1), keepdim, nullptr, out, largest);
}

// Sum of squared deviations over (elements - correction), of rows.
bool variance(const Tensor& self, std::optional<Span<const int64_t>> dims, double correction,
              bool keepdim, const Tensor& out) {
  if (!is_float(self) || !is_float(out)) return false;
  const auto shape = ReductionShape::of(self, dims);
  if (!shape || shape->inner != 1 || !shape->resize(self, keepdim, out)) {
    return false;
  }
  const float* in = self.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  const size_t n = shape->length;
  // 0 for a correction that is not a number, as in eager.
  const double freedom = std::max(0.0, static_cast<double>(n) - correction);
  reduce(in, *shape, sums(), [=](size_t i, double sum) {
    const float mean = static_cast<float>(sum / static_cast<double>(n));
    to[i] = static_cast<float>(PETREL_DISPATCH(SquaresOfRow)(in + i * n, n, mean) / freedom);
  });
  return true;
}

// var.correction_out(Tensor self, int[1]? dim, *, Scalar? correction, bool keepdim, out)
bool variance_with_correction(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const std::optional<Span<const int64_t>> dims = args.optional_int_list(1);
  const std::optional<Scalar> correction = args.optional_scalar(2);
  const bool keepdim = args.boolean(3);
  const Tensor out = args.out(4);
  return !args.ok() ||
         variance(self, dims, correction ? correction->to_double() : 1.0, keepdim, out);
}

// any.all_out(Tensor self, *, out)
bool any_of_all(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  return !args.ok() || fold(self, std::nullopt, false, out, Fold::kAny);
}

// prod.out(Tensor self, *, ScalarType? dtype, out)
bool product_of_all(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(2);
  return !args.ok() || fold(self, std::nullopt, false, out, Fold::kProduct);
}

// prod.int_out(Tensor self, int dim, bool keepdim, *, ScalarType? dtype, out)
bool product_along(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(4);
  return !args.ok() || fold(self, Span<const int64_t>(&dim, 1), keepdim, out, Fold::kProduct);
}

// any.out and any.dims_out(Tensor self, int or int[]? dim, bool keepdim, *, out)
bool any_dim(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(3);
  return !args.ok() || fold(self, Span<const int64_t>(&dim, 1), keepdim, out, Fold::kAny);
}

bool any_dims(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const std::optional<Span<const int64_t>> dims = args.optional_int_list(1);
  const bool keepdim = args.boolean(2);
  const Tensor out = args.out(3);
  return !args.ok() || fold(self, dims, keepdim, out, Fold::kAny);
}

}  // namespace

#define PETREL_DEFINE(function, ...)                                \
  void function(KernelRuntimeContext& context, Span<EValue*> raw) { \
    if (!(__VA_ARGS__)) portable::function(context, raw);           \
  }
PETREL_DEFINE(sum_out, sum_or_mean(context, raw, false))
PETREL_DEFINE(mean_out, sum_or_mean(context, raw, true))
PETREL_DEFINE(amax_out, extreme(context, raw, true))
PETREL_DEFINE(amin_out, extreme(context, raw, false))
PETREL_DEFINE(max_unary_out, extreme_of_all(context, raw, true))
PETREL_DEFINE(min_unary_out, extreme_of_all(context, raw, false))
PETREL_DEFINE(max_dim_max, best_along(context, raw, true))
PETREL_DEFINE(min_dim_min, best_along(context, raw, false))
PETREL_DEFINE(argmax_out, arg_best(context, raw, true))
PETREL_DEFINE(argmin_out, arg_best(context, raw, false))
PETREL_DEFINE(var_correction_out, variance_with_correction(context, raw))
PETREL_DEFINE(any_all_out, any_of_all(context, raw))
PETREL_DEFINE(prod_out, product_of_all(context, raw))
PETREL_DEFINE(prod_int_out, product_along(context, raw))
PETREL_DEFINE(any_out, any_dim(context, raw))
PETREL_DEFINE(any_dims_out, any_dims(context, raw))
#undef PETREL_DEFINE

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
