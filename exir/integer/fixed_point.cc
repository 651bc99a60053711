// SPDX-License-Identifier: Apache-2.0
#include "exir/integer/fixed_point.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace petrel::exir {
namespace {

// The shift with which `value` has just `bits` bits.
absl::StatusOr<int32_t> shift_for(double value, int32_t bits, int32_t most_shift) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  // Rounded up to the next power of two it has one bit more.
  if (std::nearbyint(std::ldexp(fraction, bits)) >= std::ldexp(1.0, bits)) ++exponent;
  const int32_t shift = std::min(bits - exponent, most_shift);
  if (shift >= 1) return shift;
  return absl::OutOfRangeError(
      absl::StrCat("the factor ", value, " is ", std::ldexp(1.0, bits - 1), " or more"));
}

int32_t times_power(double value, int32_t shift) {
  return static_cast<int32_t>(std::nearbyint(std::ldexp(value, shift)));
}

}  // namespace

absl::StatusOr<FixedPoint> fixed_point(double value, int32_t bits, int32_t most_shift) {
  const absl::StatusOr<int32_t> shift = shift_for(value, bits, most_shift);
  if (!shift.ok()) return shift.status();
  return FixedPoint{times_power(value, *shift), *shift};
}

int32_t bits_of(int64_t number) {
  int32_t bits = 0;
  while (number >> bits != 0) ++bits;
  return bits;
}

absl::StatusOr<FixedPair> fixed_pair(double first, double second) {
  for (const double value : {first, second}) {
    if (std::isfinite(value)) continue;
    return absl::OutOfRangeError(absl::StrCat("the factor ", value, " is not finite"));
  }
  const absl::StatusOr<int32_t> shift =
      shift_for(std::max(std::fabs(first), std::fabs(second)), kMultiplierBits, kMostShift);
  if (!shift.ok()) return shift.status();
  return FixedPair{{times_power(first, *shift), times_power(second, *shift)}, *shift};
}

}  // namespace petrel::exir
