// SPDX-License-Identifier: Apache-2.0
//
// out[i] = f(self[i]). Floating functions of integers give floats.
#include <cmath>
#include <limits>

#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/reference_math.h"

namespace petrel::runtime::portable {
namespace {

// Applies `fn` in the arithmetic C to every element.
template <typename C, typename Fn>
void map(const Tensor& self, const Tensor& out, Fn fn) {
  const auto load = loader<C>(self.scalar_type());
  const auto store = storer<C>(out.scalar_type());
  const void* in = self.const_data_ptr();
  void* to = out.mutable_data_ptr();
  StridedLoop<2> loop(out.sizes());
  loop.operand(0, out);
  loop.operand(1, self);
  loop.run([&](const int64_t* at) {
    store(to, static_cast<size_t>(at[0]), fn(load(in, static_cast<size_t>(at[1]))));
  });
}

bool prepare(KernelRuntimeContext& context, KernelArgs& args, const Tensor& self,
             const Tensor& out) {
  return args.ok() && check_arithmetic(context, self) && check_arithmetic(context, out) &&
         resize_out(context, out, self.sizes());
}

// f on floating numbers; integers are converted first.
template <double (*kFn)(double)>
void floating_unary(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  if (!prepare(context, args, self, out) || !check_floating(context, out)) return;
  map<double>(self, out, kFn);
}

// f and g by the kind of the input; the output has its type.
template <double (*kFloating)(double), int64_t (*kIntegral)(int64_t)>
void same_type_unary(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  if (!prepare(context, args, self, out) || !check_same_type(context, self, out)) return;
  if (is_floating(self.scalar_type())) {
    map<double>(self, out, kFloating);
  } else {
    map<int64_t>(self, out, kIntegral);
  }
}

// A property of a number, as a bool.
template <bool (*kFn)(double)>
void predicate(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  if (!prepare(context, args, self, out)) return;
  map<double>(self, out, [](double x) { return kFn(x) ? 1.0 : 0.0; });
}

int64_t same(int64_t x) { return x; }
double sigmoid(double x) { return 1.0 / (1.0 + reference_math::exp(-x)); }
double square_root(double x) { return std::sqrt(x); }
double inverse_root(double x) { return 1.0 / std::sqrt(x); }
double reciprocal(double x) { return 1.0 / x; }
double absolute(double x) { return std::fabs(x); }
int64_t absolute_int(int64_t x) {
  return x < 0 ? static_cast<int64_t>(0u - static_cast<uint64_t>(x)) : x;
}
double negative(double x) { return -x; }
int64_t negative_int(int64_t x) { return static_cast<int64_t>(0u - static_cast<uint64_t>(x)); }
double ceiling(double x) { return std::ceil(x); }
double floor_of(double x) { return std::floor(x); }
double truncated(double x) { return std::trunc(x); }
// Halves go to the even neighbour, whatever the rounding mode.
double rounded(double x) {
  const double low = std::floor(x);
  const double rest = x - low;
  if (rest < 0.5) return std::copysign(low, x);
  if (rest > 0.5) return std::copysign(low + 1.0, x);
  if (x != x || rest != 0.5) return x;
  return std::copysign(std::fmod(low, 2.0) == 0.0 ? low : low + 1.0, x);
}
double sign_of(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0; }
int64_t sign_of_int(int64_t x) { return (x > 0) - (x < 0); }
double rectified(double x) { return x < 0.0 ? 0.0 : x; }  // NaN stays
int64_t rectified_int(int64_t x) { return x < 0 ? 0 : x; }
bool is_infinite(double x) { return std::isinf(x); }
bool is_nan(double x) { return x != x; }
bool is_zero(double x) { return x == 0.0; }

}  // namespace

#define PETREL_FLOATING_UNARY(function, fn)                          \
  void function(KernelRuntimeContext& context, Span<EValue*> args) { \
    floating_unary<fn>(context, args);                               \
  }
PETREL_FLOATING_UNARY(exp_out, reference_math::exp)
PETREL_FLOATING_UNARY(expm1_out, reference_math::expm1)
PETREL_FLOATING_UNARY(log_out, reference_math::log)
PETREL_FLOATING_UNARY(log1p_out, reference_math::log1p)
PETREL_FLOATING_UNARY(log2_out, reference_math::log2)
PETREL_FLOATING_UNARY(log10_out, reference_math::log10)
PETREL_FLOATING_UNARY(sin_out, reference_math::sin)
PETREL_FLOATING_UNARY(cos_out, reference_math::cos)
PETREL_FLOATING_UNARY(tan_out, reference_math::tan)
PETREL_FLOATING_UNARY(asin_out, reference_math::asin)
PETREL_FLOATING_UNARY(acos_out, reference_math::acos)
PETREL_FLOATING_UNARY(atan_out, reference_math::atan)
PETREL_FLOATING_UNARY(sinh_out, reference_math::sinh)
PETREL_FLOATING_UNARY(cosh_out, reference_math::cosh)
PETREL_FLOATING_UNARY(tanh_out, reference_math::tanh)
PETREL_FLOATING_UNARY(asinh_out, reference_math::asinh)
PETREL_FLOATING_UNARY(acosh_out, reference_math::acosh)
PETREL_FLOATING_UNARY(atanh_out, reference_math::atanh)
PETREL_FLOATING_UNARY(erf_out, reference_math::erf)
PETREL_FLOATING_UNARY(sigmoid_out, sigmoid)
PETREL_FLOATING_UNARY(sqrt_out, square_root)
PETREL_FLOATING_UNARY(rsqrt_out, inverse_root)
PETREL_FLOATING_UNARY(reciprocal_out, reciprocal)
#undef PETREL_FLOATING_UNARY

#define PETREL_SAME_TYPE_UNARY(function, floating, integral)         \
  void function(KernelRuntimeContext& context, Span<EValue*> args) { \
    same_type_unary<floating, integral>(context, args);              \
  }
PETREL_SAME_TYPE_UNARY(abs_out, absolute, absolute_int)
PETREL_SAME_TYPE_UNARY(neg_out, negative, negative_int)
PETREL_SAME_TYPE_UNARY(ceil_out, ceiling, same)
PETREL_SAME_TYPE_UNARY(floor_out, floor_of, same)
PETREL_SAME_TYPE_UNARY(trunc_out, truncated, same)
PETREL_SAME_TYPE_UNARY(round_out, rounded, same)
PETREL_SAME_TYPE_UNARY(sign_out, sign_of, sign_of_int)
PETREL_SAME_TYPE_UNARY(relu_out, rectified, rectified_int)
#undef PETREL_SAME_TYPE_UNARY

void isinf_out(KernelRuntimeContext& context, Span<EValue*> args) {
  predicate<is_infinite>(context, args);
}
void isnan_out(KernelRuntimeContext& context, Span<EValue*> args) {
  predicate<is_nan>(context, args);
}
void logical_not_out(KernelRuntimeContext& context, Span<EValue*> args) {
  predicate<is_zero>(context, args);
}

void bitwise_not_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  if (!prepare(context, args, self, out) || !check_same_type(context, self, out)) return;
  if (self.scalar_type() == ScalarType::Bool) {
    map<int64_t>(self, out, [](int64_t x) { return int64_t{x == 0}; });
  } else if (check(context, is_integral(self.scalar_type()), "bits of a floating type")) {
    map<int64_t>(self, out, [](int64_t x) { return ~x; });
  }
}

