// SPDX-License-Identifier: Apache-2.0
//
// A size as rules compute with it: a number, or an expression where sizes vary.
// It reads like an int64_t, and rules do not see the difference:
//
//   Size size = out.sizes[dim];                 s0, in [1, 16]
//   size = (size + 2 * padding - reach) / stride + 1
//   if (size < 1) ...                           asks the explorer of paths
//
// Invariant: arithmetic on expressions is exact. What a rule decides by a size
// that varies, it decides on a path (paths.h), under an assumption that the path
// keeps; what no expression holds (an overflow, a conversion to a number) loses
// the path, of which nothing is then concluded.
#ifndef PETREL_EXIR_OPS_SIZE_H_
#define PETREL_EXIR_OPS_SIZE_H_

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "exir/ir/size_expression.h"

namespace petrel::exir::rules {

class Size {
 public:
  template <typename I>
  using IfInteger = std::enable_if_t<std::is_integral_v<I>, bool>;

  Size() = default;
  template <typename I, IfInteger<I> = true>
  Size(I number) : expression_(static_cast<int64_t>(number)) {}  // NOLINT: a number is a size
  Size(SizeExpression expression) : expression_(std::move(expression)) {}  // NOLINT

  // The number; of a size that varies, its value at a sample point: the path is
  // lost.
  operator int64_t() const;  // NOLINT: sizes index and print

  const SizeExpression& expression() const { return expression_; }
  // Known to be this number, whatever the symbols are.
  bool is(int64_t number) const {
    return expression_.is_constant() && expression_.constant() == number;
  }

  Size& operator+=(const Size& other) { return *this = *this + other; }
  Size& operator-=(const Size& other) { return *this = *this - other; }
  Size& operator*=(const Size& other) { return *this = *this * other; }
  Size& operator/=(const Size& other) { return *this = *this / other; }

  friend Size operator+(const Size& a, const Size& b);
  friend Size operator-(const Size& a, const Size& b);
  friend Size operator*(const Size& a, const Size& b);
  // Towards zero, as int64_t divides.
  friend Size operator/(const Size& a, const Size& b);
  friend Size operator%(const Size& a, const Size& b);
  friend bool operator==(const Size& a, const Size& b);
  friend bool operator<(const Size& a, const Size& b);

 private:
  SizeExpression expression_;
};

Size operator+(const Size& a, const Size& b);
Size operator-(const Size& a, const Size& b);
Size operator*(const Size& a, const Size& b);
Size operator/(const Size& a, const Size& b);
Size operator%(const Size& a, const Size& b);
bool operator==(const Size& a, const Size& b);
bool operator<(const Size& a, const Size& b);
inline Size operator-(const Size& a) { return Size(0) - a; }
inline bool operator!=(const Size& a, const Size& b) { return !(a == b); }
inline bool operator>(const Size& a, const Size& b) { return b < a; }
inline bool operator<=(const Size& a, const Size& b) { return !(b < a); }
inline bool operator>=(const Size& a, const Size& b) { return !(a < b); }

// With a plain integer on one side: without these, the conversion to int64_t would
// do as well.
#define PETREL_SIZE_OPERATOR(result, op)           \
  template <typename I, Size::IfInteger<I> = true> \
  result operator op(const Size& a, I b) {         \
    return a op Size(b);                           \
  }                                                \
  template <typename I, Size::IfInteger<I> = true> \
  result operator op(I a, const Size& b) {         \
    return Size(a) op b;                           \
  }
PETREL_SIZE_OPERATOR(Size, +)
PETREL_SIZE_OPERATOR(Size, -)
PETREL_SIZE_OPERATOR(Size, *)
PETREL_SIZE_OPERATOR(Size, /)
PETREL_SIZE_OPERATOR(Size, %)
PETREL_SIZE_OPERATOR(bool, ==)
PETREL_SIZE_OPERATOR(bool, !=)
PETREL_SIZE_OPERATOR(bool, <)
PETREL_SIZE_OPERATOR(bool, >)
PETREL_SIZE_OPERATOR(bool, <=)
PETREL_SIZE_OPERATOR(bool, >=)
#undef PETREL_SIZE_OPERATOR

Size largest(const Size& a, const Size& b);
Size smallest(const Size& a, const Size& b);
// Towards minus infinity, as Python divides. Precondition: b is not 0.
Size floor_divide(const Size& a, const Size& b);
// Like __builtin_mul_overflow and __builtin_add_overflow.
bool multiply_overflows(const Size& a, const Size& b, Size* product);
bool add_overflows(const Size& a, const Size& b, Size* sum);

using Sizes = std::vector<Size>;

}  // namespace petrel::exir::rules

#endif  // PETREL_EXIR_OPS_SIZE_H_
