// SPDX-License-Identifier: Apache-2.0
//
// out[i] = f(self[i]) for tensors of equal layout: of floats as vector code, of
// half and bfloat16 by way of floats, of integers and bools, where they have
// the function, as plain loops.
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/instruction_sets.h"
#include "runtime/kernels/optimized/narrow_floats.h"
#include "runtime/kernels/optimized/parallel.h"
#include "runtime/kernels/optimized/plain_map.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/unary.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/vector_math-inl.h"
#include "runtime/kernels/optimized/trigonometry-inl.h"

// The functions without parameters: operator, name here, nanoseconds per
// element, f(x).
#define PETREL_PLAIN_UNARY(X)                                          \
  X(exp, 0.2, Exp(x))                                                  \
  X(expm1, 0.3, Expm1(x))                                              \
  X(log, 0.3, Log(x))                                                  \
  X(log1p, 0.4, Log1p(x))                                              \
  X(log2, 0.3, Log2(x))                                                \
  X(log10, 0.3, Log10(x))                                              \
  X(tanh, 0.3, Tanh(x))                                                \
  X(sigmoid, 0.3, Sigmoid(x))                                          \
  X(erf, 0.4, Erf(x))                                                  \
  X(sin, 0.5, Sin(x))                                                  \
  X(cos, 0.5, Cos(x))                                                  \
  X(tan, 0.6, Tan(x))                                                  \
  X(asin, 0.4, Asin(x))                                                \
  X(acos, 0.4, Acos(x))                                                \
  X(atan, 0.4, Atan(x))                                                \
  X(sinh, 0.5, Sinh(x))                                                \
  X(cosh, 0.5, Cosh(x))                                                \
  X(asinh, 0.7, Asinh(x))                                              \
  X(acosh, 0.7, Acosh(x))                                              \
  X(atanh, 0.6, Atanh(x))                                              \
  X(sqrt, 0.2, hn::Sqrt(x))                                            \
  X(rsqrt, 0.2, hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x)))                \
  X(reciprocal, 0.2, hn::Div(hn::Set(d, 1.0f), x))                     \
  X(abs, 0.1, hn::Abs(x))                                              \
  X(neg, 0.1, hn::Neg(x))                                              \
  X(ceil, 0.1, hn::Ceil(x))                                            \
  X(floor, 0.1, hn::Floor(x))                                          \
  X(trunc, 0.1, hn::Trunc(x))                                          \
  X(round, 0.1, hn::Round(x))                                          \
  X(relu, 0.1, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x)) \
  X(sign, 0.1,                                                         \
    hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f),           \
                   hn::IfThenElseZero(hn::Lt(x, hn::Zero(d)), hn::Set(d, -1.0f))))

// The functions with parameters p[0], p[1], p[2].
#define PETREL_PARAMETER_UNARY(X)                                                        \
  X(gelu, hn::Mul(hn::Mul(hn::Set(d, 0.5f), x),                                          \
                  hn::Add(hn::Set(d, 1.0f), Erf(hn::Mul(x, hn::Set(d, 0.707106781f)))))) \
  X(gelu_tanh, GeluTanh(x))                                                              \
  X(clamp, hn::IfThenElse(hn::Gt(AtLeast(x, p[0]), hn::Set(d, p[1])), hn::Set(d, p[1]),  \
                          AtLeast(x, p[0])))                                             \
  X(logit, Log(hn::Div(Between(x, p), hn::Sub(hn::Set(d, 1.0f), Between(x, p)))))        \
  X(leaky_relu, hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, hn::Set(d, p[0])))) \
  X(elu, hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Mul(x, hn::Set(d, p[1])),            \
                        hn::Mul(hn::Set(d, p[1] * p[0]), Expm1(hn::Mul(x, hn::Set(d, p[2]))))))

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

