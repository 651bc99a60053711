// SPDX-License-Identifier: Apache-2.0
//
// Float vectors computed in double, half a vector at a time, and lane by lane:
// for functions whose rounding floats do not carry, and for the few arguments
// that a function is not made for. Compiled once per instruction set; to be
// included after vector_math-inl.h.
//
//   InDoubles(x, y, [](VW x, VW y) HWY_ATTR { return hn::Sub(x, y); });
//   LaneByLane(far, x, y, &reference_math::sin);   // y where `far` is false
#if defined(PETREL_RUNTIME_KERNELS_OPTIMIZED_WIDE_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PETREL_RUNTIME_KERNELS_OPTIMIZED_WIDE_LANES_INL_H_
#undef PETREL_RUNTIME_KERNELS_OPTIMIZED_WIDE_LANES_INL_H_
#else
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_WIDE_LANES_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
using DH = D;
#else
using DH = hn::Half<D>;
#endif
using DW = hn::Rebind<double, DH>;
using VW = hn::Vec<DW>;

// The result must be in the range of floats.
template <typename F>
HWY_INLINE V InDoubles(V x, V y, const F& f) {
  const DW dw;
#if HWY_TARGET == HWY_SCALAR
  return hn::DemoteTo(D(), f(hn::PromoteTo(dw, x), hn::PromoteTo(dw, y)));
#else
  const DH dh;
  const VW low =
      f(hn::PromoteTo(dw, hn::LowerHalf(dh, x)), hn::PromoteTo(dw, hn::LowerHalf(dh, y)));
  const VW high =
      f(hn::PromoteTo(dw, hn::UpperHalf(dh, x)), hn::PromoteTo(dw, hn::UpperHalf(dh, y)));
  return hn::Combine(D(), hn::DemoteTo(dh, high), hn::DemoteTo(dh, low));
#endif
}

template <typename M>
HWY_INLINE V LaneByLane(M chosen, V x, V y, double (*f)(double)) {
  const D d;
  if (HWY_LIKELY(hn::AllFalse(d, chosen))) return y;
  HWY_ALIGN float in[kMaxLanes], out[kMaxLanes], is_chosen[kMaxLanes];
  hn::Store(x, d, in);
  hn::Store(y, d, out);
  hn::Store(hn::IfThenElseZero(chosen, hn::Set(d, 1.0f)), d, is_chosen);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (is_chosen[i] != 0.0f) out[i] = static_cast<float>(f(in[i]));
  }
  return hn::Load(d, out);
}

template <typename M>
HWY_INLINE V LaneByLane(M chosen, V a, V b, V y, double (*f)(double, double)) {
  const D d;
  if (HWY_LIKELY(hn::AllFalse(d, chosen))) return y;
  HWY_ALIGN float first[kMaxLanes], second[kMaxLanes], out[kMaxLanes], is_chosen[kMaxLanes];
  hn::Store(a, d, first);
  hn::Store(b, d, second);
  hn::Store(y, d, out);
  hn::Store(hn::IfThenElseZero(chosen, hn::Set(d, 1.0f)), d, is_chosen);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (is_chosen[i] != 0.0f) out[i] = static_cast<float>(f(first[i], second[i]));
  }
  return hn::Load(d, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
