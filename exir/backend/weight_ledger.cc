// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/weight_ledger.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "exir/backend/blob_names.h"

namespace petrel::exir {

void WeightLedger::record(const std::string& key, absl::Span<const Constant* const> sources,
                          const Blob& blob, const std::string& destination,
                          const std::optional<TensorType>& layout) {
  Weight& weight = weights_[key];
  weight.sources.clear();
  weight.is_state = false;
  for (const Constant* source : sources) {
    for (std::string& name : source->sources()) {
      const bool is_new =
          std::find(weight.sources.begin(), weight.sources.end(), name) == weight.sources.end();
      if (is_new) weight.sources.push_back(std::move(name));
    }
    weight.is_state |= source->is_mutable();
  }
  weight.destination = destination;
  if (layout) weight.layout = layout;
  weight.blob = blob;
}

absl::Status WeightLedger::record_inline(const Constant& source) {
  const auto known = weights_.find(source.fqn);
  if (known == weights_.end()) {
    record(source.fqn, {&source}, source.data, "", source.type);
    return absl::OkStatus();
  }
  if (known->second.blob.equals(source.data)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("two weights are called '", shown_name(source.fqn), "' and have other bytes"));
}

}  // namespace petrel::exir
