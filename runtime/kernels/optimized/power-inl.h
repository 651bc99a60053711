// SPDX-License-Identifier: Apache-2.0
//
// Powers, and divisions whose quotient is whole, of float vectors: computed in
// double, as the error of a logarithm grows with the exponent and that of a
// quotient with the quotient. Compiled once per instruction set; to be included
// after vector_math-inl.h.
#if defined(PETREL_RUNTIME_KERNELS_OPTIMIZED_POWER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PETREL_RUNTIME_KERNELS_OPTIMIZED_POWER_INL_H_
#undef PETREL_RUNTIME_KERNELS_OPTIMIZED_POWER_INL_H_
#else
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_POWER_INL_H_
#endif

#include <cmath>

#include "hwy/highway.h"
#include "runtime/kernels/optimized/wide_lanes-inl.h"
#include "runtime/kernels/portable/reference_math.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

// Added to a whole double below 2^51, it leaves that number in the low bits.
constexpr double kWholeBits = 6755399441055744.0;

// log(x) for the doubles that positive floats are.
HWY_INLINE VW WideLog(VW x) {
  const DW dw;
  const hn::RebindToSigned<DW> di;
  const auto bits = hn::BitCast(di, x);
  // Bits of sqrt(1/2), as in LogOfMantissa().
  const auto from_root = hn::Sub(bits, hn::Set(di, int64_t{0x3fe6a09e667f3bcd}));
  const auto exponent = hn::ShiftRight<52>(from_root);
  const VW m = hn::BitCast(dw, hn::Sub(bits, hn::ShiftLeft<52>(exponent)));
  const auto shifted = hn::Add(exponent, hn::BitCast(di, hn::Set(dw, kWholeBits)));
  const VW e = hn::Sub(hn::BitCast(dw, shifted), hn::Set(dw, kWholeBits));
  const VW one = hn::Set(dw, 1.0);
  const VW s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const VW square = hn::Mul(s, s);
  constexpr double kTerms[] = {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13};
  VW sum = hn::Set(dw, kTerms[6]);
  for (size_t i = 6; i-- > 0;) sum = hn::MulAdd(sum, square, hn::Set(dw, kTerms[i]));
  return hn::MulAdd(e, hn::Set(dw, 0.69314718055994530942), hn::Mul(s, sum));
}

// e^x for |x| <= 300.
HWY_INLINE VW WideExp(VW x) {
  const DW dw;
  const hn::RebindToSigned<DW> di;
  const VW n = hn::Round(hn::Mul(x, hn::Set(dw, 1.44269504088896340736)));
  const VW r = hn::NegMulAdd(n, hn::Set(dw, 0.69314718055994530942), x);
  constexpr double kTerms[] = {1.0,       1.0,       1.0 / 2,    1.0 / 6,     1.0 / 24,
                               1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880};
  VW sum = hn::Set(dw, kTerms[9]);
  for (size_t i = 9; i-- > 0;) sum = hn::MulAdd(sum, r, hn::Set(dw, kTerms[i]));
  const auto whole = hn::BitCast(di, hn::Add(n, hn::Set(dw, kWholeBits)));
  return hn::BitCast(dw, hn::Add(hn::BitCast(di, sum), hn::ShiftLeft<52>(whole)));
}

