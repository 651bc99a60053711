// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/range_trials.h"

#include <cstddef>
#include <limits>

#include "exir/status_macros.h"
#include "extension/quantize/judge.h"

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

}  // namespace

absl::Status try_ranges(const exir::SeenRanges& ranges, const exir::SeenHistograms& histograms,
                        Trials* trials) {
  const auto noise = [&](const exir::RangeChoice& candidate, size_t most) {
    trials->observed().range_choice = candidate;
    return trials->noise(ranges, histograms, most);
  };
  exir::RangeChoice best = kWhole;
  double least = std::numeric_limits<double>::infinity();
  for (const exir::RangeChoice& candidate : kCut) {
    PETREL_ASSIGN_OR_RETURN(const double tried, noise(candidate, kFirstJudged));
    if (!(tried < least)) continue;
    best = candidate;
    least = tried;
  }
  // Whether it is better than cutting nothing, all samples tell, or as many as speak for them.
  PETREL_ASSIGN_OR_RETURN(const double cut, noise(best, kMostJudged));
  PETREL_ASSIGN_OR_RETURN(const double whole, noise(kWhole, kMostJudged));
  trials->observed().range_choice = cut < (1 - kLeastGain) * whole ? best : kWhole;
  return absl::OkStatus();
}

}  // namespace petrel::extension