HWY_INLINE V GeluTanh(V x) {
  const D d;
  const V cube = hn::Mul(hn::Mul(x, x), x);
  const V inner = hn::Mul(hn::Set(d, 0.797884561f), hn::MulAdd(cube, hn::Set(d, 0.044715f), x));
  return hn::Mul(hn::Mul(hn::Set(d, 0.5f), x), hn::Add(hn::Set(d, 1.0f), Tanh(inner)));
}

// NaN stays.
HWY_INLINE V AtLeast(V x, float low) {
  const D d;
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, low)), hn::Set(d, low), x);
}

// In [p[0], p[1]]; NaN stays, as does everything where p[0] is below 0. What is
// below p[0] is p[0] even where the bounds cross.
HWY_INLINE V Between(V x, const float* p) {
  const D d;
  if (!(p[0] >= 0.0f)) return x;
  const V low = hn::Set(d, p[0]), high = hn::Set(d, p[1]);
  return hn::IfThenElse(hn::Lt(x, low), low, hn::IfThenElse(hn::Gt(x, high), high, x));
}

#define PETREL_DEFINE(name, nanoseconds, expression)                     \
  void Row_##name(const float* in, float* out, size_t n, const float*) { \
    MapVectors(in, out, n, [](V x) HWY_ATTR {                            \
      [[maybe_unused]] const D d;                                        \
      return expression;                                                 \
    });                                                                  \
  }
PETREL_PLAIN_UNARY(PETREL_DEFINE)
#undef PETREL_DEFINE

#define PETREL_DEFINE(name, expression)                                    \
  void Row_##name(const float* in, float* out, size_t n, const float* p) { \
    MapVectors(in, out, n, [=](V x) HWY_ATTR {                             \
      [[maybe_unused]] const D d;                                          \
      (void)p;                                                             \
      return expression;                                                   \
    });                                                                    \
  }
PETREL_PARAMETER_UNARY(PETREL_DEFINE)
#undef PETREL_DEFINE

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

using RowFunction = void (*)(const float* in, float* out, size_t n, const float* parameters);

// False when the call is not for these kernels.
bool map_rows(const Tensor& self, const Tensor& out, RowFunction function, double nanoseconds,
              const float* parameters = nullptr) {
  const ScalarType type = self.scalar_type();
  if (out.scalar_type() != type || (type != ScalarType::Float && !is_narrow(type))) return false;
  if (resize_tensor(out, self.sizes()) != Error::Ok || !same_layout(self, out)) return false;
  if (type != ScalarType::Float) {
    constexpr size_t kPiece = 1024;
    const size_t n = self.numel();
    parallel_for((n + kPiece - 1) / kPiece, (nanoseconds + 0.2) * kPiece,
                 [&](size_t begin, size_t end) {
                   for (size_t i = begin * kPiece; i < n && i < end * kPiece; i += kPiece) {
                     float row[kPiece];
                     const size_t count = n - i < kPiece ? n - i : kPiece;
                     widen(type, self.const_data_ptr(), i, row, count);
                     function(row, row, count, parameters);
                     narrow(row, type, out.mutable_data_ptr(), i, count);
                   }
                 });
    return true;
  }
  const float* from = self.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  // In steps of a cache line, so that threads do not write to the same one.
  constexpr size_t kStep = 16;
  const size_t numel = self.numel();
  parallel_for((numel + kStep - 1) / kStep, nanoseconds * kStep, [&](size_t begin, size_t end) {
    const size_t first = begin * kStep;
    const size_t last = end * kStep < numel ? end * kStep : numel;
    function(from + first, to + first, last - first, parameters);
  });
  return true;
}

