// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/calibrate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/driver/observe.h"
#include "exir/status_macros.h"
#include "extension/quantize/cell_trials.h"
#include "extension/quantize/channel_choices.h"
#include "extension/quantize/keep_float_search.h"
#include "extension/quantize/method_runner.h"
#include "extension/quantize/observer.h"
#include "extension/quantize/range_trials.h"
#include "extension/quantize/round_weights.h"
#include "extension/quantize/runnable_options.h"
#include "extension/quantize/sample_picks.h"
#include "extension/quantize/trials.h"

namespace petrel::extension {
namespace {

// Enough to see that channels are far apart.
constexpr size_t kSamplesForAdvice = 8;

// Enough to see how numbers are spread, where ranges of several kinds are tried.
constexpr size_t kSamplesForTrials = 32;

absl::Status check_samples(const CalibrateOptions& options) {
  for (const auto& [method, files] : options.samples) {
    if (options.model.methods.count(method) != 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("samples are given for '", method, "', which is not a method"));
  }
  return absl::OkStatus();
}

// Scales that rows get at run time, or none at all, follow no ranges.
absl::Status check_ranges(const CalibrateOptions& options) {
  using Kind = exir::RangeChoice::Kind;
  const bool is_default =
      options.ranges.kind == Kind::kMinMax || options.ranges.kind == Kind::kByOutputs;
  if (options.scheme == exir::QuantScheme::kStaticInt8 || is_default) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("ranges other than min-max are for static-int8, not for ",
                   exir::scheme_name(options.scheme)));
}

absl::Status check_channel_choices(const CalibrateOptions& options) {
  const bool is_static = options.scheme == exir::QuantScheme::kStaticInt8;
  if ((options.equalise || options.correct_bias) && !is_static) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.equalise ? "equalising channels" : "correcting biases",
                     " is for static-int8, not for ", exir::scheme_name(options.scheme)));
  }
  if (options.correct_bias && options.model.weight_keys == exir::WeightKeys::kName) {
    return absl::InvalidArgumentError(
        "correcting biases is for one training: it does not go with weights by name");
  }
  return absl::OkStatus();
}

absl::Status check_rounding(const CalibrateOptions& options) {
  if (!options.round_with_samples) return absl::OkStatus();
  if (options.scheme != exir::QuantScheme::kDynamicInt4) {
    return absl::InvalidArgumentError(
        absl::StrCat("rounding by least error is for dynamic-int4, not for ",
                     exir::scheme_name(options.scheme)));
  }
  if (options.model.weight_keys == exir::WeightKeys::kName) {
    return absl::InvalidArgumentError(
        "rounding by least error is for one training: it does not go with weights by name");
  }
  return absl::OkStatus();
}

// Whose partitions take what they can.
exir::BackendSelection runs_on(const CalibrateOptions& options) {
  exir::BackendSelection backends = options_to_run(options).backends;
  for (exir::BackendUse& use : backends.for_all) use.whole_method = false;
  for (auto& [method, uses] : backends.for_method) {
    for (exir::BackendUse& use : uses) use.whole_method = false;
  }
  return backends;
}

// Methods that need samples.
absl::StatusOr<std::vector<std::string>> order_of(const CalibrateOptions& options,
                                                  const exir::ObservedProgram& observed) {
  std::vector<std::string> order;
  for (const std::string& method : methods_in_order(options)) {
    if (observed.methods.at(method).needs_samples()) order.push_back(method);
  }
  for (const auto& [name, method] : observed.methods) {
    const bool has_samples = std::find(order.begin(), order.end(), name) != order.end();
    if (!method.needs_samples() || has_samples) continue;
    return absl::InvalidArgumentError(absl::StrCat("method '", name, "' has no samples"));
  }
  return order;
}

// Runs the samples, or those of `picks`, in memory and state of their own.
absl::Status look(const CalibrateOptions& options, const exir::ObservedProgram& observed,
                  const std::vector<std::string>& order, const PicksByMethod& picks,
                  Observers* observers, std::map<std::string, size_t>* samples) {
  PETREL_ASSIGN_OR_RETURN(const LoadedBytes program,
                          LoadedBytes::load(observed.bytes, options.registry));
  for (const std::string& name : order) {
    PETREL_ASSIGN_OR_RETURN(MethodRunner runner, MethodRunner::open(program.module(), name));
    const auto found = picks.find(name);
    const WantsSample wants = found == picks.end() ? WantsSample() : those_of(found->second);
    PETREL_ASSIGN_OR_RETURN(
        (*samples)[name],
        observers->at(name).see_all(options.samples.at(name), wants, std::move(runner)));
    if ((*samples)[name] == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the files of method '", name, "' hold no samples"));
    }
    PETREL_RETURN_IF_ERROR(
        exir::annotate(observers->at(name).check_inputs(), absl::StrCat("method '", name, "'")));
  }
  return absl::OkStatus();
}

// How numbers are spread over what values share: of all samples, or where several kinds of ranges
// are tried of as many as speak for them.
absl::StatusOr<exir::SeenHistograms> count_again(const CalibrateOptions& options,
                                                 const exir::ObservedProgram& observed,
                                                 const std::vector<std::string>& order,
                                                 const exir::SeenRanges& ranges,
                                                 const Calibration& calibration,
                                                 Observers* observers) {
  const bool tries = options.ranges.kind == exir::RangeChoice::Kind::kByOutputs;
  PETREL_ASSIGN_OR_RETURN(const exir::SeenRanges shared, observed.shared(ranges));
  PicksByMethod picks;
  for (auto& [name, observer] : *observers) {
    observer.look_again(shared.at(name));
    // What one sample leaves in state is there for the next: all of them run.
    if (!tries || calibration.has_state) continue;
    picks[name] = pick_samples(observer.ends_held(calibration.samples.at(name)), kSamplesForTrials);
  }
  std::map<std::string, size_t> samples = calibration.samples;
  PETREL_RETURN_IF_ERROR(look(options, observed, order, picks, observers, &samples));
  exir::SeenHistograms histograms;
  for (const auto& [name, observer] : *observers) histograms[name] = observer.histograms();
  return histograms;
}