HWY_INLINE V Pow(V x, V y) {
  const D d;
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0f), infinity = hn::Set(d, kInfinity);
  const V a = hn::Abs(x);
  const auto usual =
      hn::And(hn::And(hn::Gt(a, zero), hn::Lt(a, infinity)), hn::Lt(hn::Abs(y), infinity));
  const V base = hn::IfThenElse(usual, a, one);
  const V exponent = hn::IfThenElseZero(usual, y);
  // Beyond 88.9 the power is infinite; what stands for it is a finite float.
  constexpr double kBeyond = 0x1.fffffep127;
  V power = InDoubles(base, exponent, [](VW base, VW exponent) HWY_ATTR {
    const DW dw;
    const VW log = hn::Mul(exponent, WideLog(base));
    const VW limited = hn::Min(hn::Max(log, hn::Set(dw, -150.0)), hn::Set(dw, 88.9));
    return hn::Min(WideExp(limited), hn::Set(dw, kBeyond));
  });
  power = hn::IfThenElse(hn::Eq(power, hn::Set(d, static_cast<float>(kBeyond))), infinity, power);
  power = hn::IfThenElse(hn::Eq(a, zero), hn::IfThenElseZero(hn::Lt(y, zero), infinity), power);
  const auto is_whole = hn::Eq(hn::Round(y), y);
  const V half = hn::Mul(y, hn::Set(d, 0.5f));
  const auto is_odd = hn::AndNot(hn::Eq(hn::Round(half), half), is_whole);
  const auto negative = hn::Lt(hn::CopySign(one, x), zero);
  power = hn::IfThenElse(hn::And(negative, is_odd), hn::Neg(power), power);
  const auto undefined = hn::AndNot(is_whole, hn::Lt(x, zero));
  power = hn::IfThenElse(undefined, hn::Set(d, std::numeric_limits<float>::quiet_NaN()), power);
  // Zeros, infinities and NaN raised to 0, to infinities and to NaN.
  const auto of_zero =
      hn::And(hn::Eq(a, zero), hn::And(hn::Lt(hn::Abs(y), infinity), hn::Gt(hn::Abs(y), zero)));
  const auto strange = hn::Not(hn::Or(usual, of_zero));
  return LaneByLane(strange, x, y, power, &reference_math::pow);
}

// Rest of x / y with the sign of x, exact. In double a quotient below 2^28 is
// at most one too large or too small.
HWY_INLINE V Fmod(V x, V y) {
  const D d;
  const V a = hn::Abs(x), b = hn::Abs(y);
  const auto usual = hn::And(hn::Lt(hn::Div(a, b), hn::Set(d, 268435456.0f)),
                             hn::And(hn::Gt(b, hn::Zero(d)), hn::Lt(b, hn::Set(d, kInfinity))));
  const V one = hn::Set(d, 1.0f);
  const V rest = InDoubles(hn::IfThenElse(usual, a, one), hn::IfThenElse(usual, b, one),
                           [](VW a, VW b) HWY_ATTR {
                             const DW dw;
                             const VW whole = hn::Floor(hn::Div(a, b));
                             VW rest = hn::Sub(a, hn::Mul(whole, b));
                             const auto below = hn::Lt(rest, hn::Zero(dw));
                             rest = hn::IfThenElse(below, hn::Add(rest, b), rest);
                             return hn::IfThenElse(hn::Ge(rest, b), hn::Sub(rest, b), rest);
                           });
  return LaneByLane(hn::Not(usual), x, y, hn::CopySign(rest, x),
                    [](double x, double y) { return std::fmod(x, y); });
}

// Where x / y leaves a rest of the other sign than y.
HWY_INLINE hn::Mask<D> CrossesZero(V rest, V y) {
  const V zero = hn::Zero(D());
  return hn::AndNot(hn::Eq(rest, zero), hn::Xor(hn::Lt(rest, zero), hn::Lt(y, zero)));
}

HWY_INLINE V Remainder(V x, V y) {
  const V rest = Fmod(x, y);
  return hn::IfThenElse(CrossesZero(rest, y), hn::Add(rest, y), rest);
}

// The largest whole number at or below x / y, found from the rest.
HWY_INLINE V FloorDivide(V x, V y) {
  const D d;
  const V rest = Fmod(x, y);
  V quotient = hn::Div(hn::Sub(x, rest), y);
  quotient = hn::IfThenElse(CrossesZero(rest, y), hn::Sub(quotient, hn::Set(d, 1.0f)), quotient);
  const V floor = hn::Floor(quotient);
  const auto above = hn::Gt(hn::Sub(quotient, floor), hn::Set(d, 0.5f));
  const V whole = hn::IfThenElse(above, hn::Add(floor, hn::Set(d, 1.0f)), floor);
  const V plain = hn::Div(x, y);
  const V signed_zero = hn::CopySign(hn::Zero(d), plain);
  const V result = hn::IfThenElse(hn::Eq(quotient, hn::Zero(d)), signed_zero, whole);
  return hn::IfThenElse(hn::Eq(y, hn::Zero(d)), plain, result);
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
