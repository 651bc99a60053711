// SPDX-License-Identifier: Apache-2.0
//
// out[i] = f(a[i], b[i]) for functions that cost more than reading their
// operands: one loop, whichever operand stands still. Compiled once per
// instruction set; to be included after vector_math-inl.h.
#if defined(PETREL_RUNTIME_KERNELS_OPTIMIZED_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PETREL_RUNTIME_KERNELS_OPTIMIZED_PAIRS_INL_H_
#undef PETREL_RUNTIME_KERNELS_OPTIMIZED_PAIRS_INL_H_
#else
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_PAIRS_INL_H_
#endif

#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

template <typename F>
HWY_INLINE void MapPairs(const float* a, bool a_moves, const float* b, bool b_moves, float* out,
                         size_t n, const F& f) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN float x[kMaxLanes], y[kMaxLanes];
  hn::Store(hn::Set(d, a[0]), d, x);
  hn::Store(hn::Set(d, b[0]), d, y);
  for (size_t i = 0; i < n; i += lanes) {
    const bool is_whole = n - i >= lanes;
    if (HWY_UNLIKELY(!is_whole)) {
      if (a_moves) std::memcpy(x, a + i, (n - i) * sizeof(float));
      if (b_moves) std::memcpy(y, b + i, (n - i) * sizeof(float));
    }
    const V first = hn::LoadU(d, a_moves && is_whole ? a + i : x);
    const V second = hn::LoadU(d, b_moves && is_whole ? b + i : y);
    hn::StoreU(f(first, second), d, is_whole ? out + i : x);
    if (HWY_UNLIKELY(!is_whole)) std::memcpy(out + i, x, (n - i) * sizeof(float));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
