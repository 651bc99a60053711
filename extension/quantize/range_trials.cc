// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/range_trials.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "exir/driver/trial.h"
#include "exir/status_macros.h"
#include "extension/quantize/judge.h"

namespace petrel::extension {
namespace {

using Kind = exir::RangeChoice::Kind;

constexpr exir::RangeChoice kCandidates[] = {
    {Kind::kMinMax}, {Kind::kLeastError}, {Kind::kPercentile, 99.99}, {Kind::kPercentile, 99.9}};

// Trials run on as few samples as have so many elements of outputs, within these bounds: how
// much outputs err is then known well enough to compare.
constexpr int64_t kElements = 4096;
constexpr size_t kFewest = 8;

size_t samples_to_judge(const exir::Program& floats) {
  int64_t elements = 1;
  for (const auto& [name, method] : floats.methods) {
    for (const exir::Value* output : method.graph->outputs()) {
      if (output->type().is_tensor()) elements += std::min(output->tensor().numel(), kElements);
    }
  }
  return std::clamp(static_cast<size_t>(kElements / elements), kFewest, kMostJudged);
}

}  // namespace

absl::Status try_ranges(const CalibrateOptions& options, const exir::SeenRanges& ranges,
                        const exir::SeenHistograms& histograms, exir::ObservedProgram* observed) {
  CalibrateOptions by_noise = options;
  by_noise.budget = {};
  PETREL_ASSIGN_OR_RETURN(const Judge judge, Judge::make(by_noise, observed->float_bytes,
                                                         samples_to_judge(observed->floats)));
  exir::RangeChoice best = kCandidates[0];
  double least = std::numeric_limits<double>::infinity();
  for (const exir::RangeChoice& candidate : kCandidates) {
    observed->range_choice = candidate;
    PETREL_ASSIGN_OR_RETURN(const exir::QuantizationRecord record,
                            observed->choose(ranges, histograms));
    PETREL_ASSIGN_OR_RETURN(const std::string program,
                            exir::compile_quantised(options.model, observed->floats, record));
    PETREL_ASSIGN_OR_RETURN(const Verdict verdict, judge.judge(program, 1));
    if (!(verdict.noise < least)) continue;
    best = candidate;
    least = verdict.noise;
  }
  observed->range_choice = best;
  return absl::OkStatus();
}

}  // namespace petrel::extension
