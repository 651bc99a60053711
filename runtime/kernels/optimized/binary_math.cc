// SPDX-License-Identifier: Apache-2.0
//
// Functions of two operands (binary_rows.h) that cost more than arithmetic:
// angles, powers and divisions that leave a rest, of floats as vector code, of
// half and bfloat16 by way of floats.
#include <cstring>

#include "runtime/kernels/optimized/binary_rows.h"
#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/instruction_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/binary_math.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/vector_math-inl.h"
#include "runtime/kernels/optimized/pairs-inl.h"
#include "runtime/kernels/optimized/power-inl.h"
#include "runtime/kernels/optimized/trigonometry-inl.h"

// Functions of x and y.
#define PETREL_PAIR_FUNCTIONS(X)                                                 \
  X(atan2, Atan2(x, y))                                                          \
  X(pow, Pow(x, y))                                                              \
  X(pow_reversed, Pow(y, x))                                                     \
  X(cube, hn::Mul(hn::Mul(x, x), x))                                             \
  X(square, hn::Mul(x, x))                                                       \
  X(root, hn::Sqrt(x))                                                           \
  X(inverse, hn::Div(hn::Set(hn::ScalableTag<float>(), 1.0f), x))                \
  X(inverse_root, hn::Div(hn::Set(hn::ScalableTag<float>(), 1.0f), hn::Sqrt(x))) \
  X(fmod, Fmod(x, y))                                                            \
  X(remainder, Remainder(x, y))                                                  \
  X(floor_divide, FloorDivide(x, y))                                             \
  X(trunc_divide, hn::Trunc(hn::Div(x, y)))

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

#define PETREL_DEFINE(name, expression)                                                          \
  void Row_##name(const void* a, bool a_moves, const void* b, bool b_moves, void* out, size_t n, \
                  float) {                                                                       \
    MapPairs(static_cast<const float*>(a), a_moves, static_cast<const float*>(b), b_moves,       \
             static_cast<float*>(out), n,                                                        \
             [](V x, [[maybe_unused]] V y) HWY_ATTR { return expression; });                     \
  }
PETREL_PAIR_FUNCTIONS(PETREL_DEFINE)
#undef PETREL_DEFINE

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

#define PETREL_DEFINE(name, expression) PETREL_EXPORT(Row_##name);
PETREL_PAIR_FUNCTIONS(PETREL_DEFINE)
#undef PETREL_DEFINE

constexpr double kNanoseconds = 2.0;

bool of_floats(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar, Row row,
               size_t count = 3, Wider wider = Wider::kRounded) {
  KernelArgs args(context, raw, count);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, with_scalar);
  const Tensor out = args.out(count - 1);
  return !args.ok() || float_rows(a, b, out, row, false, wider, 0.0f, kNanoseconds);
}

// div.out_mode(Tensor self, Tensor other, *, str? rounding_mode, out)
bool divide(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar) {
  const auto mode = KernelArgs(context, raw, 4).optional_string(2);
  if (mode == "floor") {
    return of_floats(context, raw, with_scalar, PETREL_DISPATCH(Row_floor_divide), 4, Wider::kKept);
  }
  return mode == "trunc" &&
         of_floats(context, raw, with_scalar, PETREL_DISPATCH(Row_trunc_divide), 4, Wider::kKept);
}

// pow.Tensor_Scalar_out(Tensor self, Scalar exponent, *, out): some exponents
// need no logarithm.
bool power(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Scalar exponent = args.scalar(1);
  const Tensor out = args.out(2);
  if (!args.ok()) return true;
  const double e = exponent.to_double();
  const Row row = e == 2.0    ? PETREL_DISPATCH(Row_square)
                  : e == 3.0  ? PETREL_DISPATCH(Row_cube)
                  : e == 0.5  ? PETREL_DISPATCH(Row_root)
                  : e == -0.5 ? PETREL_DISPATCH(Row_inverse_root)
                  : e == -1.0 ? PETREL_DISPATCH(Row_inverse)
                              : PETREL_DISPATCH(Row_pow);
  const bool is_cheap = row != PETREL_DISPATCH(Row_pow);
  if (float_rows(a, {std::nullopt, exponent}, out, row, false, Wider::kRounded, 0.0f,
                 is_cheap ? 0.2 : kNanoseconds)) {
    return true;
  }
  struct Times {
    double operator()(double x, double y) const { return x * y; }
  };
  struct Cube {
    double operator()(double x, double) const { return x * x * x; }
  };
  if (a.scalar_type() != ScalarType::Double || (e != 2.0 && e != 3.0)) return false;
  return plain_rows(a, {a}, out,
                    e == 2.0 ? &plain_row<double, double, Times> : &plain_row<double, double, Cube>,
                    false);
}

// pow.Scalar_out(Scalar self, Tensor exponent, *, out)
bool power_of_number(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Scalar base = args.scalar(0);
  const Tensor exponent = args.tensor(1);
  const Tensor out = args.out(2);
  return !args.ok() ||
         float_rows(exponent, {std::nullopt, base}, out, PETREL_DISPATCH(Row_pow_reversed), false,
                    Wider::kKept, 0.0f, kNanoseconds);
}

}  // namespace

#define PETREL_DEFINE(function, ...)                                \
  void function(KernelRuntimeContext& context, Span<EValue*> raw) { \
    if (!(__VA_ARGS__)) portable::function(context, raw);           \
  }
PETREL_DEFINE(atan2_out, of_floats(context, raw, false, PETREL_DISPATCH(Row_atan2)))
PETREL_DEFINE(pow_tensor_tensor_out, of_floats(context, raw, false, PETREL_DISPATCH(Row_pow)))
PETREL_DEFINE(pow_tensor_scalar_out, power(context, raw))
PETREL_DEFINE(pow_scalar_out, power_of_number(context, raw))
PETREL_DEFINE(fmod_tensor_out, of_floats(context, raw, false, PETREL_DISPATCH(Row_fmod)))
PETREL_DEFINE(fmod_scalar_out, of_floats(context, raw, true, PETREL_DISPATCH(Row_fmod)))
PETREL_DEFINE(remainder_tensor_out, of_floats(context, raw, false, PETREL_DISPATCH(Row_remainder)))
PETREL_DEFINE(remainder_scalar_out, of_floats(context, raw, true, PETREL_DISPATCH(Row_remainder)))
PETREL_DEFINE(floor_divide_out, of_floats(context, raw, false, PETREL_DISPATCH(Row_floor_divide)))
PETREL_DEFINE(div_out_mode, divide(context, raw, false))
PETREL_DEFINE(div_scalar_mode_out, divide(context, raw, true))
#undef PETREL_DEFINE

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
