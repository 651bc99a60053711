// SPDX-License-Identifier: Apache-2.0
//
// How far two values are apart. Their elements may lie in different orders: a value of
// XNNPACK has its channels last. Of the orders that the shapes allow, the one counts in
// which they differ least.
//
//   const Difference d = compare_values(a, b, Tolerance());
//   d.max_abs, d.sqnr, d.is_within
//
// NaN equals NaN at the same place and nothing else; an infinity equals itself and the largest
// float, with which programs fill masks instead.
#ifndef PETREL_EXTENSION_DIFF_COMPARE_VALUES_H_
#define PETREL_EXTENSION_DIFF_COMPARE_VALUES_H_

#include <cstddef>
#include <optional>

#include "extension/diff/value_trace.h"

namespace petrel::extension {

// Without numbers of the user floats may differ by a little in each element, and values
// that were rounded to integers, or to half precision or bfloat16, by their noise.
struct Tolerance {
  std::optional<double> atol;
  std::optional<double> rtol;      // of the element or the value's root mean square
  std::optional<double> min_sqnr;  // in decibels
  // Nothing may differ, not even the sign of a 0; the numbers above mean nothing.
  bool is_exact = false;
};

// What holds where the user gives no number: of floats, and of values that one program
// or both have rounded to integers, or to 16 bits.
inline constexpr double kAtol = 1e-6;
inline constexpr double kRtol = 1e-4;
inline constexpr double kMinSqnrOfRounded = 12;
inline constexpr double kMinSqnrOfNarrow = 30;

struct Difference {
  bool is_within = true;
  double max_abs = 0;   // among numbers that both have
  double sqnr = 0;      // in decibels; infinity where nothing differs
  size_t beyond = 0;    // elements beyond the tolerance
  size_t only_nan = 0;  // elements that are NaN or infinite on one side only
  size_t at = 0;        // the first element beyond it, or that differs most
  double first = 0;     // that element of the one and the other
  double second = 0;
};

// Precondition: as many elements in both.
Difference compare_values(const TraceValue& a, const TraceValue& b, const Tolerance& tolerance);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DIFF_COMPARE_VALUES_H_