// False where a bound is not one of the type.
bool clamp_integers(const Tensor& self, const Tensor& out, const std::optional<Scalar>& min,
                    const std::optional<Scalar>& max) {
  const ScalarType type = self.scalar_type();
  if (out.scalar_type() != type || resize_tensor(out, self.sizes()) != Error::Ok ||
      !same_layout(self, out)) {
    return false;
  }
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    constexpr T kLow = std::numeric_limits<T>::min();
    constexpr T kHigh = std::numeric_limits<T>::max();
    const int64_t low = min ? min->to_int() : kLow;
    const int64_t high = max ? max->to_int() : kHigh;
    if (low < kLow || low > kHigh || high < kLow || high > kHigh) return false;
    const T least = static_cast<T>(low);
    const T most = static_cast<T>(high);
    const T* from = self.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    parallel_for(self.numel(), 0.3, [&](size_t begin, size_t end) {
      map_row(from + begin, to + begin, end - begin, [least, most](T x) {
        const T y = x > least ? x : least;
        return y < most ? y : most;
      });
    });
    return true;
  };
  switch (type) {
    case ScalarType::Long:
      return run(int64_t{0});
    case ScalarType::Int:
      return run(int32_t{0});
    case ScalarType::Short:
      return run(int16_t{0});
    case ScalarType::Char:
      return run(int8_t{0});
    case ScalarType::Byte:
      return run(uint8_t{0});
    default:
      return false;
  }
}

// Overflow wraps, as arithmetic of integers does.
template <typename T>
T negated(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return -x;
  } else {
    return static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(x));
  }
}

// What a function is for integers, of doubles with the same loop; false when it
// has none here.
template <typename Name>
bool map_as_integers(const Tensor&, const Tensor&) {
  return false;
}
struct Name_abs;
struct Name_neg;
struct Name_sign;
struct Name_relu;
template <>
bool map_as_integers<Name_abs>(const Tensor& self, const Tensor& out) {
  return map_plain<true>(self, out, [](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>) return std::fabs(x);
    return x < 0 ? negated(x) : x;
  });
}
template <>
bool map_as_integers<Name_neg>(const Tensor& self, const Tensor& out) {
  return map_plain<true>(self, out, [](auto x) { return negated(x); });
}
template <>
bool map_as_integers<Name_sign>(const Tensor& self, const Tensor& out) {
  return map_plain<true>(self, out,
                         [](auto x) { return static_cast<decltype(x)>((x > 0) - (x < 0)); });
}
template <>
bool map_as_integers<Name_relu>(const Tensor& self, const Tensor& out) {
  return map_plain<true>(self, out, [](auto x) { return x < 0 ? decltype(x){0} : x; });
}

// Functions of doubles that the C library computes in about the time of a
// vector of them.
double (*double_function(std::string_view name))(double) {
  struct Entry {
    std::string_view name;
    double (*function)(double);
  };
  static constexpr Entry kFunctions[] = {
      {"exp", std::exp},
      {"expm1", std::expm1},
      {"log", std::log},
      {"log1p", std::log1p},
      {"log2", std::log2},
      {"log10", std::log10},
      {"sin", std::sin},
      {"cos", std::cos},
      {"tan", std::tan},
      {"asin", std::asin},
      {"acos", std::acos},
      {"atan", std::atan},
      {"sinh", std::sinh},
      {"cosh", std::cosh},
      {"tanh", std::tanh},
      {"asinh", std::asinh},
      {"acosh", std::acosh},
      {"atanh", std::atanh},
      {"erf", std::erf},
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"ceil", std::ceil},
      {"floor", std::floor},
      {"trunc", std::trunc},
      {"round", std::nearbyint},
      {"sigmoid", [](double x) { return 1.0 / (1.0 + std::exp(-x)); }},
      {"rsqrt", [](double x) { return 1.0 / std::sqrt(x); }},
      {"reciprocal", [](double x) { return 1.0 / x; }}};
  for (const Entry& entry : kFunctions) {
    if (entry.name == name) return entry.function;
  }
  return nullptr;
}

bool map_by_library(const Tensor& self, const Tensor& out, std::string_view name) {
  double (*function)(double) = double_function(name);
  return function != nullptr && map_doubles(self, out, 10.0, function);
}

