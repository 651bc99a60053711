// SPDX-License-Identifier: Apache-2.0
//
// Which ranges cost outputs least: those that were seen, or the parts of them that
// exir/quantize/range_choice.h has. Each is compiled and run on some samples.
//
//   PETREL_RETURN_IF_ERROR(try_ranges(options, ranges, histograms, &observed));
//   observed.range_choice                       // that of the outputs that err least
#ifndef PETREL_EXTENSION_QUANTIZE_RANGE_TRIALS_H_
#define PETREL_EXTENSION_QUANTIZE_RANGE_TRIALS_H_

#include "absl/status/status.h"
#include "exir/driver/observe.h"
#include "extension/quantize/calibrate.h"

namespace petrel::extension {

// Of equal ones the first: the widest. Errors name the method and sample.
absl::Status try_ranges(const CalibrateOptions& options, const exir::SeenRanges& ranges,
                        const exir::SeenHistograms& histograms, exir::ObservedProgram* observed);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_RANGE_TRIALS_H_
