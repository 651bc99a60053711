// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/judge.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/status_macros.h"
#include "extension/npy/tensor_array.h"
#include "extension/quantize/method_runner.h"
#include "extension/quantize/noise.h"

namespace petrel::extension {
namespace {

using runtime::EValue;

template <typename... Args>
absl::Status invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

std::vector<float> floats_of(const EValue& value) {
  if (!value.isTensor() || value.toTensor().scalar_type() != runtime::ScalarType::Float) return {};
  const NpyArray array = to_npy(value.toTensor());
  std::vector<float> numbers(array.data.size() / sizeof(float));
  if (!numbers.empty()) std::memcpy(numbers.data(), array.data.data(), array.data.size());
  return numbers;
}

absl::StatusOr<size_t> count_samples(const std::vector<std::string>& files,
                                     const MethodRunner& runner) {
  size_t count = 0;
  for (const std::string& path : files) {
    PETREL_ASSIGN_OR_RETURN(const auto file, CalibrationFile::open(path, runner.inputs()));
    count += file.size();
  }
  return count;
}

int64_t place_of_largest(const std::vector<float>& numbers) {
  return std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
}

absl::StatusOr<std::vector<int64_t>> whole_numbers(const NpyArray& array) {
  const auto read = [&](auto element) {
    std::vector<int64_t> numbers(array.data.size() / sizeof(element));
    for (size_t i = 0; i < numbers.size(); ++i) {
      std::memcpy(&element, array.data.data() + i * sizeof(element), sizeof(element));
      numbers[i] = static_cast<int64_t>(element);
    }
    return numbers;
  };
  switch (array.type) {
    case runtime::ScalarType::Long:
      return read(int64_t{});
    case runtime::ScalarType::Int:
      return read(int32_t{});
    case runtime::ScalarType::Short:
      return read(int16_t{});
    case runtime::ScalarType::Char:
      return read(int8_t{});
    case runtime::ScalarType::Byte:
      return read(uint8_t{});
    default:
      return invalid("has dtype ", runtime::to_string(array.type), ", must be of whole numbers");
  }
}

using NoiseByOutput = std::map<std::pair<std::string, size_t>, Noise>;  // method and place

Verdict verdict_of(const NoiseByOutput& noise_by_output, size_t right) {
  Verdict verdict;
  verdict.right = right;
  verdict.decibels = std::numeric_limits<double>::infinity();
  for (const auto& [output, noise] : noise_by_output) {
    verdict.noise += noise.share();
    const double decibels = noise.decibels();
    verdict.decibels = std::isnan(decibels) ? decibels : std::min(verdict.decibels, decibels);
  }
  return verdict;
}

}  // namespace

absl::Status Judge::read_labels() {
  const KeepBudget& budget = options_->budget;
  if (budget.labels.empty()) return absl::OkStatus();
  PETREL_ASSIGN_OR_RETURN(const NpyArray array, read_npy(budget.labels));
  auto labels = whole_numbers(array);
  if (!labels.ok()) return exir::annotate(labels.status(), budget.labels);
  labels_ = *std::move(labels);
  if (options_->samples.count(budget.labels_method) != 0) return absl::OkStatus();
  return invalid(budget.labels, ": there are no samples of method '", budget.labels_method, "'");
}

absl::Status Judge::run_floats(const std::string& program, const PicksByMethod& given) {
  PETREL_ASSIGN_OR_RETURN(const LoadedBytes loaded, LoadedBytes::load(program, options_->registry));
  for (const std::string& method : methods_in_order(*options_)) {
    PETREL_ASSIGN_OR_RETURN(MethodRunner runner, MethodRunner::open(loaded.module(), method));
    const std::vector<std::string>& files = options_->samples.at(method);
    PETREL_ASSIGN_OR_RETURN(const size_t count, count_samples(files, runner));
    const bool is_labelled = has_labels() && method == options_->budget.labels_method;
    if (is_labelled && labels_.size() != count) {
      return invalid(options_->budget.labels, ": has ", labels_.size(), " labels, there are ",
                     count, " samples");
    }
    const auto found = given.find(method);
    const SamplePicks picks = is_labelled            ? spread_samples(count, count)
                              : found != given.end() ? found->second
                                                     : spread_samples(count, kMostJudged);
    std::vector<Judged>& judged = judged_[method];
    const auto run = [&](size_t place, const Sample& sample) -> absl::Status {
      PETREL_ASSIGN_OR_RETURN(const std::vector<EValue> outputs, runner.run(sample));
      Judged made;
      made.pick = picks[judged.size()];
      for (const EValue& output : outputs) made.wanted.push_back(floats_of(output));
      if (is_labelled) {
        const size_t classes = made.wanted.empty() ? 0 : made.wanted[0].size();
        if (labels_[place] < 0 || static_cast<uint64_t>(labels_[place]) >= classes) {
          return invalid(options_->budget.labels, ": label ", place, " is ", labels_[place],
                         ", must be below ", classes, ", the elements of output 0");
        }
        floats_.right += place_of_largest(made.wanted[0]) == labels_[place];
      }
      if (picks.size() <= kMostJudged) made.sample = sample;
      judged.push_back(std::move(made));
      return absl::OkStatus();
    };
    PETREL_RETURN_IF_ERROR(for_each_sample(files, runner.inputs(), those_of(picks), run).status());
    samples_ += judged.size();
  }
  floats_.decibels = std::numeric_limits<double>::infinity();
  return absl::OkStatus();
}

absl::StatusOr<Judge> Judge::make(const CalibrateOptions& options, const std::string& floats,
                                  const PicksByMethod& picks) {
  Judge judge(options);
  PETREL_RETURN_IF_ERROR(judge.read_labels());
  PETREL_RETURN_IF_ERROR(judge.run_floats(floats, picks));
  return judge;
}

absl::StatusOr<Verdict> Judge::judge(const std::string& program, size_t step) const {
  PETREL_ASSIGN_OR_RETURN(const LoadedBytes loaded, LoadedBytes::load(program, options_->registry));
  NoiseByOutput noise_by_output;
  size_t right = 0;
  for (const std::string& method : methods_in_order(*options_)) {
    PETREL_ASSIGN_OR_RETURN(MethodRunner runner, MethodRunner::open(loaded.module(), method));
    const bool is_labelled = has_labels() && method == options_->budget.labels_method;
    const std::vector<Judged>& all = judged_.at(method);
    const auto compare = [&](const Judged& judged, const Sample& sample) -> absl::Status {
      PETREL_ASSIGN_OR_RETURN(const std::vector<EValue> outputs, runner.run(sample));
      for (size_t o = 0; o < std::min(outputs.size(), judged.wanted.size()); ++o) {
        const std::vector<float> made = floats_of(outputs[o]);
        Noise noise;
        for (size_t i = 0; i < std::min(made.size(), judged.wanted[o].size()); ++i) {
          noise.add(made[i], judged.wanted[o][i]);
        }
        noise_by_output[{method, o}].add(noise, judged.pick.weight);
        if (o == 0 && is_labelled && !made.empty()) {
          right += place_of_largest(made) == labels_[judged.pick.place];
        }
      }
      return absl::OkStatus();
    };
    if (all.size() > kMostJudged) {
      const auto wants = [&](size_t place) { return place % step == 0; };
      const auto read = [&](size_t place, const Sample& sample) {
        return compare(all[place], sample);
      };
      PETREL_RETURN_IF_ERROR(
          for_each_sample(options_->samples.at(method), runner.inputs(), wants, read).status());
      continue;
    }
    for (size_t i = 0; i < all.size(); i += step) {
      PETREL_RETURN_IF_ERROR(compare(all[i], all[i].sample));
    }
  }
  return verdict_of(noise_by_output, right);
}

}  // namespace petrel::extension