#define PETREL_DEFINE(name, nanoseconds, expression) PETREL_EXPORT(Row_##name);
PETREL_PLAIN_UNARY(PETREL_DEFINE)
#undef PETREL_DEFINE
#define PETREL_DEFINE(name, expression) PETREL_EXPORT(Row_##name);
PETREL_PARAMETER_UNARY(PETREL_DEFINE)
#undef PETREL_DEFINE

}  // namespace

#define PETREL_DEFINE(name, nanoseconds, expression)                                            \
  void name##_out(KernelRuntimeContext& context, Span<EValue*> raw) {                           \
    KernelArgs args(context, raw, 2);                                                           \
    const Tensor self = args.tensor(0);                                                         \
    const Tensor out = args.out(1);                                                             \
    if (!args.ok()) return;                                                                     \
    if (!map_rows(self, out, PETREL_DISPATCH(Row_##name), nanoseconds) &&                       \
        !map_as_integers<struct Name_##name>(self, out) && !map_by_library(self, out, #name)) { \
      portable::name##_out(context, raw);                                                       \
    }                                                                                           \
  }
PETREL_PLAIN_UNARY(PETREL_DEFINE)
#undef PETREL_DEFINE

// gelu.out(Tensor self, *, str approximate, Tensor(a!) out)
void gelu_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const std::string_view approximate = args.string(1);
  const Tensor out = args.out(2);
  if (!args.ok()) return;
  const bool taken = approximate == "none" ? map_rows(self, out, PETREL_DISPATCH(Row_gelu), 0.5)
                     : approximate == "tanh"
                         ? map_rows(self, out, PETREL_DISPATCH(Row_gelu_tanh), 0.5)
                         : false;
  const bool is_tanh = approximate == "tanh";
  if (taken || ((is_tanh || approximate == "none") && map_doubles(self, out, 10.0, [=](double x) {
                  if (!is_tanh) return 0.5 * x * (1.0 + std::erf(x * 0.70710678118654752440));
                  constexpr double kRootTwoOverPi = 0.79788456080286535588;
                  return 0.5 * x * (1.0 + std::tanh(kRootTwoOverPi * (x + 0.044715 * x * x * x)));
                }))) {
    return;
  }
  portable::gelu_out(context, raw);
}

// hardtanh.out(Tensor self, Scalar min_val, Scalar max_val, *, Tensor(a!) out)
void hardtanh_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const float p[] = {static_cast<float>(args.scalar(1).to_double()),
                     static_cast<float>(args.scalar(2).to_double())};
  const Tensor out = args.out(3);
  if (!args.ok()) return;
  // Where the bounds cross, clamp and hardtanh differ.
  if (!(p[0] <= p[1]) || !map_rows(self, out, PETREL_DISPATCH(Row_clamp), 0.1, p)) {
    portable::hardtanh_out(context, raw);
  }
}

// clamp.out(Tensor self, Scalar? min, Scalar? max, *, Tensor(a!) out)
void clamp_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const std::optional<Scalar> min = args.optional_scalar(1);
  const std::optional<Scalar> max = args.optional_scalar(2);
  const Tensor out = args.out(3);
  if (!args.ok()) return;
  if ((!min || min->isIntegral(false)) && (!max || max->isIntegral(false)) && (min || max) &&
      clamp_integers(self, out, min, max)) {
    return;
  }
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  const double low = min ? min->to_double() : -kEndless;
  const double high = max ? max->to_double() : kEndless;
  if (std::isnan(low) || std::isnan(high)) return portable::clamp_out(context, raw);
  if (map_doubles(self, out, 0.4, [=](double x) {
        const double y = x < low ? low : x;
        return y > high ? high : y;
      })) {
    return;
  }
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const float p[] = {min ? static_cast<float>(min->to_double()) : -kInfinite,
                     max ? static_cast<float>(max->to_double()) : kInfinite};
  if (!map_rows(self, out, PETREL_DISPATCH(Row_clamp), 0.1, p)) {
    portable::clamp_out(context, raw);
  }
}

