// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/routed_blob_store.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/backend/blob_names.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

bool is_literal(const Constant& constant) { return constant.kind == Constant::Kind::kLiteral; }

}  // namespace

RoutedBlobStore::RoutedBlobStore(const std::string& default_file) {
  routes_.default_file = default_file;
}

RoutedBlobStore::RoutedBlobStore(WeightRoutes routes) : routes_(std::move(routes)) {}

absl::StatusOr<std::string> RoutedBlobStore::add_weight(const Constant& source, const Blob& blob,
                                                        uint64_t alignment, const std::string& form,
                                                        const std::optional<TensorType>& layout) {
  const std::string key = routes_.key_for_backend(source, blob, form);
  PETREL_RETURN_IF_ERROR(place_for_backend({&source}, source, key, blob, alignment, layout));
  return key;
}

absl::StatusOr<std::string> RoutedBlobStore::add_derived(const std::string& name, Sources sources,
                                                         const std::string& recipe,
                                                         const Blob& blob, uint64_t alignment) {
  if (name.empty() || sources.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("what is made of weights, '", shown_name(name),
                                                   "' of ", sources.size(),
                                                   " constants, has no name or no constants"));
  }
  // Of weights, or of literals where there are no others.
  const Constant* routed = sources.front();
  std::map<std::string, const Constant*> by_name;
  for (const Constant* source : sources) {
    if (is_literal(*source)) continue;
    if (is_literal(*routed)) routed = source;
    const Constant& first = *by_name.emplace(source->fqn, source).first->second;
    if (is_called_by_name(*source) && !first.data.equals(source->data)) {
      return absl::AlreadyExistsError(absl::StrCat("'", shown_name(name),
                                                   "' is made of two weights called '",
                                                   shown_name(source->fqn), "' with other bytes"));
    }
    const std::string file = routes_.file_for_backend(*routed);
    const std::string other = routes_.file_for_backend(*source);
    if (file == other) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "'", shown_name(name), "' is made of weight '", shown_name(routed->fqn),
        "', which is to go to ", shown_destination(file), ", and of '", shown_name(source->fqn),
        "', which is to go to ", shown_destination(other), ", and can lie in one of them only"));
  }
  const std::string key =
      is_called_by_name(*routed) ? absl::StrCat(name, "@made_", recipe) : to_hex(blob.sha256());
  PETREL_RETURN_IF_ERROR(
      place_for_backend(sources, *routed, key, blob, alignment, /*layout=*/std::nullopt));
  return key;
}

absl::Status RoutedBlobStore::check_declared(const Constant& source,
                                             const std::string& backend_id) {
  if (is_literal(source) || source.is_mutable() || declared_.count(source.fqn) > 0) {
    return absl::OkStatus();
  }
  const bool is_known =
      std::any_of(bypassed_.begin(), bypassed_.end(), [&](const BypassedWeight& known) {
        return known.weight == source.fqn && known.backend_id == backend_id;
      });
  const std::optional<size_t> rule = routes_.rule_of(source);
  const std::string file = rule ? routes_.rules[*rule].file : "";
  if (!is_known) bypassed_.push_back({source.fqn, backend_id, file});
  const std::string asked = rule ? file : routes_.default_file;
  if (routes_.keys != WeightKeys::kName || asked.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("weight '", shown_name(source.fqn), "' is to go to '", asked,
                   "' under its name, but backend '", backend_id,
                   "' stores it by itself, where nobody can replace it, instead of by add_weight "
                   "or add_derived"));
}

std::set<std::string> RoutedBlobStore::backends_of(const std::string& key) const {
  const auto found = backends_of_.find(key);
  return found == backends_of_.end() ? std::set<std::string>() : found->second;
}

std::vector<WeightsElsewhere> RoutedBlobStore::elsewhere() const {
  std::vector<WeightsElsewhere> all;
  for (const auto& [files, weights] : elsewhere_) {
    WeightsElsewhere& one = all.emplace_back();
    std::tie(one.wanted, one.lie_in) = files;
    one.weights = weights.size();
    for (const auto& [key, bytes] : weights) one.bytes += bytes;
  }
  return all;
}

