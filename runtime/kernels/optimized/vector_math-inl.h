// SPDX-License-Identifier: Apache-2.0
//
// Functions of float vectors, compiled once per instruction set. Errors are a
// few units of the last place; infinities, NaN and subnormal arguments give
// what eager PyTorch gives.
//
// Included by files that foreach_target.h compiles again and again, hence the
// guard that turns with the target.
#if defined(PETREL_RUNTIME_KERNELS_OPTIMIZED_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PETREL_RUNTIME_KERNELS_OPTIMIZED_VECTOR_MATH_INL_H_
#undef PETREL_RUNTIME_KERNELS_OPTIMIZED_VECTOR_MATH_INL_H_
#else
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_VECTOR_MATH_INL_H_
#endif

#include <cstring>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using DI = hn::RebindToSigned<D>;
using VI = hn::Vec<DI>;

constexpr size_t kMaxLanes = 16;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// c[0] + x c[1] + x^2 c[2] + ...
template <size_t N>
HWY_INLINE V Polynomial(V x, const float (&c)[N]) {
  const D d;
  V y = hn::Set(d, c[N - 1]);
  for (size_t i = N - 1; i-- > 0;) y = hn::MulAdd(y, x, hn::Set(d, c[i]));
  return y;
}

// 2^n, n in [-126, 127].
HWY_INLINE V PowerOfTwo(VI n) {
  const DI di;
  return hn::BitCast(D(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// x = n ln 2 + r with |r| <= ln 2 / 2; n as a whole float.
HWY_INLINE V ReduceByLn2(V x, V* n) {
  const D d;
  *n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  // ln 2 in two parts, of which the first times n is exact.
  const V r = hn::NegMulAdd(*n, hn::Set(d, 0.693359375f), x);
  return hn::NegMulAdd(*n, hn::Set(d, -2.12194440e-4f), r);
}

// e^r - 1 for |r| <= ln 2 / 2.
HWY_INLINE V SmallExpm1(V r) {
  constexpr float kTerms[] = {1.0f,       1.0f / 2,   1.0f / 6,    1.0f / 24,
                              1.0f / 120, 1.0f / 720, 1.0f / 5040, 1.0f / 40320};
  return hn::Mul(r, Polynomial(r, kTerms));
}

HWY_INLINE V Exp(V x) {
  const D d;
  const DI di;
  // Beyond these the result is 0 or infinite whatever the rest is.
  const V limited = hn::Min(hn::Max(x, hn::Set(d, -104.0f)), hn::Set(d, 89.0f));
  V n;
  const V r = ReduceByLn2(limited, &n);
  const V y = hn::Add(SmallExpm1(r), hn::Set(d, 1.0f));
  // In two steps, as 2^n itself may be too small or large for a float.
  const VI whole = hn::ConvertTo(di, n);
  const VI half = hn::ShiftRight<1>(whole);
  const V scaled = hn::Mul(hn::Mul(y, PowerOfTwo(half)), PowerOfTwo(hn::Sub(whole, half)));
  return hn::IfThenElse(hn::IsNaN(x), x, scaled);
}

// e^x for x <= 0, with 0 instead of results too small for a normal float. What
// a softmax needs, for half the work.
HWY_INLINE V ExpOfNegative(V x) {
  const D d;
  const DI di;
  const V low = hn::Set(d, -87.3f);
  const auto vanishes = hn::Lt(x, low);
  V n;
  const V r = ReduceByLn2(hn::IfThenElse(vanishes, low, x), &n);
  constexpr float kTerms[] = {1.0f,      1.0f,       1.0f / 2,   1.0f / 6,
                              1.0f / 24, 1.0f / 120, 1.0f / 720, 1.0f / 5040};
  const V y = hn::Mul(Polynomial(r, kTerms), PowerOfTwo(hn::ConvertTo(di, n)));
  return hn::IfThenZeroElse(vanishes, y);
}

HWY_INLINE V Expm1(V x) {
  const D d;
  const auto small = hn::Lt(hn::Abs(x), hn::Set(d, 0.34f));
  return hn::IfThenElse(small, SmallExpm1(x), hn::Sub(Exp(x), hn::Set(d, 1.0f)));
}

// x > 0, finite, as 2^e m with m in [sqrt(1/2), sqrt(2)); gives e and log(m).
HWY_INLINE V LogOfMantissa(V x, V* e) {
  const D d;
  const DI di;
  const auto subnormal = hn::Lt(x, hn::Set(d, 1.17549435e-38f));
  x = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, 8388608.0f)), x);
  const VI bits = hn::BitCast(di, x);
  // Bits of sqrt(1/2): subtracting them makes the exponent change there.
  const VI from_root = hn::Sub(bits, hn::Set(di, 0x3f3504f3));
  const VI exponent = hn::ShiftRight<23>(from_root);
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  *e = hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElseZero(subnormal, hn::Set(d, 23.0f)));
  // log(m) = 2 artanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...), |s| < 0.172
  const V f = hn::Sub(m, hn::Set(d, 1.0f));
  const V s = hn::Div(f, hn::Add(m, hn::Set(d, 1.0f)));
  const V square = hn::Mul(s, s);
  constexpr float kTerms[] = {2.0f / 3, 2.0f / 5, 2.0f / 7, 2.0f / 9};
  // 2 s = f - s f, which keeps the bits of f.
  const V rest = hn::Mul(square, Polynomial(square, kTerms));
  return hn::Sub(f, hn::Mul(s, hn::Sub(f, rest)));
}

