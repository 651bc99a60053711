// SPDX-License-Identifier: Apache-2.0
//
// Which ranges cost outputs least: those that were seen, or the parts of them that
// exir/quantize/range_choice.h has. Each part is compiled and run on some samples, and the best
// of them and the whole on all, or on many.
//
//   PETREL_RETURN_IF_ERROR(try_ranges(ranges, histograms, &trials));
//   trials.observed().range_choice                // that of the outputs that err least
#ifndef PETREL_EXTENSION_QUANTIZE_RANGE_TRIALS_H_
#define PETREL_EXTENSION_QUANTIZE_RANGE_TRIALS_H_

#include "absl/status/status.h"
#include "exir/driver/observe.h"
#include "extension/quantize/trials.h"

namespace petrel::extension {

// Without a gain the whole. Errors name the method and sample.
absl::Status try_ranges(const exir::SeenRanges& ranges, const exir::SeenHistograms& histograms,
                        Trials* trials);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_RANGE_TRIALS_H_
