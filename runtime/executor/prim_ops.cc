// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/prim_ops.h"

#include <cmath>
#include <cstdint>
#include <new>
#include <optional>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/kernel/kernel_args.h"

namespace petrel::runtime {
namespace {

// A result outside int64, a division by zero: the numbers are computed from
// input shapes and contents, so the input is at fault, not the program.
void fail_arithmetic(KernelRuntimeContext& context, const char* problem) {
  PETREL_LOG(Error, "%s: %s", context.kernel_name(), problem);
  context.fail(Error::InvalidArgument);
}

// Writes a number. The place must be one for numbers (or for nothing yet), so
// that tensors and lists keep their types.
void store(KernelRuntimeContext& context, Span<EValue*> args, size_t i, Scalar value) {
  if (!args[i]->isScalar() && !args[i]->isNone()) {
    PETREL_LOG(Error, "%s: the result goes to a value that is %s, must be a number",
               context.kernel_name(), to_string(args[i]->tag));
    return context.fail(Error::InvalidProgram);
  }
  new (args[i]) EValue(value);
}

// The first `count` arguments, which are numbers; the result is to go to the one behind them.
// False if they are not, or the second one is 0 and may not be.
bool take_numbers(KernelRuntimeContext& context, Span<EValue*> raw, Scalar* numbers, size_t count,
                  bool divides = false) {
  KernelArgs args(context, raw, count + 1);
  for (size_t k = 0; k < count; ++k) {
    const size_t i = divides ? count - 1 - k : k;
    numbers[i] = args.scalar(i);
    if (!divides || i != 1 || !args.ok() || numbers[i].to_double() != 0) continue;
    fail_arithmetic(context, "division by zero");
    return false;
  }
  return args.ok();
}

// What an operator makes of its numbers, up to three; false where that is no 64-bit integer.
using NumberOp = bool (*)(const Scalar* numbers, Scalar* result);

void apply(KernelRuntimeContext& context, Span<EValue*> raw, size_t count, NumberOp op,
           bool divides = false) {
  Scalar numbers[3];
  if (!take_numbers(context, raw, numbers, count, divides)) return;
  Scalar result;
  if (!op(numbers, &result)) return fail_arithmetic(context, "the result is no 64-bit integer");
  store(context, raw, count, result);
}

bool both_integral(const Scalar& a, const Scalar& b) {
  return a.isIntegral(true) && b.isIntegral(true);
}

// Python's rules: the quotient is rounded down, the remainder has the sign of
// the divisor, which is not 0. False if there is no result in int64.
bool floor_divide(int64_t a, int64_t b, int64_t* quotient) {
  if (a == INT64_MIN && b == -1) return false;
  *quotient = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  return true;
}

bool floor_modulo(int64_t a, int64_t b, int64_t* remainder) {
  if (b == -1) {
    *remainder = 0;
    return true;
  }
  *remainder = a % b;
  if (*remainder != 0 && (*remainder < 0) != (b < 0)) *remainder += b;
  return true;
}

// True if `value`, an integer, is in int64.
bool to_int64(double value, int64_t* out) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) return false;
  *out = static_cast<int64_t>(value);
  return true;
}

// An operator on integers, false if there is no result in int64; and on doubles.
using IntOp = bool (*)(int64_t a, int64_t b, int64_t* out);
using DoubleOp = double (*)(double a, double b);

// a op b -> out. No template, as one of these for each operator would be large.
void arithmetic(KernelRuntimeContext& context, Span<EValue*> raw, IntOp int_op, DoubleOp double_op,
                bool divides = false) {
  Scalar numbers[2];
  if (!take_numbers(context, raw, numbers, 2, divides)) return;
  const auto& [a, b] = numbers;
  if (!both_integral(a, b)) {
    return store(context, raw, 2, Scalar(double_op(a.to_double(), b.to_double())));
  }
  int64_t result = 0;
  if (!int_op(a.to_int(), b.to_int(), &result)) {
    return fail_arithmetic(context, "the result is no 64-bit integer");
  }
  store(context, raw, 2, Scalar(result));
}

void add(KernelRuntimeContext& context, Span<EValue*> args) {
  arithmetic(
      context, args, [](int64_t a, int64_t b, int64_t* r) { return checked_add(a, b, r); },
      [](double a, double b) { return a + b; });
}

void sub(KernelRuntimeContext& context, Span<EValue*> args) {
  arithmetic(
      context, args, [](int64_t a, int64_t b, int64_t* r) { return checked_sub(a, b, r); },
      [](double a, double b) { return a - b; });
}

void mul(KernelRuntimeContext& context, Span<EValue*> args) {
  arithmetic(
      context, args, [](int64_t a, int64_t b, int64_t* r) { return checked_mul(a, b, r); },
      [](double a, double b) { return a * b; });
}

void sym_max(KernelRuntimeContext& context, Span<EValue*> args) {
  arithmetic(
      context, args, [](int64_t a, int64_t b, int64_t* r) { return *r = a > b ? a : b, true; },
      [](double a, double b) { return a > b ? a : b; });
}