// Where ranges that leave numbers out cannot meet the budget, those that show all may.
absl::StatusOr<KeptFloat> keep_float(const CalibrateOptions& options,
                                     exir::ObservedProgram* observed,
                                     const exir::SeenRanges& ranges,
                                     const exir::SeenHistograms& histograms) {
  using Kind = exir::RangeChoice::Kind;
  const auto choices = observed->choices;
  auto kept = search_keep_float(options, observed, ranges, histograms);
  const bool was_chosen = options.ranges.kind == Kind::kByOutputs;
  if (kept.ok() || !was_chosen || observed->range_choice.kind == Kind::kMinMax) return kept;
  observed->choices = choices;
  observed->range_choice = {Kind::kMinMax};
  return search_keep_float(options, observed, ranges, histograms);
}

}  // namespace

absl::Status check_budget(const KeepBudget& budget) {
  if (budget.min_sqnr && !std::isfinite(*budget.min_sqnr)) {
    return absl::InvalidArgumentError(
        absl::StrCat("min-sqnr is ", *budget.min_sqnr, ", must be a finite number of dB"));
  }
  constexpr double kAll = 100;
  if (!(budget.max_drop >= 0 && budget.max_drop <= kAll)) {
    return absl::InvalidArgumentError(
        absl::StrCat("max-drop is ", budget.max_drop, ", must be 0 to ", kAll, " percent"));
  }
  return absl::OkStatus();
}

std::vector<std::string> methods_in_order(const CalibrateOptions& options) {
  std::vector<std::string> order;
  const auto add = [&](const std::string& method) {
    const auto found = options.samples.find(method);
    const bool is_new = std::find(order.begin(), order.end(), method) == order.end();
    if (found != options.samples.end() && !found->second.empty() && is_new) order.push_back(method);
  };
  for (const std::string& method : options.order) add(method);
  for (const auto& [method, files] : options.samples) add(method);
  return order;
}

absl::StatusOr<Calibration> calibrate(const CalibrateOptions& options) {
  PETREL_RETURN_IF_ERROR(check_samples(options));
  PETREL_RETURN_IF_ERROR(exir::check_group(options.group));
  PETREL_RETURN_IF_ERROR(check_rounding(options));
  PETREL_RETURN_IF_ERROR(check_channel_choices(options));
  PETREL_RETURN_IF_ERROR(check_budget(options.budget));
  PETREL_RETURN_IF_ERROR(check_ranges(options));
  PETREL_ASSIGN_OR_RETURN(
      exir::ObservedProgram observed,
      exir::compile_observed(
          options.model, {options.scheme, options.group, options.round_with_samples, options.ranges,
                          runs_on(options), options.keep_float}));
  PETREL_ASSIGN_OR_RETURN(const std::vector<std::string> order, order_of(options, observed));
  Calibration calibration;
  for (const auto& [name, method] : observed.floats.methods) {
    calibration.has_state = calibration.has_state || !method.graph->buffer_writes().empty();
  }
  Observers observers;
  for (const std::string& name : order) observers.emplace(name, observed.methods.at(name));
  const bool is_static = options.scheme == exir::QuantScheme::kStaticInt8;
  if (is_static) watch_pairs(observed, &observers);
  if (!options.equalise) {
    for (auto& [name, observer] : observers) observer.watch_first(kSamplesForAdvice);
  }
  if (options.round_with_samples) {
    PETREL_ASSIGN_OR_RETURN(observed.roundings,
                            round_weights(options, observed, &calibration.samples));
  } else if (!order.empty()) {
    PETREL_RETURN_IF_ERROR(look(options, observed, order, {}, &observers, &calibration.samples));
  }
  if (options.equalise) {
    equalise_pairs(&observed, &observers);
  } else if (is_static) {
    calibration.uneven = uneven_products(observed, observers);
  }
  exir::SeenRanges ranges;
  for (const auto& [name, observer] : observers) ranges[name] = observer.ranges();
  exir::SeenHistograms histograms;
  Trials trials(options, observers, calibration.samples, &observed);
  const bool is_for_backends = !options.model.integers && options.model.io_dtype.empty();
  if (is_static && is_for_backends && !order.empty()) {
    PETREL_ASSIGN_OR_RETURN(calibration.cells, try_cells(ranges, &trials));
  }
  if (is_static && options.ranges.needs_histogram() && !order.empty()) {
    PETREL_ASSIGN_OR_RETURN(histograms,
                            count_again(options, observed, order, ranges, calibration, &observers));
    if (options.ranges.kind == exir::RangeChoice::Kind::kByOutputs) {
      PETREL_RETURN_IF_ERROR(try_ranges(ranges, histograms, &trials));
    }
  }
  calibration.floats = observed.float_bytes;
  if (options.budget.is_empty()) {
    PETREL_ASSIGN_OR_RETURN(calibration.record, observed.choose(ranges, histograms));
  } else {
    PETREL_ASSIGN_OR_RETURN(KeptFloat kept, keep_float(options, &observed, ranges, histograms));
    calibration.record = std::move(kept.record);
    calibration.told = kept.told;
  }
  calibration.ranges = observed.range_choice;
  if (options.correct_bias) {
    PETREL_RETURN_IF_ERROR(measure_shifts(options, observed.floats, &calibration.record));
  }
  return calibration;
}

}  // namespace petrel::extension
