// SPDX-License-Identifier: Apache-2.0
//
// Levels of int8 and uint8 and the floats that they stand for, row by row, as the portable
// kernels compute both:
//
//   ToLevels(x, levels, n, 1 / scale, zero_point, -128, 127);   // by one scale, in float
//   ToLevelsOfToken(x, levels, n, 1 / scale, zero_point, ...);  // in double, rounded last
//   FromLevels(levels, x, n, zero_point, scale);
//
// NaN gives level 0. To be included once per instruction set, see fast_path.h.
#if defined(PETREL_RUNTIME_KERNELS_OPTIMIZED_LEVELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PETREL_RUNTIME_KERNELS_OPTIMIZED_LEVELS_INL_H_
#undef PETREL_RUNTIME_KERNELS_OPTIMIZED_LEVELS_INL_H_
#else
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_LEVELS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {
namespace levels {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::ScalableTag<float>;
using F64 = hn::ScalableTag<double>;

// body(from, to) on whole vectors; what is left goes through one that is filled up.
template <typename In, typename Out, class Tag, typename Body>
HWY_INLINE void ByVectors(Tag d, const In* from, Out* to, size_t n, Body body) {
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(from + i, to + i);
  if (i == n) return;
  In rest[hn::MaxLanes(d)] = {};
  Out made[hn::MaxLanes(d)];
  std::memcpy(rest, from + i, (n - i) * sizeof(In));
  body(rest, made);
  std::memcpy(to + i, made, (n - i) * sizeof(Out));
}

template <typename T>
HWY_INLINE void ToLevels(const float* x, T* out, size_t n, float inverse, float zero_point,
                         float low, float high) {
  const F d;
  const hn::Rebind<int32_t, F> di;
  const hn::Rebind<T, F> dt;
  ByVectors(d, x, out, n, [=](const float* from, T* to) HWY_ATTR {
    const auto steps = hn::Round(hn::Mul(hn::LoadU(d, from), hn::Set(d, inverse)));
    const auto level = hn::Add(steps, hn::Set(d, zero_point));
    const auto inside = hn::Min(hn::Max(level, hn::Set(d, low)), hn::Set(d, high));
    const auto numbers = hn::IfThenZeroElse(hn::IsNaN(level), inside);
    hn::StoreU(hn::DemoteTo(dt, hn::ConvertTo(di, numbers)), dt, to);
  });
}

template <typename T>
HWY_INLINE void ToLevelsOfToken(const float* x, T* out, size_t n, double inverse, double zero_point,
                                double low, double high) {
  const F64 d;
  const hn::Rebind<float, F64> df;
  const hn::Rebind<int32_t, F64> di;
  const hn::Rebind<T, F64> dt;
  ByVectors(d, x, out, n, [=](const float* from, T* to) HWY_ATTR {
    const auto wide = hn::PromoteTo(d, hn::LoadU(df, from));
    const auto level = hn::Add(hn::Mul(wide, hn::Set(d, inverse)), hn::Set(d, zero_point));
    const auto inside = hn::Min(hn::Max(hn::Round(level), hn::Set(d, low)), hn::Set(d, high));
    const auto numbers = hn::IfThenZeroElse(hn::IsNaN(level), inside);
    hn::StoreU(hn::DemoteTo(dt, hn::DemoteTo(di, numbers)), dt, to);
  });
}

template <typename T>
HWY_INLINE void FromLevels(const T* levels, float* out, size_t n, float zero_point, float scale) {
  const F d;
  const hn::Rebind<int32_t, F> di;
  const hn::Rebind<T, F> dt;
  ByVectors(d, levels, out, n, [=](const T* from, float* to) HWY_ATTR {
    const auto x = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(dt, from)));
    hn::StoreU(hn::Mul(hn::Sub(x, hn::Set(d, zero_point)), hn::Set(d, scale)), d, to);
  });
}

}  // namespace levels
}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_LEVELS_INL_H_
