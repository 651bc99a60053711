// SPDX-License-Identifier: Apache-2.0
//
// The whole numbers from `low` to `high`, both included. Ends at or beyond 2^62
// are not ends: the range is open there. Sums and products are the least ranges
// that hold every result, so they never claim too much, and never overflow.
//
//   SizeRange{2, 4} * SizeRange{-1, 3}    [-4, 12]
#ifndef PETREL_EXIR_IR_SIZE_RANGE_H_
#define PETREL_EXIR_IR_SIZE_RANGE_H_

#include <cstdint>

namespace petrel::exir {

struct SizeRange {
  static constexpr int64_t kOpen = int64_t{1} << 62;

  int64_t low = -kOpen;
  int64_t high = kOpen;

  bool has_low() const { return low > -kOpen; }
  bool has_high() const { return high < kOpen; }
  bool is_empty() const { return low > high; }
  bool holds(int64_t value) const { return low <= value && value <= high; }
  bool never_zero() const { return low > 0 || high < 0; }
};

SizeRange operator+(SizeRange a, SizeRange b);
SizeRange operator-(SizeRange a);
SizeRange operator-(SizeRange a, SizeRange b);
SizeRange operator*(SizeRange a, SizeRange b);
// Quotients rounded towards minus infinity; everything when `b` holds zero.
SizeRange floor_divide(SizeRange a, SizeRange b);
SizeRange smaller_of(SizeRange a, SizeRange b);
SizeRange larger_of(SizeRange a, SizeRange b);
// What is in both.
SizeRange both(SizeRange a, SizeRange b);

// Towards minus infinity, as Python divides. Precondition: b is not 0, and not
// -1 with the smallest int64_t.
int64_t floor_divide(int64_t a, int64_t b);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_SIZE_RANGE_H_