void sym_min(KernelRuntimeContext& context, Span<EValue*> args) {
  arithmetic(
      context, args, [](int64_t a, int64_t b, int64_t* r) { return *r = a < b ? a : b, true; },
      [](double a, double b) { return a < b ? a : b; });
}

void floordiv(KernelRuntimeContext& context, Span<EValue*> args) {
  arithmetic(
      context, args, floor_divide, [](double a, double b) { return std::floor(a / b); },
      /*divides=*/true);
}

void mod(KernelRuntimeContext& context, Span<EValue*> args) {
  const auto remainder = [](double a, double b) {
    const double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  };
  arithmetic(context, args, floor_modulo, remainder, /*divides=*/true);
}

void truediv(KernelRuntimeContext& context, Span<EValue*> args) {
  const auto divide = [](const Scalar* numbers, Scalar* result) {
    *result = Scalar(numbers[0].to_double() / numbers[1].to_double());
    return true;
  };
  apply(context, args, 2, divide, /*divides=*/true);
}

// How two numbers compare, as bits of a set.
enum Order : unsigned { kUnordered = 0, kLess = 1, kEqual = 2, kGreater = 4 };

template <typename T>
Order order_of(T a, T b) {
  if (a < b) return kLess;
  if (a > b) return kGreater;
  return a == b ? kEqual : kUnordered;
}

// Whether a and b compare in one of the ways of `wanted` -> out. Integers are compared as integers.
void comparison(KernelRuntimeContext& context, Span<EValue*> raw, unsigned wanted) {
  Scalar numbers[2];
  if (!take_numbers(context, raw, numbers, 2)) return;
  const auto& [a, b] = numbers;
  const Order order = both_integral(a, b) ? order_of(a.to_int(), b.to_int())
                                          : order_of(a.to_double(), b.to_double());
  store(context, raw, 2, Scalar((order & wanted) != 0));
}

void eq(KernelRuntimeContext& context, Span<EValue*> args) { comparison(context, args, kEqual); }
void lt(KernelRuntimeContext& context, Span<EValue*> args) { comparison(context, args, kLess); }
void le(KernelRuntimeContext& context, Span<EValue*> args) {
  comparison(context, args, kLess | kEqual);
}
void gt(KernelRuntimeContext& context, Span<EValue*> args) { comparison(context, args, kGreater); }
void ge(KernelRuntimeContext& context, Span<EValue*> args) {
  comparison(context, args, kGreater | kEqual);
}

void neg(KernelRuntimeContext& context, Span<EValue*> args) {
  apply(context, args, 1, [](const Scalar* a, Scalar* result) {
    if (a->isFloatingPoint()) {
      *result = Scalar(-a->to_double());
      return true;
    }
    int64_t negative = 0;
    const bool fits = checked_sub(0, a->to_int(), &negative);
    *result = Scalar(negative);
    return fits;
  });
}

void sym_not(KernelRuntimeContext& context, Span<EValue*> args) {
  apply(context, args, 1,
        [](const Scalar* a, Scalar* result) { return *result = Scalar(!a->to_bool()), true; });
}

void sym_float(KernelRuntimeContext& context, Span<EValue*> args) {
  apply(context, args, 1,
        [](const Scalar* a, Scalar* result) { return *result = Scalar(a->to_double()), true; });
}

// A double made an integer by `round`; integers stay.
void round_to_int(KernelRuntimeContext& context, Span<EValue*> raw, double (*round)(double)) {
  Scalar a;
  if (!take_numbers(context, raw, &a, 1)) return;
  int64_t result = a.isFloatingPoint() ? 0 : a.to_int();
  if (a.isFloatingPoint() && !to_int64(round(a.to_double()), &result)) {
    return fail_arithmetic(context, "the result is no 64-bit integer");
  }
  store(context, raw, 1, Scalar(result));
}

void truncate(KernelRuntimeContext& context, Span<EValue*> args) {
  round_to_int(context, args, [](double a) { return std::trunc(a); });
}
void ceil(KernelRuntimeContext& context, Span<EValue*> args) {
  round_to_int(context, args, [](double a) { return std::ceil(a); });
}
// Halves go to the even neighbour, like Python's round().
void round_half_even(KernelRuntimeContext& context, Span<EValue*> args) {
  round_to_int(context, args, [](double a) {
    const double low = std::floor(a);
    const double rest = a - low;
    if (rest != 0.5) return rest < 0.5 ? low : low + 1;
    return std::fmod(low, 2) == 0 ? low : low + 1;
  });
}

void sym_ite(KernelRuntimeContext& context, Span<EValue*> args) {
  apply(context, args, 3, [](const Scalar* numbers, Scalar* result) {
    *result = numbers[numbers[0].to_bool() ? 1 : 2];
    return true;
  });
}

void sym_size(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  // Only the shape is used, so a tensor without data will do.
  const Result<Tensor> self = raw.size() < 3 ? Error::InvalidProgram : raw[0]->tryToTensor();
  int64_t dim = args.integer(1);
  if (!args.ok()) return;
  const int64_t rank = self.ok() ? self->dim() : 0;
  if (dim < 0) dim += rank;
  if (dim < 0 || dim >= rank) {
    PETREL_LOG(Error, "%s: argument 0 is not a tensor that has dimension %lld",
               context.kernel_name(), static_cast<long long>(args.integer(1)));
    return context.fail(Error::InvalidProgram);
  }
  store(context, raw, 2, Scalar(static_cast<int64_t>(self->size(static_cast<ssize_t>(dim)))));
}

