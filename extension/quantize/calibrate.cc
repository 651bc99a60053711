// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/calibrate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/driver/observe.h"
#include "exir/status_macros.h"
#include "extension/quantize/calibration_data.h"
#include "extension/quantize/keep_float_search.h"
#include "extension/quantize/method_runner.h"
#include "extension/quantize/round_weights.h"

namespace petrel::extension {
namespace {

using exir::Range;

absl::StatusOr<Range> range_of(const float* elements, size_t count) {
  Range range;
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(elements[i])) {
      return absl::InvalidArgumentError(absl::StrCat("element ", i, " is ", elements[i]));
    }
    range.min = std::min(range.min, elements[i]);
    range.max = std::max(range.max, elements[i]);
  }
  return range;
}

// One method of the observed program, and what its values were seen to lie in.
class Observer {
 public:
  explicit Observer(const exir::ObservedMethod& method) : method_(method) {}

  // The number of samples.
  absl::StatusOr<size_t> see_all(const std::vector<std::string>& files, MethodRunner runner) {
    return for_each_sample(
        files, runner.inputs(), 1,
        [&](size_t, const std::vector<NpyArray>& sample) { return see_sample(sample, runner); });
  }

  // From here on counts how numbers are spread over these ranges.
  void look_again(const exir::Ranges& shared) {
    for (const auto& [name, range] : shared) histograms_.emplace(name, range);
  }

  const exir::Ranges& ranges() const { return ranges_; }
  const exir::Histograms& histograms() const { return histograms_; }

 private:
  absl::Status see_value(const std::string& name, const void* data, size_t count) {
    const auto* elements = static_cast<const float*>(data);
    auto range = range_of(elements, count);
    if (!range.ok()) {
      return exir::annotate(range.status(),
                            absl::StrCat("value '", name, "', which needs a scale"));
    }
    const auto histogram = histograms_.find(name);
    if (histogram != histograms_.end()) {
      histogram->second.add(elements, count);
      return absl::OkStatus();
    }
    ranges_[name].include(*range);
    return absl::OkStatus();
  }

  absl::Status see_sample(const std::vector<NpyArray>& sample, MethodRunner& runner) {
    for (size_t k = 0; k < sample.size(); ++k) {
      const std::string& name = method_.inputs[runner.places()[k]];
      if (method_.seen_there.count(name) == 0) continue;
      PETREL_RETURN_IF_ERROR(
          see_value(name, sample[k].data.data(), sample[k].data.size() / sizeof(float)));
    }
    PETREL_ASSIGN_OR_RETURN(const std::vector<runtime::EValue> outputs, runner.run(sample));
    for (size_t o = 0; o < outputs.size(); ++o) {
      const runtime::Tensor tensor = outputs[o].toTensor();
      PETREL_RETURN_IF_ERROR(see_value(method_.outputs[o], tensor.const_data_ptr(),
                                       static_cast<size_t>(tensor.numel())));
    }
    return absl::OkStatus();
  }

  const exir::ObservedMethod& method_;
  exir::Ranges ranges_;
  exir::Histograms histograms_;
};

using Observers = std::map<std::string, Observer>;

absl::Status check_samples(const CalibrateOptions& options) {
  for (const auto& [method, files] : options.samples) {
    if (options.model.methods.count(method) != 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("samples are given for '", method, "', which is not a method"));
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

// Runs all samples, in memory and state of their own.
absl::Status look(const CalibrateOptions& options, const exir::ObservedProgram& observed,
                  const std::vector<std::string>& order, Observers* observers,
                  std::map<std::string, size_t>* samples) {
  PETREL_ASSIGN_OR_RETURN(const LoadedBytes program,
                          LoadedBytes::load(observed.bytes, options.registry));
  for (const std::string& name : order) {
    PETREL_ASSIGN_OR_RETURN(MethodRunner runner, MethodRunner::open(program.module(), name));
    PETREL_ASSIGN_OR_RETURN(
        (*samples)[name], observers->at(name).see_all(options.samples.at(name), std::move(runner)));
    if ((*samples)[name] > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the files of method '", name, "' hold no samples"));
  }
  return absl::OkStatus();
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
  PETREL_RETURN_IF_ERROR(check_budget(options.budget));
  PETREL_ASSIGN_OR_RETURN(
      exir::ObservedProgram observed,
      exir::compile_observed(
          options.model, {options.scheme, options.group, options.round_with_samples, options.ranges,
                          options.keep_float}));
  PETREL_ASSIGN_OR_RETURN(const std::vector<std::string> order, order_of(options, observed));
  Calibration calibration;
  Observers observers;
  for (const std::string& name : order) observers.emplace(name, observed.methods.at(name));
  if (options.round_with_samples) {
    PETREL_ASSIGN_OR_RETURN(observed.roundings,
                            round_weights(options, observed, &calibration.samples));
  } else if (!order.empty()) {
    PETREL_RETURN_IF_ERROR(look(options, observed, order, &observers, &calibration.samples));
  }
  exir::SeenRanges ranges;
  for (const auto& [name, observer] : observers) ranges[name] = observer.ranges();
  exir::SeenHistograms histograms;
  if (options.ranges.needs_histogram() && !order.empty()) {
    PETREL_ASSIGN_OR_RETURN(const exir::SeenRanges shared, observed.shared(ranges));
    for (auto& [name, observer] : observers) observer.look_again(shared.at(name));
    PETREL_RETURN_IF_ERROR(look(options, observed, order, &observers, &calibration.samples));
    for (const auto& [name, observer] : observers) histograms[name] = observer.histograms();
  }
  calibration.floats = observed.float_bytes;
  if (options.budget.is_empty()) {
    PETREL_ASSIGN_OR_RETURN(calibration.record, observed.choose(ranges, histograms));
  } else {
    PETREL_ASSIGN_OR_RETURN(calibration.record,
                            search_keep_float(options, std::move(observed), ranges, histograms));
  }
  return calibration;
}

}  // namespace petrel::extension