// gelu.out(Tensor self, *, str approximate, Tensor(a!) out)
void gelu_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const std::string_view approximate = args.string(1);
  const Tensor out = args.out(2);
  if (!prepare(context, args, self, out) || !check_floating(context, self)) return;
  if (approximate == "tanh") {
    map<double>(self, out, [](double x) {
      constexpr double kRootTwoOverPi = 0.79788456080286535588;
      return 0.5 * x * (1.0 + reference_math::tanh(kRootTwoOverPi * (x + 0.044715 * x * x * x)));
    });
  } else if (check(context, approximate == "none", "approximate must be none or tanh")) {
    map<double>(self, out, [](double x) {
      return 0.5 * x * (1.0 + reference_math::erf(x * 0.70710678118654752440));
    });
  }
}

// hardtanh.out(Tensor self, Scalar min_val, Scalar max_val, *, Tensor(a!) out)
void hardtanh_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const double low = args.scalar(1).to_double();
  const double high = args.scalar(2).to_double();
  const Tensor out = args.out(3);
  if (!prepare(context, args, self, out) || !check_same_type(context, self, out)) return;
  map<double>(self, out, [=](double x) { return x < low ? low : x > high ? high : x; });
}

// Whether `bound` is one of `type`, of which elements are integers.
bool is_of(ScalarType type, const Scalar& bound) {
  if (!bound.isIntegral(/*includeBool=*/true)) return false;
  const int64_t value = bound.to_int();
  switch (type) {
    case ScalarType::Byte:
      return value >= 0 && value <= 255;
    case ScalarType::Char:
      return value >= -128 && value <= 127;
    case ScalarType::Short:
      return value >= -32768 && value <= 32767;
    case ScalarType::Int:
      return value >= std::numeric_limits<int32_t>::min() &&
             value <= std::numeric_limits<int32_t>::max();
    default:
      return true;
  }
}

