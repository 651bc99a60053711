// SPDX-License-Identifier: Apache-2.0
//
// Trigonometric and hyperbolic functions of float vectors and their inverses,
// compiled once per instruction set, in the manner of vector_math-inl.h, which
// is to be included before. Lanes that a series does not serve (sin of a very
// large number) are computed one by one.
#if defined(PETREL_RUNTIME_KERNELS_OPTIMIZED_TRIGONOMETRY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PETREL_RUNTIME_KERNELS_OPTIMIZED_TRIGONOMETRY_INL_H_
#undef PETREL_RUNTIME_KERNELS_OPTIMIZED_TRIGONOMETRY_INL_H_
#else
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_TRIGONOMETRY_INL_H_
#endif

#include "hwy/highway.h"
#include "runtime/kernels/optimized/wide_lanes-inl.h"
#include "runtime/kernels/portable/reference_math.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

constexpr float kHalfPi = 1.57079633f;

// x = q pi/2 + r with r a little beyond pi/4 at most, for |x| < kMostTurned. In
// double, where q times the first part of pi/2 is exact and what cancels leaves
// more than a float holds.
constexpr float kMostTurned = 262144.0f;
HWY_INLINE V ReduceQuadrant(V x, VI* q) {
  const D d;
  const V turned = hn::IfThenElseZero(hn::Lt(hn::Abs(x), hn::Set(d, kMostTurned)), x);
  const V n = hn::Round(hn::Mul(turned, hn::Set(d, 0.636619772f)));
  *q = hn::ConvertTo(DI(), n);
  return InDoubles(turned, n, [](VW wide, VW quarter) HWY_ATTR {
    const DW dw;
    const VW r = hn::NegMulAdd(quarter, hn::Set(dw, 0x1.921fb54400000p+0), wide);
    return hn::NegMulAdd(quarter, hn::Set(dw, 0x1.0b4611a626331p-34), r);
  });
}

HWY_INLINE V SmallSin(V r) {
  constexpr float kTerms[] = {-1.0f / 6, 1.0f / 120, -1.0f / 5040, 1.0f / 362880};
  const V square = hn::Mul(r, r);
  return hn::MulAdd(hn::Mul(r, square), Polynomial(square, kTerms), r);
}
HWY_INLINE V SmallCos(V r) {
  constexpr float kTerms[] = {1.0f,        -1.0f / 2,    1.0f / 24,
                              -1.0f / 720, 1.0f / 40320, -1.0f / 3628800};
  return Polynomial(hn::Mul(r, r), kTerms);
}

// Sine of x + quarters * pi/2.
HWY_INLINE V Wave(V x, int quarters, double (*exact)(double)) {
  const D d;
  const DI di;
  VI q;
  const V r = ReduceQuadrant(x, &q);
  q = hn::Add(q, hn::Set(di, quarters));
  const auto is_cosine = hn::RebindMask(d, hn::Eq(hn::And(q, hn::Set(di, 1)), hn::Set(di, 1)));
  const V y = hn::IfThenElse(is_cosine, SmallCos(r), SmallSin(r));
  const V sign = hn::BitCast(d, hn::ShiftLeft<30>(hn::And(q, hn::Set(di, 2))));
  const auto far = hn::Not(hn::Lt(hn::Abs(x), hn::Set(d, kMostTurned)));
  return LaneByLane(far, x, hn::Xor(y, sign), exact);
}

// Near 0 the argument itself, with its sign.
HWY_INLINE V Sin(V x) {
  const auto tiny = hn::Lt(hn::Abs(x), hn::Set(D(), 1e-4f));
  return hn::IfThenElse(tiny, x, Wave(x, 0, &reference_math::sin));
}
HWY_INLINE V Cos(V x) { return Wave(x, 1, &reference_math::cos); }

