// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/stored_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/quantize/group_scheme.h"
#include "exir/quantize/round_with_inputs.h"
#include "exir/quantize/scheme.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

template <typename T>
ConstantPtr make_constant(const std::string& fqn, const TensorType& type,
                          const std::vector<T>& elements,
                          Constant::Kind kind = Constant::Kind::kParameter) {
  auto constant = std::make_shared<Constant>();
  constant->kind = kind;
  constant->fqn = fqn;
  constant->type = type;
  std::vector<uint8_t> bytes(elements.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  constant->data = Blob::owned(std::move(bytes));
  return constant;
}

std::vector<float> floats_of(const Constant& weight) {
  std::vector<float> values(static_cast<size_t>(weight.type.numel()));
  const Blob::Bytes bytes = weight.data.bytes();
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

// [k, n] as [n, k].
ConstantPtr transpose(const Constant& weight) {
  const auto k = static_cast<size_t>(weight.type.sizes[0]);
  const auto n = static_cast<size_t>(weight.type.sizes[1]);
  const std::vector<float> values = floats_of(weight);
  std::vector<float> turned(values.size());
  for (size_t i = 0; i < k; ++i) {
    for (size_t j = 0; j < n; ++j) turned[j * k + i] = values[i * n + j];
  }
  return make_constant(
      weight.fqn,
      TensorType::contiguous(ScalarType::kFloat, {weight.type.sizes[1], weight.type.sizes[0]}),
      turned);
}

TensorType with_dtype(TensorType type, ScalarType dtype) {
  type.dtype = dtype;
  return type;
}

absl::StatusOr<StoredWeight> channels_of(const Constant& weight, size_t axis,
                                         const std::string& name) {
  PETREL_ASSIGN_OR_RETURN(const QuantizedWeight quantized, quantize_weight(weight, axis));
  const Sizes channels = {weight.type.sizes[axis]};
  StoredWeight stored;
  stored.levels = make_constant(name, with_dtype(weight.type, ScalarType::kChar), quantized.levels);
  stored.scales = make_constant(
      name + ".scales", TensorType::contiguous(ScalarType::kFloat, channels), quantized.scales);
  return stored;
}

StoredWeight groups_of(const Sizes& rows, const RoundedWeight& rounded, int64_t group,
                       const std::string& name) {
  StoredWeight stored;
  stored.levels =
      make_constant(name, TensorType::contiguous(ScalarType::kChar, rows), rounded.levels);
  stored.scales = make_constant(
      name + ".scales", TensorType::contiguous(ScalarType::kFloat, {rows[0], rows[1] / group}),
      rounded.scales);
  return stored;
}

}  // namespace

// `make` is given the new name.
template <typename MakeFn>
absl::StatusOr<StoredWeight> StoredWeights::find_or_make(const ConstantPtr& weight,
                                                         const std::string& suffix,
                                                         const MakeFn& make) {
  const auto key = std::make_pair(weight, suffix);
  if (const auto found = stored_.find(key); found != stored_.end()) return found->second;
  PETREL_ASSIGN_OR_RETURN(StoredWeight made, make(weight->fqn + suffix));
  for (ConstantPtr* part : {&made.levels, &made.scales}) {
    if (*part == nullptr) continue;
    auto named = std::make_shared<Constant>(**part);
    named->made_of = weight->sources();
    *part = std::move(named);
  }
  return stored_[key] = std::move(made);
}

absl::StatusOr<ConstantPtr> StoredWeights::per_tensor(const ConstantPtr& constant,
                                                      const Affine& numbers) {
  const auto make = [&](const std::string& name) -> absl::StatusOr<StoredWeight> {
    PETREL_RETURN_IF_ERROR(range_of(*constant).status());
    StoredWeight stored;
    stored.levels = make_constant(name, with_dtype(constant->type, ScalarType::kChar),
                                  levels_of(*constant, numbers), constant->kind);
    return stored;
  };
  // Methods may show one constant with different numbers.
  const std::string suffix = absl::StrFormat("@int8.%a.%d", numbers.scale, numbers.zero_point);
  PETREL_ASSIGN_OR_RETURN(StoredWeight stored, find_or_make(constant, suffix, make));
  return std::move(stored.levels);
}

absl::StatusOr<ConstantPtr> StoredWeights::in_half(const ConstantPtr& constant) {
  constexpr float kLargest = 65504;
  const auto make = [&](const std::string& name) -> absl::StatusOr<StoredWeight> {
    std::vector<double> values;
    for (const float value : floats_of(*constant)) {
      if (std::isnan(value)) {
        return absl::InvalidArgumentError(
            absl::StrCat("constant '", constant->fqn, "' has an element that is no number"));
      }
      // Masks are infinite.
      values.push_back(std::isinf(value) ? value : std::clamp(value, -kLargest, kLargest));
    }
    auto half = std::make_shared<Constant>();
    half->kind = constant->kind;
    half->fqn = name;
    half->type = with_dtype(constant->type, ScalarType::kHalf);
    PETREL_ASSIGN_OR_RETURN(half->data, encode_constant(values, ScalarType::kHalf));
    return StoredWeight{std::move(half), nullptr};
  };
  PETREL_ASSIGN_OR_RETURN(StoredWeight stored, find_or_make(constant, "@half", make));
  return std::move(stored.levels);
}

absl::StatusOr<StoredWeight> StoredWeights::per_channel(const ConstantPtr& weight, size_t axis) {
  return find_or_make(weight, axis == 0 ? "@int8" : absl::StrCat("@int8.", axis),
                      [&](const std::string& name) { return channels_of(*weight, axis, name); });
}

absl::StatusOr<StoredWeight> StoredWeights::transposed(const ConstantPtr& weight) {
  return find_or_make(weight, "@int8.t", [&](const std::string& name) {
    return channels_of(*transpose(*weight), 0, name);
  });
}

absl::StatusOr<WeightRows> rows_of_weight(const Constant& weight, bool is_transposed) {
  WeightRows rows;
  const ConstantPtr turned = is_transposed ? transpose(weight) : nullptr;
  const Constant& source = is_transposed ? *turned : weight;
  rows.values = floats_of(source);
  rows.n = static_cast<size_t>(source.type.sizes[0]);
  rows.k = static_cast<size_t>(source.type.sizes[1]);
  for (size_t i = 0; i < rows.values.size(); ++i) {
    if (std::isfinite(rows.values[i])) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("weight '", weight.fqn, "' is not finite in row ", i / rows.k));
  }
  return rows;
}

