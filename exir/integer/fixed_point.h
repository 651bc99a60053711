// SPDX-License-Identifier: Apache-2.0
//
// Factors as integers: value is nearly multiplier / 2^shift (docs/int8.md).
//
//   fixed_point(0.75)      {1610612736, 31}
//
// A multiplier has 31 bits unless the factor is below 2^-32: then the shift is 62, and the
// multiplier has as many as are left, none at last. The error is at most half a step of it.
#ifndef PETREL_EXIR_INTEGER_FIXED_POINT_H_
#define PETREL_EXIR_INTEGER_FIXED_POINT_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"

namespace petrel::exir {

constexpr int32_t kMostShift = 62;
constexpr int32_t kMultiplierBits = 31;

struct FixedPoint {
  int32_t multiplier = 0;
  int32_t shift = 1;
};

// Of a factor above 0, with a multiplier of at most `bits` bits and a shift of at most
// `most_shift`. OutOfRange for a factor that needs a shift below 1: from 2^(bits - 1) on.
absl::StatusOr<FixedPoint> fixed_point(double value, int32_t bits = kMultiplierBits,
                                       int32_t most_shift = kMostShift);

// Two factors, of any sign, of which one is not 0, with one shift: the larger has all bits.
struct FixedPair {
  std::array<int32_t, 2> multipliers = {};
  int32_t shift = 1;
};
absl::StatusOr<FixedPair> fixed_pair(double first, double second);

// That a whole number takes; 0 takes none.
int32_t bits_of(int64_t number);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_INTEGER_FIXED_POINT_H_
