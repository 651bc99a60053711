// SPDX-License-Identifier: Apache-2.0
//
// How the numbers of a value are spread over its range, and which part of that range
// int8 shows with the least error: a few numbers far out cost all others their levels.
//
//   count |      ##                          Histogram seen(range);
//         |     ####                         seen.add(elements, n);
//         |  #########                 .     Range best = seen.best_range();
//         +----------------------------------
//           [ best      ]   the rest is cut to its ends
#ifndef PETREL_EXIR_QUANTIZE_HISTOGRAM_H_
#define PETREL_EXIR_QUANTIZE_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exir/quantize/range_choice.h"
#include "exir/quantize/scheme.h"

namespace petrel::exir {

class Histogram {
 public:
  // Of numbers in `range`, which is finite and not empty; 0 is made part of it.
  explicit Histogram(const Range& range);

  // Numbers that are 0 are not counted: every scale shows them exactly.
  void add(const float* elements, size_t count);
  // Of another range the numbers of a bin count at its middle.
  void add(const Histogram& other);

  // The part with the least sum of squared errors, rounding within it and cutting
  // outside; the whole range where nothing was counted.
  Range best_range() const;

  // The part that holds at least `percent` of the numbers above 0, and of those below it. Ends
  // are those of the range or of bins, so it is too wide by less than one bin on each side.
  Range percentile_range(double percent) const;

  // What `choice` shows; of kByOutputs, which is none by itself, all that was seen.
  Range part(const RangeChoice& choice) const;

 private:
  // Precondition: the range has a width.
  int32_t bin_of(double number) const;

  Range range_;
  double width_;                  // of a bin; 0 when the range is one number
  double bins_per_one_;           // 1 / width_
  std::vector<uint64_t> counts_;  // by bin; behind them zeros, which nothing reads
  uint64_t below_ = 0;            // of all that were counted, those below 0
  uint64_t above_ = 0;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_HISTOGRAM_H_
