// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/size.h"

#include <algorithm>

#include "exir/ops/paths.h"

namespace petrel::exir::rules {
namespace {

bool are_numbers(const Size& a, const Size& b) {
  return a.expression().is_constant() && b.expression().is_constant();
}

int64_t number(const Size& size) { return size.expression().constant(); }

// A number that overflows wraps: rules look for that themselves where it can be.
Size wrapped(uint64_t value) { return {static_cast<int64_t>(value)}; }

Size known(MaybeSize made) {
  if (made) return {*std::move(made)};
  Paths::lose();
  return {0};
}

bool is_zero(const MaybeSize& difference) {
  if (difference) return Paths::decide(Paths::Question::kIsZero, *difference);
  Paths::lose();
  return false;
}

bool is_negative(const MaybeSize& difference) {
  if (difference) return Paths::decide(Paths::Question::kIsNegative, *difference);
  Paths::lose();
  return false;
}

}  // namespace

Size::operator int64_t() const {
  if (expression_.is_constant()) return expression_.constant();
  Paths::lose();
  return expression_.sample(kFirstGeneralSample);
}

Size operator+(const Size& a, const Size& b) {
  if (are_numbers(a, b)) {
    return wrapped(static_cast<uint64_t>(number(a)) + static_cast<uint64_t>(number(b)));
  }
  return known(add(a.expression(), b.expression()));
}

Size operator-(const Size& a, const Size& b) {
  if (are_numbers(a, b)) {
    return wrapped(static_cast<uint64_t>(number(a)) - static_cast<uint64_t>(number(b)));
  }
  return known(subtract(a.expression(), b.expression()));
}

Size operator*(const Size& a, const Size& b) {
  if (are_numbers(a, b)) {
    return wrapped(static_cast<uint64_t>(number(a)) * static_cast<uint64_t>(number(b)));
  }
  return known(multiply(a.expression(), b.expression()));
}

Size floor_divide(const Size& a, const Size& b) {
  if (b == 0 || (are_numbers(a, b) && number(b) == -1 && number(a) == INT64_MIN)) {
    Paths::lose();
    return {0};
  }
  if (are_numbers(a, b)) return {petrel::exir::floor_divide(number(a), number(b))};
  return known(divide(a.expression(), b.expression(), /*is_never_zero=*/true));
}

Size operator/(const Size& a, const Size& b) {
  return (a < 0) == (b < 0) ? floor_divide(a, b) : 0 - floor_divide(0 - a, b);
}

Size operator%(const Size& a, const Size& b) { return a - a / b * b; }

bool operator==(const Size& a, const Size& b) {
  if (are_numbers(a, b)) return number(a) == number(b);
  return is_zero(subtract(a.expression(), b.expression()));
}

bool operator<(const Size& a, const Size& b) {
  if (are_numbers(a, b)) return number(a) < number(b);
  return is_negative(subtract(a.expression(), b.expression()));
}

Size largest(const Size& a, const Size& b) {
  if (are_numbers(a, b)) return {std::max(number(a), number(b))};
  return known(petrel::exir::largest({a.expression(), b.expression()}));
}

Size smallest(const Size& a, const Size& b) {
  if (are_numbers(a, b)) return {std::min(number(a), number(b))};
  return known(petrel::exir::smallest({a.expression(), b.expression()}));
}

bool multiply_overflows(const Size& a, const Size& b, Size* product) {
  MaybeSize made = multiply(a.expression(), b.expression());
  if (!made) return true;
  *product = Size(*std::move(made));
  return false;
}

bool add_overflows(const Size& a, const Size& b, Size* sum) {
  MaybeSize made = add(a.expression(), b.expression());
  if (!made) return true;
  *sum = Size(*std::move(made));
  return false;
}

}  // namespace petrel::exir::rules