absl::StatusOr<bool> RoutedBlobStore::add_named_blob(const std::string& key, const Blob& blob,
                                                     uint64_t alignment,
                                                     const std::string& external_file,
                                                     const std::optional<TensorType>& layout) {
  if (!backend_id_.empty()) backends_of_[key].insert(backend_id_);
  return blobs_.add_named_blob(
      key, blob, alignment, external_file.empty() ? routes_.default_file : external_file, layout);
}

absl::Status RoutedBlobStore::add_kernel_weight(const Constant& source, uint64_t alignment) {
  return place({&source}, source.fqn, source.data, alignment, routes_.file_for_kernel(source),
               source.type);
}

absl::Status RoutedBlobStore::add_state(const Constant& state, uint64_t alignment) {
  return place({&state}, state.fqn, state.data, alignment, routes_.file_for_state(state),
               state.type);
}

absl::Status RoutedBlobStore::note_inline_weight(const Constant& source) {
  if (routes_.keys != WeightKeys::kName) return absl::OkStatus();
  return ledger_.record_inline(source);
}

absl::Status RoutedBlobStore::check_all_rules_matched() const {
  for (size_t i = 0; i < routes_.rules.size(); ++i) {
    if (matched_rules_.count(i) > 0) continue;
    const auto& [glob, file] = routes_.rules[i];
    for (const BypassedWeight& one : bypassed_) {
      if (!matches_glob(glob, source_name(one.weight))) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("weight '", shown_name(one.weight), "' matches '", glob,
                       "' and is to go to '", file, "', but backend '", one.backend_id,
                       "' stores it by itself instead of by add_weight or add_derived"));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("no weight matches '", glob, "', which is to go to '", file, "'"));
  }
  return absl::OkStatus();
}

bool RoutedBlobStore::is_called_by_name(const Constant& source) const {
  return routes_.keys == WeightKeys::kName && !is_literal(source);
}

absl::Status RoutedBlobStore::place_for_backend(Sources sources, const Constant& routed,
                                                const std::string& key, const Blob& blob,
                                                uint64_t alignment,
                                                const std::optional<TensorType>& layout) {
  std::string file = routes_.file_for_backend(routed);
  if (is_called_by_name(routed)) return place(sources, key, blob, alignment, file, layout);
  const std::string* const lies_in = blobs_.destination_of(key);
  if (lies_in != nullptr && *lies_in != file) {
    elsewhere_[{file, *lies_in}][key] = blob.size();
    file = *lies_in;
  }
  // Under a digest bytes may have two meanings, so no layout is claimed for them.
  return place(sources, key, blob, alignment, file, std::nullopt);
}

absl::Status RoutedBlobStore::place(Sources sources, const std::string& key, const Blob& blob,
                                    uint64_t alignment, const std::string& destination,
                                    const std::optional<TensorType>& layout) {
  if (!backend_id_.empty()) backends_of_[key].insert(backend_id_);
  PETREL_ASSIGN_OR_RETURN(const bool stored,
                          blobs_.add_named_blob(key, blob, alignment, destination, layout));
  if (!stored) {
    return absl::AlreadyExistsError(absl::StrCat("weight '", shown_name(key),
                                                 "' was added with other bytes for ",
                                                 shown_destination(destination), " before"));
  }
  std::vector<const Constant*> weights;
  for (const Constant* source : sources) {
    if (!is_literal(*source)) weights.push_back(source);
  }
  if (weights.empty()) return absl::OkStatus();
  ledger_.record(key, weights, blob, destination, layout);
  for (const Constant* weight : weights) {
    declared_.insert(weight->fqn);
    if (const std::optional<size_t> rule = routes_.rule_of(*weight)) matched_rules_.insert(*rule);
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
