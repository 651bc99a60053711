// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/range_trials.h"

#include <cstddef>
#include <limits>
#include <string>

#include "exir/driver/trial.h"
#include "exir/status_macros.h"
#include "extension/quantize/judge.h"
#include "extension/quantize/sample_picks.h"

namespace petrel::extension {
namespace {

using Kind = exir::RangeChoice::Kind;

constexpr exir::RangeChoice kWhole = {Kind::kMinMax};
constexpr exir::RangeChoice kCut[] = {
    {Kind::kLeastError}, {Kind::kPercentile, 99.99}, {Kind::kPercentile, 99.9}};

// Samples that tell which of the cut ranges is best.
constexpr size_t kFirstJudged = 16;

// A gain below this is chance.
constexpr double kLeastGain = 0.02;

PicksByMethod picks_of(const Observers& observers, const std::map<std::string, size_t>& samples,
                       size_t most) {
  PicksByMethod picks;
  for (const auto& [method, observer] : observers) {
    picks[method] = pick_samples(observer.ends_held(samples.at(method)), most);
  }
  return picks;
}

class Trials {
 public:
  Trials(const CalibrateOptions& options, const exir::SeenRanges& ranges,
         const exir::SeenHistograms& histograms, exir::ObservedProgram* observed)
      : options_(options), ranges_(ranges), histograms_(histograms), observed_(*observed) {
    options_.budget = {};
  }

  absl::StatusOr<Judge> judge_of(const PicksByMethod& picks) const {
    return Judge::make(options_, observed_.float_bytes, picks);
  }

  absl::StatusOr<double> noise_of(const exir::RangeChoice& candidate, const Judge& judge) {
    observed_.range_choice = candidate;
    PETREL_ASSIGN_OR_RETURN(const exir::QuantizationRecord record,
                            observed_.choose(ranges_, histograms_));
    PETREL_ASSIGN_OR_RETURN(const std::string program,
                            exir::compile_quantised(options_.model, observed_.floats, record));
    PETREL_ASSIGN_OR_RETURN(const Verdict verdict, judge.judge(program, 1));
    return verdict.noise;
  }

 private:
  CalibrateOptions options_;
  const exir::SeenRanges& ranges_;
  const exir::SeenHistograms& histograms_;
  exir::ObservedProgram& observed_;
};

}  // namespace

absl::Status try_ranges(const CalibrateOptions& options, const Observers& observers,
                        const std::map<std::string, size_t>& samples,
                        const exir::SeenRanges& ranges, const exir::SeenHistograms& histograms,
                        exir::ObservedProgram* observed) {
  Trials trials(options, ranges, histograms, observed);
  PETREL_ASSIGN_OR_RETURN(const Judge few,
                          trials.judge_of(picks_of(observers, samples, kFirstJudged)));
  exir::RangeChoice best = kWhole;
  double least = std::numeric_limits<double>::infinity();
  for (const exir::RangeChoice& candidate : kCut) {
    PETREL_ASSIGN_OR_RETURN(const double noise, trials.noise_of(candidate, few));
    if (!(noise < least)) continue;
    best = candidate;
    least = noise;
  }
  // Whether it is better than cutting nothing, all samples tell, or as many as speak for them.
  PETREL_ASSIGN_OR_RETURN(const Judge all,
                          trials.judge_of(picks_of(observers, samples, kMostJudged)));
  PETREL_ASSIGN_OR_RETURN(const double cut, trials.noise_of(best, all));
  PETREL_ASSIGN_OR_RETURN(const double whole, trials.noise_of(kWhole, all));
  observed->range_choice = cut < (1 - kLeastGain) * whole ? best : kWhole;
  return absl::OkStatus();
}

}  // namespace petrel::extension