HWY_INLINE V Tan(V x) {
  const D d;
  const DI di;
  VI q;
  const V r = ReduceQuadrant(x, &q);
  const V sine = SmallSin(r), cosine = SmallCos(r);
  const auto odd = hn::RebindMask(d, hn::Eq(hn::And(q, hn::Set(di, 1)), hn::Set(di, 1)));
  const V y =
      hn::Div(hn::IfThenElse(odd, hn::Neg(cosine), sine), hn::IfThenElse(odd, sine, cosine));
  const auto far = hn::Not(hn::Lt(hn::Abs(x), hn::Set(d, kMostTurned)));
  const auto tiny = hn::Lt(hn::Abs(x), hn::Set(d, 1e-4f));
  return hn::IfThenElse(tiny, x, LaneByLane(far, x, y, &reference_math::tan));
}

// The angle whose tangent is z, z in [0, 1]: beyond tan(pi/8) seen from pi/4.
HWY_INLINE V AtanOfFraction(V z) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const auto steep = hn::Gt(z, hn::Set(d, 0.414213562f));
  const V t = hn::IfThenElse(steep, hn::Div(hn::Sub(z, one), hn::Add(z, one)), z);
  const V square = hn::Mul(t, t);
  // (atan(t) / t - 1) / t^2, fitted over [0, tan(pi/8)^2] to 2e-8.
  constexpr float kTerms[] = {-0.3333333181f, 0.1999955012f, -0.1426423339f, 0.107463049f,
                              -0.06459392906f};
  const V angle = hn::MulAdd(hn::Mul(t, square), Polynomial(square, kTerms), t);
  return hn::Add(angle, hn::IfThenElseZero(steep, hn::Set(d, kHalfPi / 2)));
}

HWY_INLINE V Atan(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V a = hn::Abs(x);
  const auto flat = hn::Le(a, one);
  const V angle = AtanOfFraction(hn::IfThenElse(flat, a, hn::Div(one, a)));
  const V y = hn::IfThenElse(flat, angle, hn::Sub(hn::Set(d, kHalfPi), angle));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::CopySign(y, x));
}

HWY_INLINE V Atan2(V y, V x) {
  const D d;
  const V a = hn::Abs(x), b = hn::Abs(y);
  const V most = hn::IfThenElse(hn::Gt(a, b), a, b);
  const V least = hn::IfThenElse(hn::Gt(a, b), b, a);
  // Of two infinities the angle is that of equals; of two zeros 0.
  const auto alike = hn::And(hn::Eq(a, b), hn::Eq(a, hn::Set(d, kInfinity)));
  const V fraction = hn::IfThenZeroElse(
      hn::Eq(most, hn::Zero(d)), hn::IfThenElse(alike, hn::Set(d, 1.0f), hn::Div(least, most)));
  V angle = AtanOfFraction(fraction);
  angle = hn::IfThenElse(hn::Gt(b, a), hn::Sub(hn::Set(d, kHalfPi), angle), angle);
  const auto backward = hn::Lt(hn::CopySign(hn::Set(d, 1.0f), x), hn::Zero(d));
  angle = hn::IfThenElse(backward, hn::Sub(hn::Set(d, 2 * kHalfPi), angle), angle);
  const V sum = hn::Add(x, y);
  const auto is_nan = hn::Or(hn::IsNaN(x), hn::IsNaN(y));
  return hn::IfThenElse(is_nan, sum, hn::CopySign(angle, y));
}

// asin(z) for z in [0, 1/2], and `square`, its square, for which z may stand.
HWY_INLINE V SmallAsin(V z, V square) {
  // (asin(z) / z - 1) / z^2, fitted over [0, 1/4] to 4e-9.
  constexpr float kTerms[] = {0.1666666632f,  0.07500098776f, 0.04459802937f,
                              0.03111618224f, 0.01707775699f, 0.0338058964f};
  return hn::MulAdd(hn::Mul(z, square), Polynomial(square, kTerms), z);
}

