// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/observer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/status_macros.h"

namespace petrel::extension {
namespace {

using exir::Range;

absl::StatusOr<Range> range_of(const float* elements, size_t count) {
  exir::Constant seen;
  seen.type = exir::TensorType::contiguous(exir::ScalarType::kFloat, {static_cast<int64_t>(count)});
  seen.data = exir::Blob::view({reinterpret_cast<const uint8_t*>(elements), count * sizeof(float)},
                               nullptr);
  auto range = exir::range_of(seen);
  if (range.ok()) return range;
  const auto* bad =
      std::find_if_not(elements, elements + count, [](float x) { return std::isfinite(x); });
  return absl::InvalidArgumentError(absl::StrCat("element ", bad - elements, " is ", *bad));
}

// exir::affine_of() has a scale of 1 for others. Levels show 0 as well.
bool has_scale(const Range& range) {
  const float least = std::min(range.min, 0.0f), most = std::max(range.max, 0.0f);
  return std::isnormal((most / 2 - least / 2) /
                       (static_cast<float>(exir::kMostLevel - exir::kLeastLevel) / 2));
}

absl::Span<const int32_t> sizes_of(const runtime::Tensor& tensor) {
  return {tensor.sizes().data(), tensor.sizes().size()};
}

}  // namespace

void Observer::watch_channels(const std::string& name, size_t dim) {
  constexpr size_t kShown[] = {0, 3, 1, 2};
  watched_[name].dim = method_.channels_last.count(name) != 0 ? kShown[dim] : dim;
}

absl::StatusOr<size_t> Observer::see_all(const std::vector<std::string>& files,
                                         const WantsSample& wants, MethodRunner runner) {
  return for_each_sample(
      files, runner.inputs(), wants,
      [&](size_t i, const std::vector<NpyArray>& sample) { return see_sample(i, sample, runner); });
}

std::vector<size_t> Observer::ends_held(size_t samples) const {
  std::vector<size_t> ends(samples);
  for (const auto& [name, holders] : holders_) {
    if (holders.min < samples) ++ends[holders.min];
    if (holders.max < samples) ++ends[holders.max];
  }
  return ends;
}

absl::Status Observer::check_inputs() const {
  for (const std::string& name : method_.inputs) {
    const auto seen = ranges_.find(name);
    if (seen == ranges_.end() || has_scale(seen->second)) continue;
    if (method_.optional.count(name) != 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("input '", name, "', which needs a scale, lies from ", seen->second.min,
                     " to ", seen->second.max, " in all samples"));
  }
  return absl::OkStatus();
}

void Observer::divide(const std::string& name, const std::vector<float>& factors) {
  Watched& watched = watched_.at(name);
  watched.factors = factors;
  ranges_[name] = watched.seen.divided_by(factors);
}

void Observer::look_again(const exir::Ranges& shared) {
  for (const auto& [name, range] : shared) histograms_.emplace(name, range);
}

absl::Status Observer::see_value(size_t i, const std::string& name, const float* elements,
                                 size_t count) {
  if (left_out_.count(name) != 0) return absl::OkStatus();
  // What was finite at the first look is so again.
  const auto histogram = histograms_.find(name);
  if (histogram != histograms_.end()) {
    histogram->second.add(elements, count);
    return absl::OkStatus();
  }
  auto range = range_of(elements, count);
  if (!range.ok() && method_.optional.count(name) != 0) {
    left_out_.insert(name);
    ranges_.erase(name);
    holders_.erase(name);
    return absl::OkStatus();
  }
  if (!range.ok()) {
    return exir::annotate(range.status(), absl::StrCat("value '", name, "', which needs a scale"));
  }
  Range& seen = ranges_[name];
  Holders& holders = holders_[name];
  if (range->min < seen.min) holders.min = i;
  if (range->max > seen.max) holders.max = i;
  seen.include(*range);
  return absl::OkStatus();
}

absl::Status Observer::see_output(size_t i, const std::string& name,
                                  const runtime::Tensor& tensor) {
  const auto* elements = static_cast<const float*>(tensor.const_data_ptr());
  const auto count = static_cast<size_t>(tensor.numel());
  const auto watched = watched_.find(name);
  if (watched == watched_.end()) return see_value(i, name, elements, count);
  const size_t dim = watched->second.dim;
  if (!watched->second.factors.empty()) {
    std::vector<float> divided(elements, elements + count);
    exir::divide_channels(watched->second.factors, sizes_of(tensor), dim, divided.data());
    return see_value(i, name, divided.data(), count);
  }
  PETREL_RETURN_IF_ERROR(see_value(i, name, elements, count));
  if (histograms_.empty() && i < watched_samples_) {
    watched->second.seen.add(elements, sizes_of(tensor), dim);
  }
  return absl::OkStatus();
}

absl::Status Observer::see_sample(size_t i, const std::vector<NpyArray>& sample,
                                  MethodRunner& runner) {
  for (size_t k = 0; k < sample.size(); ++k) {
    const std::string& name = method_.inputs[runner.places()[k]];
    if (method_.seen_there.count(name) == 0) continue;
    PETREL_RETURN_IF_ERROR(see_value(i, name, reinterpret_cast<const float*>(sample[k].data.data()),
                                     sample[k].data.size() / sizeof(float)));
  }
  PETREL_ASSIGN_OR_RETURN(const std::vector<runtime::EValue> outputs, runner.run(sample));
  for (size_t o = 0; o < outputs.size(); ++o) {
    PETREL_RETURN_IF_ERROR(see_output(i, method_.outputs[o], outputs[o].toTensor()));
  }
  return absl::OkStatus();
}

}  // namespace petrel::extension
