// SPDX-License-Identifier: Apache-2.0
//
// How much outputs err with what was chosen so far: compiled, and run on some samples that were
// seen before.
//
//   Trials trials(options, observers, samples, &observed);
//   PETREL_ASSIGN_OR_RETURN(const double noise, trials.noise(ranges, histograms, kMostJudged));
//
// Noise is relative to the signal, of all outputs together. All that is given outlives it.
#ifndef PETREL_EXTENSION_QUANTIZE_TRIALS_H_
#define PETREL_EXTENSION_QUANTIZE_TRIALS_H_

#include <cstddef>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "exir/driver/observe.h"
#include "extension/quantize/calibrate.h"
#include "extension/quantize/judge.h"
#include "extension/quantize/observer.h"

namespace petrel::extension {

class Trials {
 public:
  // `observers` saw the samples, and how many each method has.
  Trials(const CalibrateOptions& options, const Observers& observers,
         const std::map<std::string, size_t>& samples, exir::ObservedProgram* observed);

  // With the choices of observed(), on at most `most` samples of each method. Errors name the
  // method and sample.
  absl::StatusOr<double> noise(const exir::SeenRanges& ranges,
                               const exir::SeenHistograms& histograms, size_t most);

  exir::ObservedProgram& observed() { return observed_; }

 private:
  CalibrateOptions options_;  // without a budget
  const Observers& observers_;
  const std::map<std::string, size_t>& samples_;
  exir::ObservedProgram& observed_;
  std::map<size_t, Judge> judges_;  // by the most that they run
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_TRIALS_H_
