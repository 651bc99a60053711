// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/trials.h"

#include <utility>

#include "exir/driver/trial.h"
#include "exir/status_macros.h"
#include "extension/quantize/runnable_options.h"
#include "extension/quantize/sample_picks.h"

namespace petrel::extension {

Trials::Trials(const CalibrateOptions& options, const Observers& observers,
               const std::map<std::string, size_t>& samples, exir::ObservedProgram* observed)
    : options_(options), observers_(observers), samples_(samples), observed_(*observed) {
  options_.budget = {};
}

absl::StatusOr<double> Trials::noise(const exir::SeenRanges& ranges,
                                     const exir::SeenHistograms& histograms, size_t most) {
  auto judge = judges_.find(most);
  if (judge == judges_.end()) {
    PicksByMethod picks;
    for (const auto& [method, observer] : observers_) {
      picks[method] = pick_samples(observer.ends_held(samples_.at(method)), most);
    }
    PETREL_ASSIGN_OR_RETURN(Judge made, Judge::make(options_, observed_.float_bytes, picks));
    judge = judges_.emplace(most, std::move(made)).first;
  }
  PETREL_ASSIGN_OR_RETURN(const exir::QuantizationRecord record,
                          observed_.choose(ranges, histograms));
  PETREL_ASSIGN_OR_RETURN(
      const std::string program,
      exir::compile_quantised(options_to_run(options_), observed_.floats, record));
  PETREL_ASSIGN_OR_RETURN(const Verdict verdict, judge->second.judge(program, 1));
  return verdict.noise;
}

}  // namespace petrel::extension