// clamp.out(Tensor self, Scalar? min, Scalar? max, *, Tensor(a!) out): where
// min > max the result is max; a bound that is not a number is the result.
void clamp_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const std::optional<Scalar> min = args.optional_scalar(1);
  const std::optional<Scalar> max = args.optional_scalar(2);
  const Tensor out = args.out(3);
  if (!prepare(context, args, self, out)) return;
  if (!is_floating(out.scalar_type())) {
    const ScalarType type = self.scalar_type();
    if (!check(context, (!min || is_of(type, *min)) && (!max || is_of(type, *max)),
               "bounds are not integers of the input's type")) {
      return;
    }
    map<int64_t>(self, out, [=](int64_t x) {
      if (min && x < min->to_int()) x = min->to_int();
      if (max && x > max->to_int()) x = max->to_int();
      return x;
    });
    return;
  }
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  const double low = min ? min->to_double() : -kEndless;
  const double high = max ? max->to_double() : kEndless;
  const bool has_numbers = !std::isnan(low) && !std::isnan(high);
  map<double>(self, out, [=](double x) {
    const double y = x < low ? low : x;
    return !has_numbers ? std::nan("") : y > high ? high : y;
  });
}

// leaky_relu.out(Tensor self, Scalar negative_slope, *, Tensor(a!) out)
void leaky_relu_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const double slope = args.scalar(1).to_double();
  const Tensor out = args.out(2);
  if (!prepare(context, args, self, out) || !check_floating(context, self)) return;
  map<double>(self, out, [=](double x) { return x > 0.0 ? x : x * slope; });
}

// elu.out(Tensor self, Scalar alpha, Scalar scale, Scalar input_scale, *, out): what
// elements below 0 are multiplied with is a float unless they are doubles, and infinite
// where the product of alpha and scale is too large.
void elu_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const double alpha = args.scalar(1).to_double();
  const double scale = args.scalar(2).to_double();
  const double input_scale = args.scalar(3).to_double();
  const Tensor out = args.out(4);
  if (!prepare(context, args, self, out) || !check_floating(context, self)) return;
  const bool is_double = self.scalar_type() == ScalarType::Double;
  const double below =
      is_double ? scale * alpha : static_cast<float>(scale) * static_cast<float>(alpha);
  // The exponent from which on the power is no float.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double most = is_double ? kInfinity : 88.72283905206835;
  map<double>(self, out, [=](double x) {
    if (x > 0.0) return x * scale;
    const double exponent = x * input_scale;
    return below * (exponent > most ? kInfinity : reference_math::expm1(exponent));
  });
}

// As an element of `type` holds it.
double rounded(ScalarType type, double value) {
  alignas(double) uint8_t element[sizeof(double)];
  storer<double>(type)(element, 0, value);
  return loader<double>(type)(element, 0);
}

// logit.out(Tensor self, float? eps, *, Tensor(a!) out): the bounds are elements
// of the tensor's type, so that 1 - eps may be 1.
void logit_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const std::optional<double> eps = args.optional_real(1);
  const Tensor out = args.out(2);
  if (!prepare(context, args, self, out) || !check_floating(context, out)) return;
  const ScalarType type = is_floating(self.scalar_type()) ? self.scalar_type() : out.scalar_type();
  const double low = eps ? rounded(type, *eps) : -1.0;
  const double high = rounded(type, 1.0 - low);
  map<double>(self, out, [=](double x) {
    if (low >= 0.0) x = x < low ? low : x > high ? high : x;
    return reference_math::log(x / (1.0 - x));
  });
}

// glu.out(Tensor self, int dim, *, out): the first half along dim, times the
// sigmoid of the second.
void glu_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor out = args.out(2);
  size_t d = 0;
  if (!args.ok() || !check_floating(context, self) || !check_same_type(context, self, out) ||
      !check(context, self.dim() > 0, "the input must have a dim") ||
      !normalize_dim(context, dim, self.dim(), &d) ||
      !check(context, self.sizes()[d] % 2 == 0, "the size of dim is odd")) {
    return;
  }
  SizeArray sizes(self.sizes());
  sizes[d] /= 2;
  if (!resize_out(context, out, sizes.span())) return;
  const int64_t to_second = sizes[d] * self.strides()[d];
  const auto load = loader<double>(self.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  StridedLoop<2> loop(sizes.span());
  loop.operand(0, out);
  // Where dim is left with one element, it does not move.
  loop.strides_of(1, sizes.span(), self.strides());
  loop.run([&](const int64_t* at) {
    const double gate = load(self.const_data_ptr(), static_cast<size_t>(at[1] + to_second));
    store(out.mutable_data_ptr(), static_cast<size_t>(at[0]),
          load(self.const_data_ptr(), static_cast<size_t>(at[1])) * sigmoid(gate));
  });
}

}  // namespace petrel::runtime::portable
