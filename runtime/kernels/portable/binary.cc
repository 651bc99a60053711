// SPDX-License-Identifier: Apache-2.0
//
// out = f(a, b) with broadcasting, where b is a tensor or a number.
//
// The arithmetic is that of the promoted type: integers when both sides are,
// doubles otherwise (see element.h), of operands that are rounded to the promoted
// type, as PyTorch has it: 2^24 + 1 beside a float is 2^24. Results of integers wrap
// in the promoted type, also where the output is wider or floating.
#include <cmath>

#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/promotion.h"
#include "runtime/kernels/portable/reference_math.h"

namespace petrel::runtime::portable {
namespace {

template <typename C, typename Fn>
void combine(const Tensor& a, const Operand& b, const Tensor& out, const Operands<C>& operands,
             Fn fn) {
  const auto load_a = operands.a;
  const auto store = storer<C>(out.scalar_type());
  const void* from = a.const_data_ptr();
  void* to = out.mutable_data_ptr();
  StridedLoop<3> loop(out.sizes());
  loop.operand(0, out);
  loop.operand(1, a);
  if (!b.tensor) {
    const C number = operands.number;
    loop.run([&](const int64_t* at) {
      store(to, static_cast<size_t>(at[0]), fn(load_a(from, static_cast<size_t>(at[1])), number));
    });
    return;
  }
  const auto load_b = operands.b;
  const void* other = b.tensor->const_data_ptr();
  loop.operand(2, *b.tensor);
  loop.run([&](const int64_t* at) {
    store(to, static_cast<size_t>(at[0]),
          fn(load_a(from, static_cast<size_t>(at[1])), load_b(other, static_cast<size_t>(at[2]))));
  });
}

template <typename Fn>
void combine_integers(const Tensor& a, const Operand& b, const Tensor& out, Fn fn) {
  const ScalarType type = promoted_integer(a, b);
  const bool is_alone = a.scalar_type() == type && out.scalar_type() == type && b.tensor &&
                        b.tensor->scalar_type() == type;
  if (is_alone || element_size(type) == sizeof(int64_t)) {
    return combine(a, b, out, as_integers(a, b), fn);
  }
  const auto store = storer<int64_t>(type);
  const auto load = loader<int64_t>(type);
  const auto wrap = [=](int64_t value) {
    uint64_t element = 0;
    store(&element, 0, value);
    return load(&element, 0);
  };
  combine(a, b, out, as_integers(a, b),
          [&](int64_t x, int64_t y) { return wrap(fn(wrap(x), wrap(y))); });
}

bool prepare(KernelRuntimeContext& context, KernelArgs& args, const Tensor& a, const Operand& b,
             const Tensor& out) {
  if (!args.ok() || !check_arithmetic(context, a) || !check_arithmetic(context, out)) {
    return false;
  }
  SizeArray sizes(a.sizes());
  if (b.tensor) {
    if (!check_arithmetic(context, *b.tensor) ||
        !check(context, broadcast_sizes(&sizes, b.tensor->sizes()),
               "sizes of the operands do not broadcast")) {
      return false;
    }
  }
  return resize_out(context, out, sizes.span()) && check_in_place(context, out, a) &&
         (!b.tensor || check_in_place(context, out, *b.tensor));
}

// How an operator computes: `floating` and `integral` on pairs. An operator
// whose kAlwaysFloating is true has no integral form (true division). One whose
// kRoundsFloats is false takes wider floats beside half and bfloat16 as they are.
template <typename Op, typename = void>
constexpr bool kRoundsFloats = true;
template <typename Op>
constexpr bool kRoundsFloats<Op, std::void_t<decltype(Op::kKeepsFloats)>> = !Op::kKeepsFloats;

template <typename Op>
void run(KernelRuntimeContext& context, KernelArgs& args, const Tensor& a, const Operand& b,
         const Tensor& out, Op op = Op()) {
  if (!prepare(context, args, a, b, out)) return;
  if (Op::kAlwaysFloating || is_floating(a.scalar_type()) || b.floating()) {
    combine(a, b, out, as_floats(a, b, kRoundsFloats<Op>),
            [&](double x, double y) { return op.floating(x, y); });
  } else {
    combine_integers(a, b, out, [&](int64_t x, int64_t y) { return op.integral(x, y); });
  }
}

template <typename Op>
void tensor_tensor(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = {args.tensor(1)};
  const Tensor out = args.out(2);
  run<Op>(context, args, a, b, out);
}

template <typename Op>
void tensor_scalar(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = {std::nullopt, args.scalar(1)};
  const Tensor out = args.out(2);
  run<Op>(context, args, a, b, out);
}

int64_t wrapping_add(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
}
int64_t wrapping_mul(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
}

// x + alpha * y; with alpha = -1 a subtraction, and reversed for rsub.
struct Add {
  static constexpr bool kKeepsFloats = true;
  static constexpr bool kAlwaysFloating = false;
  Scalar alpha = Scalar(int64_t{1});
  int sign = 1;
  bool reversed = false;
  double floating(double x, double y) const {
    if (reversed) std::swap(x, y);
    const double a = alpha.to_double();
    return sign > 0 ? x + a * y : x - a * y;
  }
  int64_t integral(int64_t x, int64_t y) const {
    if (reversed) std::swap(x, y);
    return wrapping_add(x, wrapping_mul(wrapping_mul(alpha.to_int(), sign), y));
  }
};

void add_family(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar, int sign,
                bool reversed) {
  KernelArgs args(context, raw, 4);
  const Tensor a = args.tensor(0);
  Operand b;
  if (with_scalar) {
    b.number = args.scalar(1);
  } else {
    b.tensor = args.tensor(1);
  }
  Add op;
  op.alpha = args.scalar(2);
  op.sign = sign;
  op.reversed = reversed;
  const Tensor out = args.out(3);
  run<Add>(context, args, a, b, out, op);
}

struct Mul {
  static constexpr bool kKeepsFloats = true;
  static constexpr bool kAlwaysFloating = false;
  double floating(double x, double y) const { return x * y; }
  int64_t integral(int64_t x, int64_t y) const { return wrapping_mul(x, y); }
};

// True division, or floor and trunc of it. Integers divided by zero fail.
struct Div {
  static constexpr bool kKeepsFloats = true;
  static constexpr bool kAlwaysFloating = true;
  double floating(double x, double y) const { return x / y; }
  int64_t integral(int64_t, int64_t) const { return 0; }
};

double floor_divide(double x, double y) {
  if (y == 0.0) return x / y;
  double quotient = (x - std::fmod(x, y)) / y;
  if (std::fmod(x, y) != 0.0 && (std::fmod(x, y) < 0.0) != (y < 0.0)) quotient -= 1.0;
  if (quotient == 0.0) return std::copysign(0.0, x / y);
  double whole = std::floor(quotient);
  if (quotient - whole > 0.5) whole += 1.0;
  return whole;
}

int64_t floor_divide(int64_t x, int64_t y) {
  if (y == -1) return wrapping_mul(x, -1);
  const int64_t quotient = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

struct FloorDivide {
  static constexpr bool kKeepsFloats = true;
  static constexpr bool kAlwaysFloating = false;
  bool* divided_by_zero = nullptr;
  double floating(double x, double y) const { return floor_divide(x, y); }
  int64_t integral(int64_t x, int64_t y) const {
    if (y == 0) return *divided_by_zero = true, 0;
    return floor_divide(x, y);
  }
};

struct TruncDivide {
  static constexpr bool kKeepsFloats = true;
  static constexpr bool kAlwaysFloating = false;
  bool* divided_by_zero = nullptr;
  double floating(double x, double y) const { return std::trunc(x / y); }
  int64_t integral(int64_t x, int64_t y) const {
    if (y == 0) return *divided_by_zero = true, 0;
    return y == -1 ? wrapping_mul(x, -1) : x / y;
  }
};

// Sign of the dividend.
struct Fmod {
  static constexpr bool kAlwaysFloating = false;
  bool* divided_by_zero = nullptr;
  double floating(double x, double y) const { return std::fmod(x, y); }
  int64_t integral(int64_t x, int64_t y) const {
    if (y == 0) return *divided_by_zero = true, 0;
    return y == -1 ? 0 : x % y;
  }
};

// Sign of the divisor.
struct Remainder {
  static constexpr bool kAlwaysFloating = false;
  bool* divided_by_zero = nullptr;
  double floating(double x, double y) const {
    const double rest = std::fmod(x, y);
    return rest != 0.0 && (rest < 0.0) != (y < 0.0) ? rest + y : rest;
  }
  int64_t integral(int64_t x, int64_t y) const {
    if (y == 0) return *divided_by_zero = true, 0;
    if (y == -1) return 0;
    const int64_t rest = x % y;
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
  }
};

template <typename Op>
void divide_like(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar, size_t count) {
  KernelArgs args(context, raw, count);
  const Tensor a = args.tensor(0);
  Operand b;
  if (with_scalar) {
    b.number = args.scalar(1);
  } else {
    b.tensor = args.tensor(1);
  }
  const Tensor out = args.out(count - 1);
  bool divided_by_zero = false;
  Op op;
  op.divided_by_zero = &divided_by_zero;
  run<Op>(context, args, a, b, out, op);
  if (divided_by_zero) fail(context, "an integer is divided by zero");
}

// div.out_mode(Tensor self, Tensor other, *, str? rounding_mode, out)
void div_mode(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar) {
  std::optional<std::string_view> mode;
  {
    KernelArgs args(context, raw, 4);
    mode = args.optional_string(2);
    if (!args.ok()) return;
  }
  if (mode == "floor") return divide_like<FloorDivide>(context, raw, with_scalar, 4);
  if (mode == "trunc") return divide_like<TruncDivide>(context, raw, with_scalar, 4);
  if (mode) {
    fail(context, "rounding_mode must be floor or trunc");
    return;
  }
  KernelArgs args(context, raw, 4);
  const Tensor a = args.tensor(0);
  Operand b;
  if (with_scalar) {
    b.number = args.scalar(1);
  } else {
    b.tensor = args.tensor(1);
  }
  const Tensor out = args.out(3);
  run<Div>(context, args, a, b, out);
}

struct Maximum {
  static constexpr bool kAlwaysFloating = false;
  double floating(double x, double y) const { return x != x || x > y ? x : y; }
  int64_t integral(int64_t x, int64_t y) const { return x > y ? x : y; }
};
struct Minimum {
  static constexpr bool kAlwaysFloating = false;
  double floating(double x, double y) const { return x != x || x < y ? x : y; }
  int64_t integral(int64_t x, int64_t y) const { return x < y ? x : y; }
};
struct Atan2 {
  static constexpr bool kAlwaysFloating = true;
  double floating(double x, double y) const { return reference_math::atan2(x, y); }
  int64_t integral(int64_t, int64_t) const { return 0; }
};
struct Pow {
  static constexpr bool kAlwaysFloating = false;
  double floating(double x, double y) const { return reference_math::pow(x, y); }
  int64_t integral(int64_t x, int64_t y) const {
    if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
    int64_t result = 1;
    for (; y > 0; y >>= 1) {
      if ((y & 1) != 0) result = wrapping_mul(result, x);
      x = wrapping_mul(x, x);
    }
    return result;
  }
};
// A number for all elements: roots are what eager takes where it is a half, so that one of
// -inf is NaN and one of -0.0 keeps its sign.
struct PowOfNumber : Pow {
  double floating(double x, double y) const {
    if (y == 0.5) return std::sqrt(x);
    if (y == -0.5) return 1.0 / std::sqrt(x);
    return Pow::floating(x, y);
  }
};

#define PETREL_COMPARISON(Name, op)                                          \
  struct Name {                                                              \
    static constexpr bool kAlwaysFloating = false;                           \
    double floating(double x, double y) const { return x op y ? 1.0 : 0.0; } \
    int64_t integral(int64_t x, int64_t y) const { return x op y ? 1 : 0; }  \
  };
PETREL_COMPARISON(Eq, ==)
PETREL_COMPARISON(Ne, !=)
PETREL_COMPARISON(Lt, <)
PETREL_COMPARISON(Le, <=)
PETREL_COMPARISON(Gt, >)
PETREL_COMPARISON(Ge, >=)
#undef PETREL_COMPARISON

#define PETREL_LOGICAL(Name, op)                                                              \
  struct Name {                                                                               \
    static constexpr bool kAlwaysFloating = false;                                            \
    double floating(double x, double y) const { return (x != 0.0) op(y != 0.0) ? 1.0 : 0.0; } \
    int64_t integral(int64_t x, int64_t y) const { return (x != 0) op(y != 0) ? 1 : 0; }      \
  };
PETREL_LOGICAL(LogicalAnd, &&)
PETREL_LOGICAL(LogicalOr, ||)
PETREL_LOGICAL(LogicalXor, !=)
#undef PETREL_LOGICAL

// Integers only; floating operands never reach `floating` (bitwise checks).
#define PETREL_BITWISE(Name, op)                                    \
  struct Name {                                                     \
    static constexpr bool kAlwaysFloating = false;                  \
    double floating(double x, double) const { return x; }           \
    int64_t integral(int64_t x, int64_t y) const { return x op y; } \
  };
PETREL_BITWISE(BitwiseAnd, &)
PETREL_BITWISE(BitwiseOr, |)
PETREL_BITWISE(BitwiseXor, ^)
#undef PETREL_BITWISE

// Shifts by the width or more give what an infinitely wide number would.
struct LeftShift {
  static constexpr bool kAlwaysFloating = false;
  double floating(double x, double) const { return x; }
  int64_t integral(int64_t x, int64_t y) const {
    return y < 0 || y > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) << y);
  }
};
struct RightShift {
  static constexpr bool kAlwaysFloating = false;
  double floating(double x, double) const { return x; }
  int64_t integral(int64_t x, int64_t y) const { return x >> (y < 0 || y > 63 ? 63 : y); }
};

template <typename Op, bool kWithScalar>
void bitwise(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  Operand b;
  if (kWithScalar) {
    b.number = args.scalar(1);
  } else {
    b.tensor = args.tensor(1);
  }
  const Tensor out = args.out(2);
  if (!args.ok()) return;
  if (!check(context, !is_floating(a.scalar_type()) && !b.floating(), "bits of a floating type")) {
    return;
  }
  run<Op>(context, args, a, b, out);
}

}  // namespace

