// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/routed_blob_store.h"

#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/backend/blob_names.h"
#include "exir/status_macros.h"

namespace petrel::exir {

RoutedBlobStore::RoutedBlobStore(const std::string& default_file) {
  routes_.default_file = default_file;
}

RoutedBlobStore::RoutedBlobStore(WeightRoutes routes) : routes_(std::move(routes)) {}

absl::StatusOr<std::string> RoutedBlobStore::add_weight(const Constant& source, const Blob& blob,
                                                        uint64_t alignment, const std::string& form,
                                                        const std::optional<TensorType>& layout) {
  const std::string key = routes_.key_for_backend(source, blob, form);
  // Under a digest bytes may have two meanings, so no layout is claimed for them.
  const bool named = routes_.keys == WeightKeys::kName && source.kind != Constant::Kind::kLiteral;
  std::string file = routes_.file_for_backend(source);
  const std::string* const lies_in = named ? nullptr : blobs_.destination_of(key);
  if (lies_in != nullptr && *lies_in != file) {
    elsewhere_[{file, *lies_in}][key] = blob.size();
    file = *lies_in;
  }
  PETREL_RETURN_IF_ERROR(place(source, key, blob, alignment, file, named ? layout : std::nullopt));
  return key;
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
  return blobs_.add_named_blob(
      key, blob, alignment, external_file.empty() ? routes_.default_file : external_file, layout);
}

absl::Status RoutedBlobStore::add_kernel_weight(const Constant& source, uint64_t alignment) {
  return place(source, source.fqn, source.data, alignment, routes_.file_for_kernel(source),
               source.type);
}

absl::Status RoutedBlobStore::add_state(const Constant& state, uint64_t alignment) {
  return place(state, state.fqn, state.data, alignment, routes_.file_for_state(state), state.type);
}

absl::Status RoutedBlobStore::note_inline_weight(const Constant& source) {
  if (routes_.keys != WeightKeys::kName) return absl::OkStatus();
  return ledger_.record_inline(source);
}

absl::Status RoutedBlobStore::check_all_rules_matched() const {
  for (size_t i = 0; i < routes_.rules.size(); ++i) {
    if (matched_rules_.count(i) > 0) continue;
    return absl::InvalidArgumentError(absl::StrCat("no weight matches '", routes_.rules[i].glob,
                                                   "', which is to go to '", routes_.rules[i].file,
                                                   "'"));
  }
  return absl::OkStatus();
}

absl::Status RoutedBlobStore::place(const Constant& source, const std::string& key,
                                    const Blob& blob, uint64_t alignment,
                                    const std::string& destination,
                                    const std::optional<TensorType>& layout) {
  PETREL_ASSIGN_OR_RETURN(const bool stored,
                          blobs_.add_named_blob(key, blob, alignment, destination, layout));
  if (!stored) {
    return absl::AlreadyExistsError(absl::StrCat("weight '", shown_name(key),
                                                 "' was added with other bytes for ",
                                                 shown_destination(destination), " before"));
  }
  if (source.kind == Constant::Kind::kLiteral) return absl::OkStatus();
  ledger_.record(key, source, blob, destination, layout);
  if (const std::optional<size_t> rule = routes_.rule_of(source)) matched_rules_.insert(*rule);
  return absl::OkStatus();
}

}  // namespace petrel::exir
