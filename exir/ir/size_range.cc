// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/size_range.h"

#include <algorithm>
#include <initializer_list>

namespace petrel::exir {
namespace {

using Wide = __int128;

// Stands for an open end in a product: anything times it is open, but for zero.
constexpr Wide kBeyond = Wide{1} << 63;

Wide widen(int64_t end) {
  return end >= SizeRange::kOpen ? kBeyond : end <= -SizeRange::kOpen ? -kBeyond : Wide{end};
}

int64_t narrow(Wide end) {
  return static_cast<int64_t>(std::clamp(end, -Wide{SizeRange::kOpen}, Wide{SizeRange::kOpen}));
}

SizeRange around(std::initializer_list<Wide> values) {
  return {narrow(std::min(values)), narrow(std::max(values))};
}

}  // namespace

int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

SizeRange operator+(SizeRange a, SizeRange b) {
  const bool low = a.has_low() && b.has_low();
  const bool high = a.has_high() && b.has_high();
  return {low ? narrow(Wide{a.low} + b.low) : -SizeRange::kOpen,
          high ? narrow(Wide{a.high} + b.high) : SizeRange::kOpen};
}

SizeRange operator-(SizeRange a) { return {-a.high, -a.low}; }

SizeRange operator-(SizeRange a, SizeRange b) { return a + -b; }

SizeRange operator*(SizeRange a, SizeRange b) {
  const Wide low = widen(a.low);
  const Wide high = widen(a.high);
  return around(
      {low * widen(b.low), low * widen(b.high), high * widen(b.low), high * widen(b.high)});
}

SizeRange floor_divide(SizeRange a, SizeRange b) {
  if (!b.never_zero()) return SizeRange();
  // Monotone in each operand, so the extremes lie at ends. What is divided by an
  // open end comes near zero from either side.
  const auto at = [](int64_t x, int64_t y) {
    if (x <= -SizeRange::kOpen || x >= SizeRange::kOpen) {
      return (x < 0) == (y < 0) ? kBeyond : -kBeyond;
    }
    if (y <= -SizeRange::kOpen || y >= SizeRange::kOpen) {
      return x == 0 || (x < 0) == (y < 0) ? Wide{0} : Wide{-1};
    }
    return Wide{floor_divide(x, y)};
  };
  return around({at(a.low, b.low), at(a.low, b.high), at(a.high, b.low), at(a.high, b.high)});
}

SizeRange smaller_of(SizeRange a, SizeRange b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}

SizeRange larger_of(SizeRange a, SizeRange b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

SizeRange both(SizeRange a, SizeRange b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

}  // namespace petrel::exir
