// SPDX-License-Identifier: Apache-2.0
//
// Which ranges cost outputs least: those that were seen, or the parts of them that
// exir/quantize/range_choice.h has. Each part is compiled and run on some samples, and the best
// of them and the whole on all, or on many.
//
//   PETREL_RETURN_IF_ERROR(try_ranges(options, observers, samples, ranges, histograms, &observed));
//   observed.range_choice                       // that of the outputs that err least
#ifndef PETREL_EXTENSION_QUANTIZE_RANGE_TRIALS_H_
#define PETREL_EXTENSION_QUANTIZE_RANGE_TRIALS_H_

#include <cstddef>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "exir/driver/observe.h"
#include "extension/quantize/calibrate.h"
#include "extension/quantize/observer.h"

namespace petrel::extension {

// `observers` saw the samples, and how many each method has. Without a gain the whole. Errors name
// the method and sample.
absl::Status try_ranges(const CalibrateOptions& options, const Observers& observers,
                        const std::map<std::string, size_t>& samples,
                        const exir::SeenRanges& ranges, const exir::SeenHistograms& histograms,
                        exir::ObservedProgram* observed);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_RANGE_TRIALS_H_
