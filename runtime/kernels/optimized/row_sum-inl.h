// SPDX-License-Identifier: Apache-2.0
//
// Sums over a row of floats, compiled once per instruction set; guarded as
// vector_math-inl.h is.
#if defined(PETREL_RUNTIME_KERNELS_OPTIMIZED_ROW_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PETREL_RUNTIME_KERNELS_OPTIMIZED_ROW_SUM_INL_H_
#undef PETREL_RUNTIME_KERNELS_OPTIMIZED_ROW_SUM_INL_H_
#else
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_ROW_SUM_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "runtime/kernels/optimized/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

// The sum of f(x) over a row. Sums of a few thousand elements run in float,
// those sums in double.
template <typename F>
HWY_INLINE double SumOf(const float* row, size_t n, const F& f) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  constexpr size_t kBlock = 4096;
  double total = 0.0;
  size_t i = 0;
  while (i < n) {
    const size_t end = n - i < kBlock ? n : i + kBlock;
    V sum0 = hn::Zero(d), sum1 = hn::Zero(d);
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      sum0 = hn::Add(sum0, f(hn::LoadU(d, row + i)));
      sum1 = hn::Add(sum1, f(hn::LoadU(d, row + i + lanes)));
    }
    for (; i + lanes <= end; i += lanes) sum0 = hn::Add(sum0, f(hn::LoadU(d, row + i)));
    if (i < end) {
      const V rest = f(LoadFirst(row + i, end - i));
      sum1 = hn::Add(sum1, hn::IfThenElseZero(hn::FirstN(d, end - i), rest));
      i = end;
    }
    total += hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  }
  return total;
}

inline double SumRow(const float* row, size_t n) {
  return SumOf(row, n, [](V x) HWY_ATTR { return x; });
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