std::string name_in_groups(const Constant& weight, bool is_transposed, int64_t group) {
  return absl::StrCat(weight.fqn, "@int4.", group, is_transposed ? ".t" : "");
}

absl::StatusOr<RoundedWeight> StoredWeights::rounded(const Constant& weight, bool is_transposed,
                                                     int64_t group, const std::string& name) {
  PETREL_ASSIGN_OR_RETURN(const WeightRows rows, rows_of_weight(weight, is_transposed));
  const auto chosen = roundings_.find(name);
  if (chosen == roundings_.end()) {
    return round_to_nearest(rows.values, rows.k, static_cast<size_t>(group));
  }
  const RoundedWeight& rounded = *chosen->second.weight;
  const bool fits = rounded.levels.size() == rows.values.size() &&
                    rounded.scales.size() * static_cast<size_t>(group) == rows.values.size();
  if (!fits || chosen->second.digest != to_hex(weight.data.sha256())) {
    return absl::InvalidArgumentError(
        absl::StrCat("the record's rounding '", name,
                     "' is of a weight with other numbers; roundings hold for one training"));
  }
  taken_.insert(name);
  return rounded;
}

absl::StatusOr<StoredWeight> StoredWeights::in_groups(const ConstantPtr& weight, bool is_transposed,
                                                      int64_t group) {
  const std::string whole = name_in_groups(*weight, is_transposed, group);
  const auto make = [&](const std::string& name) -> absl::StatusOr<StoredWeight> {
    PETREL_ASSIGN_OR_RETURN(const RoundedWeight levels,
                            rounded(*weight, is_transposed, group, name));
    const Sizes& sizes = weight->type.sizes;
    return groups_of(is_transposed ? Sizes{sizes[1], sizes[0]} : sizes, levels, group, name);
  };
  return find_or_make(weight, whole.substr(weight->fqn.size()), make);
}

absl::Status StoredWeights::check_all_taken() const {
  for (const auto& [name, rounding] : roundings_) {
    if (taken_.count(name) != 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the record has a rounding '", name, "', which is not a weight of 4 bits in the model"));
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