// logical_not.out(Tensor self, *, Tensor(a!) out) and bitwise_not.out of bools
bool not_bools(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  if (!args.ok()) return true;
  if (self.scalar_type() != ScalarType::Bool || out.scalar_type() != ScalarType::Bool ||
      resize_tensor(out, self.sizes()) != Error::Ok || !same_layout(self, out)) {
    return false;
  }
  const uint8_t* from = self.const_data_ptr<uint8_t>();
  uint8_t* to = out.mutable_data_ptr<uint8_t>();
  map_row(from, to, self.numel(), [](uint8_t x) { return x == 0 ? 1 : 0; });
  return true;
}
void logical_not_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!not_bools(context, raw)) portable::logical_not_out(context, raw);
}
void bitwise_not_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  if (!args.ok() ||
      map_plain<false>(self, out, [](auto x) { return static_cast<decltype(x)>(~x); })) {
    return;
  }
  if (!not_bools(context, raw)) portable::bitwise_not_out(context, raw);
}

// isnan.out and isinf.out(Tensor self, *, Tensor(a!) out) of floats, by the bits
// without the sign: above those of infinity, or equal to them.
template <bool kInfinite>
bool classify(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  if (!args.ok()) return true;
  if (!is_float(self) || out.scalar_type() != ScalarType::Bool ||
      resize_tensor(out, self.sizes()) != Error::Ok || !same_layout(self, out)) {
    return false;
  }
  const float* from = self.const_data_ptr<float>();
  uint8_t* to = static_cast<uint8_t*>(out.mutable_data_ptr());
  parallel_for(self.numel(), 0.2, [&](size_t begin, size_t end) {
    map_row(from + begin, to + begin, end - begin, [](float x) {
      int32_t bits = 0;
      std::memcpy(&bits, &x, sizeof(bits));
      bits &= 0x7fffffff;
      return (kInfinite ? bits == 0x7f800000 : bits > 0x7f800000) ? 1 : 0;
    });
  });
  return true;
}
void isnan_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!classify<false>(context, raw)) portable::isnan_out(context, raw);
}
void isinf_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!classify<true>(context, raw)) portable::isinf_out(context, raw);
}

// leaky_relu.out(Tensor self, Scalar negative_slope, *, Tensor(a!) out)
void leaky_relu_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const float p[] = {static_cast<float>(args.scalar(1).to_double())};
  const Tensor out = args.out(2);
  if (!args.ok()) return;
  if (!map_rows(self, out, PETREL_DISPATCH(Row_leaky_relu), 0.1, p)) {
    portable::leaky_relu_out(context, raw);
  }
}

// As an element of `type` holds it, where that is one of floats.
float rounded(ScalarType type, float value) {
  if (is_narrow(type)) {
    uint16_t element = 0;
    narrow(&value, type, &element, 0, 1);
    widen(type, &element, 0, &value, 1);
  }
  return value;
}

// logit.out(Tensor self, float? eps, *, Tensor(a!) out)
void logit_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const std::optional<double> eps = args.optional_real(1);
  const Tensor out = args.out(2);
  if (!args.ok()) return;
  const float low = eps ? rounded(self.scalar_type(), static_cast<float>(*eps)) : -1.0f;
  const float p[] = {low, rounded(self.scalar_type(), 1.0f - low)};
  if (!map_rows(self, out, PETREL_DISPATCH(Row_logit), 0.5, p)) {
    portable::logit_out(context, raw);
  }
}

// elu.out(Tensor self, Scalar alpha, Scalar scale, Scalar input_scale, *, out)
void elu_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const float p[] = {static_cast<float>(args.scalar(1).to_double()),
                     static_cast<float>(args.scalar(2).to_double()),
                     static_cast<float>(args.scalar(3).to_double())};
  const Tensor out = args.out(4);
  if (!args.ok()) return;
  if (!map_rows(self, out, PETREL_DISPATCH(Row_elu), 0.3, p)) {
    portable::elu_out(context, raw);
  }
}

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