#define PETREL_DEFINE(function, ...) \
  void function(KernelRuntimeContext& context, Span<EValue*> args) { __VA_ARGS__; }

PETREL_DEFINE(add_out, add_family(context, args, false, 1, false))
PETREL_DEFINE(add_scalar_out, add_family(context, args, true, 1, false))
PETREL_DEFINE(sub_out, add_family(context, args, false, -1, false))
PETREL_DEFINE(sub_scalar_out, add_family(context, args, true, -1, false))
PETREL_DEFINE(rsub_scalar_out, add_family(context, args, true, -1, true))
PETREL_DEFINE(mul_out, tensor_tensor<Mul>(context, args))
PETREL_DEFINE(mul_scalar_out, tensor_scalar<Mul>(context, args))
PETREL_DEFINE(div_out, tensor_tensor<Div>(context, args))
PETREL_DEFINE(div_scalar_out, tensor_scalar<Div>(context, args))
PETREL_DEFINE(div_out_mode, div_mode(context, args, false))
PETREL_DEFINE(div_scalar_mode_out, div_mode(context, args, true))
PETREL_DEFINE(floor_divide_out, divide_like<FloorDivide>(context, args, false, 3))
PETREL_DEFINE(fmod_tensor_out, divide_like<Fmod>(context, args, false, 3))
PETREL_DEFINE(fmod_scalar_out, divide_like<Fmod>(context, args, true, 3))
PETREL_DEFINE(remainder_tensor_out, divide_like<Remainder>(context, args, false, 3))
PETREL_DEFINE(remainder_scalar_out, divide_like<Remainder>(context, args, true, 3))
PETREL_DEFINE(maximum_out, tensor_tensor<Maximum>(context, args))
PETREL_DEFINE(minimum_out, tensor_tensor<Minimum>(context, args))
PETREL_DEFINE(atan2_out, tensor_tensor<Atan2>(context, args))
PETREL_DEFINE(pow_tensor_tensor_out, tensor_tensor<Pow>(context, args))
PETREL_DEFINE(pow_tensor_scalar_out, tensor_scalar<PowOfNumber>(context, args))
PETREL_DEFINE(eq_tensor_out, tensor_tensor<Eq>(context, args))
PETREL_DEFINE(eq_scalar_out, tensor_scalar<Eq>(context, args))
PETREL_DEFINE(ne_tensor_out, tensor_tensor<Ne>(context, args))
PETREL_DEFINE(ne_scalar_out, tensor_scalar<Ne>(context, args))
PETREL_DEFINE(lt_tensor_out, tensor_tensor<Lt>(context, args))
PETREL_DEFINE(lt_scalar_out, tensor_scalar<Lt>(context, args))
PETREL_DEFINE(le_tensor_out, tensor_tensor<Le>(context, args))
PETREL_DEFINE(le_scalar_out, tensor_scalar<Le>(context, args))
PETREL_DEFINE(gt_tensor_out, tensor_tensor<Gt>(context, args))
PETREL_DEFINE(gt_scalar_out, tensor_scalar<Gt>(context, args))
PETREL_DEFINE(ge_tensor_out, tensor_tensor<Ge>(context, args))
PETREL_DEFINE(ge_scalar_out, tensor_scalar<Ge>(context, args))
PETREL_DEFINE(logical_and_out, tensor_tensor<LogicalAnd>(context, args))
PETREL_DEFINE(logical_or_out, tensor_tensor<LogicalOr>(context, args))
PETREL_DEFINE(logical_xor_out, tensor_tensor<LogicalXor>(context, args))
PETREL_DEFINE(bitwise_and_tensor_out, bitwise<BitwiseAnd, false>(context, args))
PETREL_DEFINE(bitwise_and_scalar_out, bitwise<BitwiseAnd, true>(context, args))
PETREL_DEFINE(bitwise_or_tensor_out, bitwise<BitwiseOr, false>(context, args))
PETREL_DEFINE(bitwise_or_scalar_out, bitwise<BitwiseOr, true>(context, args))
PETREL_DEFINE(bitwise_xor_tensor_out, bitwise<BitwiseXor, false>(context, args))
PETREL_DEFINE(bitwise_xor_scalar_out, bitwise<BitwiseXor, true>(context, args))
PETREL_DEFINE(left_shift_tensor_out, bitwise<LeftShift, false>(context, args))
PETREL_DEFINE(left_shift_scalar_out, bitwise<LeftShift, true>(context, args))
PETREL_DEFINE(right_shift_tensor_out, bitwise<RightShift, false>(context, args))
PETREL_DEFINE(right_shift_scalar_out, bitwise<RightShift, true>(context, args))
#undef PETREL_DEFINE

// pow.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out)
void pow_scalar_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Scalar base = args.scalar(0);
  const Tensor exponent = args.tensor(1);
  const Tensor out = args.out(2);
  const Operand number = {std::nullopt, base};
  if (!prepare(context, args, exponent, number, out)) return;
  const Pow pow;
  if (is_floating(exponent.scalar_type()) || base.isFloatingPoint()) {
    combine(exponent, number, out, as_floats(exponent, number, false),
            [&](double e, double b) { return pow.floating(b, e); });
  } else {
    combine_integers(exponent, number, out,
                     [&](int64_t e, int64_t b) { return pow.integral(b, e); });
  }
}

}  // namespace petrel::runtime::portable
