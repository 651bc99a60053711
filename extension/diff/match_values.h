// SPDX-License-Identifier: Apache-2.0
//
// Which values of two runs are the same one. Programs with the same operators on the same
// shapes match value by value. Else both are put into the order of their dataflow, which
// does not depend on how they were scheduled, or into that of their runs, whichever fits
// better, and aligned: operators of one family, equal sizes and like numbers draw values
// together, and what one program does not have is left out:
//
//   convolution [1,16,8,8]  ------.
//   clamp       [1,16,8,8]  <-->  Conv2d, clamped [1,8,8,16]
//   product     [1,10]      <-->  FullyConnected  [1,10]
#ifndef PETREL_EXTENSION_DIFF_MATCH_VALUES_H_
#define PETREL_EXTENSION_DIFF_MATCH_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "extension/diff/value_trace.h"

namespace petrel::extension {

struct Matching {
  enum class How { kSameOperators, kAlignment };
  How how = How::kSameOperators;
  // Inputs of the methods are not among them. Ascending by the second.
  std::vector<std::pair<size_t, size_t>> pairs;
};

Matching match_values(const ValueTrace& a, const ValueTrace& b, CompareSteps* steps);

// Its dims above 1, ascending: what stays when axes change places.
std::vector<int64_t> dims_of(const TraceValue& value);

// Not so of integers whose scale nobody knows.
bool has_numbers(const TraceValue& value);

// For people: "operators, which are the same".
std::string to_string(Matching::How how);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DIFF_MATCH_VALUES_H_
