// SPDX-License-Identifier: Apache-2.0
//
// Logic of bools, bits of integers and shifts (binary_rows.h), as plain loops.
#include <climits>
#include <type_traits>

#include "runtime/kernels/optimized/binary_rows.h"
#include "runtime/kernels/optimized/fast_path.h"

namespace petrel::runtime::optimized {
namespace {

// Of bools, where a byte other than 0 counts as true.
#define PETREL_TRUTH(Name, expression)                   \
  struct Name {                                          \
    uint8_t operator()(uint8_t x, uint8_t y) const {     \
      return static_cast<uint8_t>((expression) ? 1 : 0); \
    }                                                    \
  };
PETREL_TRUTH(Both, (x != 0) & (y != 0))
PETREL_TRUTH(Either, (x | y) != 0)
PETREL_TRUTH(OneOnly, (x != 0) != (y != 0))
#undef PETREL_TRUTH

#define PETREL_BITS(Name, op)        \
  struct Name {                      \
    template <typename T>            \
    T operator()(T x, T y) const {   \
      return static_cast<T>(x op y); \
    }                                \
  };
PETREL_BITS(And, &)
PETREL_BITS(Or, |)
PETREL_BITS(Xor, ^)
#undef PETREL_BITS

// Shifts by the width or more give what an infinitely wide number would.
struct LeftShift {
  template <typename T>
  T operator()(T x, T y) const {
    constexpr T kWidth = sizeof(T) * CHAR_BIT;
    const T by = y < kWidth ? y : T{0};
    return y < kWidth ? static_cast<T>(x << by) : T{0};
  }
};
struct RightShift {
  template <typename T>
  T operator()(T x, T y) const {
    constexpr T kLast = sizeof(T) * CHAR_BIT - 1;
    const bool is_far = y < 0 || y > kLast;
    const T shifted = static_cast<T>(x >> (is_far ? kLast : y));
    // The sign goes on forever; without one there is nothing.
    return is_far && std::is_unsigned_v<T> ? T{0} : shifted;
  }
};

bool logic(KernelRuntimeContext& context, Span<EValue*> raw, bool with_scalar, Row of_bools,
           Row (*of_integers)(ScalarType)) {
  KernelArgs args(context, raw, 3);
  const Tensor a = args.tensor(0);
  const Operand b = read_operand(args, with_scalar);
  const Tensor out = args.out(2);
  if (!args.ok()) return true;
  if (a.scalar_type() == ScalarType::Bool) {
    return !with_scalar && plain_rows(a, b, out, of_bools, true);
  }
  return of_integers != nullptr && plain_rows(a, b, out, of_integers(a.scalar_type()), false);
}

constexpr Row kBoth = &plain_row<uint8_t, uint8_t, Both>;
constexpr Row kEither = &plain_row<uint8_t, uint8_t, Either>;
constexpr Row kOneOnly = &plain_row<uint8_t, uint8_t, OneOnly>;

}  // namespace

#define PETREL_DEFINE(function, ...)                                \
  void function(KernelRuntimeContext& context, Span<EValue*> raw) { \
    if (!(__VA_ARGS__)) portable::function(context, raw);           \
  }
PETREL_DEFINE(logical_and_out, logic(context, raw, false, kBoth, nullptr))
PETREL_DEFINE(logical_or_out, logic(context, raw, false, kEither, nullptr))
PETREL_DEFINE(logical_xor_out, logic(context, raw, false, kOneOnly, nullptr))
#define PETREL_BITS(name, of_bools, of_integers)                                      \
  PETREL_DEFINE(name##_tensor_out, logic(context, raw, false, of_bools, of_integers)) \
  PETREL_DEFINE(name##_scalar_out, logic(context, raw, true, of_bools, of_integers))
PETREL_BITS(bitwise_and, kBoth, (&wrapping_row<And, false>))
PETREL_BITS(bitwise_or, kEither, (&wrapping_row<Or, false>))
PETREL_BITS(bitwise_xor, kOneOnly, (&wrapping_row<Xor, false>))
PETREL_BITS(left_shift, nullptr, (&wrapping_row<LeftShift, false>))
PETREL_BITS(right_shift, nullptr, (&ordered_row<RightShift, false>))
#undef PETREL_BITS
#undef PETREL_DEFINE

}  // namespace petrel::runtime::optimized
