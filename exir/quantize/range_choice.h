// SPDX-License-Identifier: Apache-2.0
//
// Which part of what a value was seen to lie in its levels show, in the words of users:
//
//   min-max            all of it
//   least-error        the part that is shown with the least error
//   percentile=99.9    the part that 99.9 percent of the numbers lie in; "percentile" is 99.99
//   by-outputs         one of these for all values: that with which outputs err least
//
// All but the first need a histogram (histogram.h), and so a second look at samples.
#ifndef PETREL_EXIR_QUANTIZE_RANGE_CHOICE_H_
#define PETREL_EXIR_QUANTIZE_RANGE_CHOICE_H_

#include <string>

#include "absl/status/statusor.h"

namespace petrel::exir {

struct RangeChoice {
  enum class Kind { kMinMax, kLeastError, kPercentile, kByOutputs };

  Kind kind = Kind::kMinMax;
  double percent = 99.99;  // of kPercentile

  bool needs_histogram() const { return kind != Kind::kMinMax; }
};

// InvalidArgument with the word and what it must be: percentages are 50 to 100.
absl::StatusOr<RangeChoice> parse_range_choice(const std::string& word);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_RANGE_CHOICE_H_