// Where x is 0, negative, infinite or NaN a logarithm is not `y`.
HWY_INLINE V SpecialLog(V x, V y) {
  const D d;
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, -kInfinity), y);
  y = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()),
                     y);
  y = hn::IfThenElse(hn::Eq(x, hn::Set(d, kInfinity)), x, y);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// log to the base of which `per_two` is the logarithm of 2 (as a sum, the first
// part exact) and `per_e` that of e.
HWY_INLINE V LogToBase(V x, float per_two, float per_two_rest, float per_e) {
  const D d;
  V e;
  const V log = LogOfMantissa(x, &e);
  V y = hn::MulAdd(e, hn::Set(d, per_two_rest), hn::Mul(log, hn::Set(d, per_e)));
  y = hn::MulAdd(e, hn::Set(d, per_two), y);
  return SpecialLog(x, y);
}
HWY_INLINE V Log(V x) { return LogToBase(x, 0.693359375f, -2.12194440e-4f, 1.0f); }
HWY_INLINE V Log2(V x) { return LogToBase(x, 1.0f, 0.0f, 1.44269504f); }
HWY_INLINE V Log10(V x) { return LogToBase(x, 0.30078125f, 2.4874566e-4f, 0.434294482f); }

HWY_INLINE V Log1p(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V u = hn::Add(one, x);
  // What rounding u lost, to first order.
  const V lost = hn::Div(hn::Sub(x, hn::Sub(u, one)), u);
  const auto plain = hn::And(hn::Gt(u, hn::Zero(d)), hn::Lt(u, hn::Set(d, kInfinity)));
  const V y = hn::Add(Log(u), hn::IfThenElseZero(plain, lost));
  return hn::IfThenElse(hn::Eq(u, one), x, y);
}

HWY_INLINE V Tanh(V x) {
  const D d;
  // tanh(x) = (e^2x - 1) / (e^2x + 1), 1 in float beyond 9.1.
  const V limited = hn::Min(hn::Max(x, hn::Set(d, -10.0f)), hn::Set(d, 10.0f));
  const V e = Expm1(hn::Add(limited, limited));
  const V y = hn::Div(e, hn::Add(e, hn::Set(d, 2.0f)));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

HWY_INLINE V Sigmoid(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, Exp(hn::Neg(x))));
}

HWY_INLINE V Erf(V x) {
  const D d;
  // Near 0 the series 2 / sqrt(pi) sum of (-1)^n x^(2n+1) / (n! (2n+1)).
  constexpr double kScale = 1.1283791670955126;
  constexpr float kSeries[] = {
      static_cast<float>(kScale),         static_cast<float>(-kScale / 3),
      static_cast<float>(kScale / 10),    static_cast<float>(-kScale / 42),
      static_cast<float>(kScale / 216),   static_cast<float>(-kScale / 1320),
      static_cast<float>(kScale / 9360),  static_cast<float>(-kScale / 75600),
      static_cast<float>(kScale / 685440)};
  const V near = hn::Mul(x, Polynomial(hn::Mul(x, x), kSeries));
  // Further out 1 - e^(-x^2) g(x), g fitted in t = 1 / (1 + x / 2) over
  // [0.85, 4.3] with an error of 9e-9 in the result.
  constexpr float kTail[] = {6.652671727e-4f, 0.27276167273f,  0.33588114380f, 0.08585903048f,
                             0.42971551418f,  -0.08002128452f, -0.04541812092f};
  const V a = hn::Min(hn::Abs(x), hn::Set(d, 4.3f));
  const V one = hn::Set(d, 1.0f);
  const V t = hn::Div(one, hn::MulAdd(a, hn::Set(d, 0.5f), one));
  const V tail = hn::Mul(Exp(hn::Neg(hn::Mul(a, a))), Polynomial(t, kTail));
  const V far = hn::CopySign(hn::Sub(one, tail), x);
  const V y = hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0.9f)), near, far);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// The first n elements, fewer than a vector has, and zeros behind them. What lies past them is not
// read.
HWY_INLINE V LoadFirst(const float* in, size_t n) {
  const D d;
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, n), d, in);
#else
  HWY_ALIGN float first[kMaxLanes] = {};
  std::memcpy(first, in, n * sizeof(float));
  return hn::Load(d, first);
#endif
}

// Writes no more than the first n elements.
HWY_INLINE void StoreFirst(V v, float* out, size_t n) {
  const D d;
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, n), d, out);
#else
  HWY_ALIGN float first[kMaxLanes];
  hn::Store(v, d, first);
  std::memcpy(out, first, n * sizeof(float));
#endif
}

// out[i] = f(in[i]); the elements that do not fill a vector go through one on
// the stack, in the same loop, as f may be long. `in` may be `out`.
template <typename F>
HWY_INLINE void MapVectors(const float* in, float* out, size_t n, const F& f) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN float rest[kMaxLanes];
  for (size_t i = 0; i < n; i += lanes) {
    const bool is_whole = n - i >= lanes;
    if (HWY_UNLIKELY(!is_whole)) {
      hn::Store(hn::Zero(d), d, rest);
      std::memcpy(rest, in + i, (n - i) * sizeof(float));
    }
    hn::StoreU(f(hn::LoadU(d, is_whole ? in + i : rest)), d, is_whole ? out + i : rest);
    if (HWY_UNLIKELY(!is_whole)) std::memcpy(out + i, rest, (n - i) * sizeof(float));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