void sym_numel(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  if (!args.ok()) return;
  const Result<Tensor> self = raw[0]->tryToTensor();
  if (!self.ok()) return context.fail(Error::InvalidProgram);
  store(context, raw, 1, Scalar(static_cast<int64_t>(self->numel())));
}

// The first number of a tensor; nothing for types without one.
std::optional<Scalar> first_number(const Tensor& tensor) {
  const auto integer = [](auto number) { return Scalar(static_cast<int64_t>(number)); };
  switch (tensor.scalar_type()) {
    case ScalarType::Byte:
      return integer(*tensor.const_data_ptr<uint8_t>());
    case ScalarType::Char:
      return integer(*tensor.const_data_ptr<int8_t>());
    case ScalarType::Short:
      return integer(*tensor.const_data_ptr<int16_t>());
    case ScalarType::Int:
      return integer(*tensor.const_data_ptr<int32_t>());
    case ScalarType::Long:
      return integer(*tensor.const_data_ptr<int64_t>());
    case ScalarType::UInt16:
      return integer(*tensor.const_data_ptr<uint16_t>());
    case ScalarType::UInt32:
      return integer(*tensor.const_data_ptr<uint32_t>());
    case ScalarType::Bool:
      return Scalar(*tensor.const_data_ptr<uint8_t>() != 0);
    case ScalarType::Float:
      return Scalar(double{*tensor.const_data_ptr<float>()});
    case ScalarType::Double:
      return Scalar(*tensor.const_data_ptr<double>());
    default:
      return std::nullopt;
  }
}

// The number in a tensor of one element.
void local_scalar_dense(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  if (!args.ok()) return;
  if (self.numel() != 1) {
    PETREL_LOG(Error, "%s: argument 0 has %zu elements, must have 1", context.kernel_name(),
               self.numel());
    return context.fail(Error::InvalidProgram);
  }
  const std::optional<Scalar> number = first_number(self);
  if (!number.has_value()) {
    PETREL_LOG(Error, "%s: numbers of type %s are not supported", context.kernel_name(),
               to_string(self.scalar_type()));
    return context.fail(Error::NotSupported);
  }
  store(context, raw, 1, *number);
}

constexpr Kernel kPrimKernels[] = {
    {"aten::_local_scalar_dense", &local_scalar_dense, writes_no_tensor()},
    {"aten::sym_numel", &sym_numel, writes_no_tensor()},
    {"aten::sym_size.int", &sym_size, writes_no_tensor()},
    {"executorch_prim::add.Scalar", &add, writes_no_tensor()},
    {"executorch_prim::ceil.Scalar", &ceil, writes_no_tensor()},
    {"executorch_prim::eq.Scalar", &eq, writes_no_tensor()},
    {"executorch_prim::et_copy_index.tensor", &prim_copy_index, updates(3)},
    {"executorch_prim::et_view.default", &prim_view, makes_view()},
    {"executorch_prim::floordiv.Scalar", &floordiv, writes_no_tensor()},
    {"executorch_prim::floordiv.int", &floordiv, writes_no_tensor()},
    {"executorch_prim::ge.Scalar", &ge, writes_no_tensor()},
    {"executorch_prim::gt.Scalar", &gt, writes_no_tensor()},
    {"executorch_prim::le.Scalar", &le, writes_no_tensor()},
    {"executorch_prim::lt.Scalar", &lt, writes_no_tensor()},
    {"executorch_prim::mod.Scalar", &mod, writes_no_tensor()},
    {"executorch_prim::mod.int", &mod, writes_no_tensor()},
    {"executorch_prim::mul.Scalar", &mul, writes_no_tensor()},
    {"executorch_prim::neg.Scalar", &neg, writes_no_tensor()},
    {"executorch_prim::round.Scalar", &round_half_even, writes_no_tensor()},
    {"executorch_prim::sub.Scalar", &sub, writes_no_tensor()},
    {"executorch_prim::sym_float.Scalar", &sym_float, writes_no_tensor()},
    {"executorch_prim::sym_int.Scalar", &truncate, writes_no_tensor()},
    {"executorch_prim::sym_ite.Scalar", &sym_ite, writes_no_tensor()},
    {"executorch_prim::sym_max.Scalar", &sym_max, writes_no_tensor()},
    {"executorch_prim::sym_min.Scalar", &sym_min, writes_no_tensor()},
    {"executorch_prim::sym_not.Scalar", &sym_not, writes_no_tensor()},
    {"executorch_prim::truediv.Scalar", &truediv, writes_no_tensor()},
    {"executorch_prim::trunc.Scalar", &truncate, writes_no_tensor()},
};

}  // namespace

Span<const Kernel> prim_kernels() { return kPrimKernels; }

}  // namespace petrel::runtime