// Beyond 1/2 by the half angle: asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
HWY_INLINE V Asin(V x) {
  const D d;
  const V a = hn::Abs(x), half = hn::Set(d, 0.5f);
  const auto steep = hn::Gt(a, half);
  const V square = hn::IfThenElse(steep, hn::NegMulAdd(half, a, half), hn::Mul(a, a));
  const V angle = SmallAsin(hn::IfThenElse(steep, hn::Sqrt(square), a), square);
  const V y = hn::IfThenElse(steep, hn::Sub(hn::Set(d, kHalfPi), hn::Add(angle, angle)), angle);
  return hn::CopySign(y, x);
}

HWY_INLINE V Acos(V x) {
  const D d;
  const V a = hn::Abs(x), half = hn::Set(d, 0.5f);
  const auto steep = hn::Gt(a, half);
  const V square = hn::IfThenElse(steep, hn::NegMulAdd(half, a, half), hn::Mul(a, a));
  const V angle = SmallAsin(hn::IfThenElse(steep, hn::Sqrt(square), a), square);
  const V twice = hn::Add(angle, angle);
  const V far =
      hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 2 * kHalfPi), twice), twice);
  return hn::IfThenElse(steep, far, hn::Sub(hn::Set(d, kHalfPi), hn::CopySign(angle, x)));
}

// e^a / 2, a > 9, also where e^a is infinite.
HWY_INLINE V HalfExp(V a) {
  const D d;
  const V half = hn::Set(d, 0.5f);
  const V root = Exp(hn::Mul(a, half));
  const V e = hn::IfThenElse(hn::Gt(a, hn::Set(d, 88.0f)), root, Exp(a));
  const V other = hn::IfThenElse(hn::Gt(a, hn::Set(d, 88.0f)), root, hn::Set(d, 1.0f));
  return hn::Mul(hn::Mul(e, half), other);
}

HWY_INLINE V Sinh(V x) {
  const D d;
  const V a = hn::Abs(x), half = hn::Set(d, 0.5f);
  const V e = Expm1(hn::Min(a, hn::Set(d, 80.0f)));
  const V near = hn::Mul(half, hn::Add(e, hn::Div(e, hn::Add(e, hn::Set(d, 1.0f)))));
  const V y = hn::IfThenElse(hn::Gt(a, hn::Set(d, 40.0f)), HalfExp(a), near);
  return hn::IfThenElse(hn::IsNaN(x), x, hn::CopySign(y, x));
}

HWY_INLINE V Cosh(V x) {
  const D d;
  const V a = hn::Abs(x), half = hn::Set(d, 0.5f);
  const V e = Exp(hn::Min(a, hn::Set(d, 80.0f)));
  const V near = hn::Mul(half, hn::Add(e, hn::Div(hn::Set(d, 1.0f), e)));
  const V y = hn::IfThenElse(hn::Gt(a, hn::Set(d, 40.0f)), HalfExp(a), near);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

HWY_INLINE V Asinh(V x) {
  const D d;
  const V a = hn::Abs(x), one = hn::Set(d, 1.0f);
  const V root = hn::Sqrt(hn::MulAdd(a, a, one));
  const V near = Log1p(hn::Add(a, hn::Div(hn::Mul(a, a), hn::Add(one, root))));
  const V far = hn::Add(Log(a), hn::Set(d, 0.693147181f));
  const V y = hn::IfThenElse(hn::Gt(a, hn::Set(d, 1e8f)), far, near);
  return hn::IfThenElse(hn::IsNaN(x), x, hn::CopySign(y, x));
}

HWY_INLINE V Acosh(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V t = hn::Sub(x, one);
  const V near = Log1p(hn::Add(t, hn::Sqrt(hn::Mul(t, hn::Add(x, one)))));
  const V far = hn::Add(Log(x), hn::Set(d, 0.693147181f));
  const V y = hn::IfThenElse(hn::Gt(x, hn::Set(d, 1e8f)), far, near);
  return hn::IfThenElse(hn::Lt(x, one), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), y);
}

HWY_INLINE V Atanh(V x) {
  const D d;
  const V a = hn::Abs(x);
  const V y = Log1p(hn::Div(hn::Add(a, a), hn::Sub(hn::Set(d, 1.0f), a)));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::CopySign(hn::Mul(hn::Set(d, 0.5f), y), x));
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
