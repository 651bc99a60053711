// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/named_blob_store.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr size_t kShownBytes = 80;

std::string destination_text(const std::string& destination) {
  if (destination.empty()) return "the program";
  return absl::StrCat("'", destination, "'");
}

// A key as messages show it: on one line, and not all of a long one.
std::string shown(const std::string& key) {
  std::string text = absl::CHexEscape(key.substr(0, kShownBytes));
  if (key.size() > kShownBytes) text += "...";
  return text;
}

absl::Status check_key(const std::string& key) {
  if (key.empty()) {
    return absl::InvalidArgumentError("key of a named blob is empty");
  }
  if (key.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("key '", shown(key), "' contains a NUL"));
  }
  if (key == NamedBlobStore::kProgramKey) {
    return absl::InvalidArgumentError(
        absl::StrCat("key '", key, "' is reserved for the program itself"));
  }
  if (key.size() > NamedBlobStore::kMaxKeyBytes) {
    return absl::InvalidArgumentError(absl::StrCat("key '", shown(key), "' has ", key.size(),
                                                   " bytes, must have at most ",
                                                   NamedBlobStore::kMaxKeyBytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> NamedBlobStore::add_named_blob(const std::string& key, const Blob& blob,
                                                    uint64_t alignment,
                                                    const std::string& external_file,
                                                    const std::optional<TensorType>& layout) {
  if (!external_file.empty()) {
    PETREL_RETURN_IF_ERROR(check_file_name(external_file));
  }
  return place(key, blob, alignment, external_file.empty() ? routes_.default_file : external_file,
               layout);
}

std::string NamedBlobStore::destination_of(const Constant& source) const {
  if (source.kind == Constant::Kind::kLiteral || source.is_mutable()) return "";
  const std::optional<size_t> rule = routes_.rule_of(source.fqn);
  if (!rule) return routes_.default_file;
  matched_.insert(*rule);
  return routes_.rules[*rule].file;
}

absl::StatusOr<std::string> NamedBlobStore::add_weight(const Constant& source, const Blob& blob,
                                                       uint64_t alignment, const std::string& form,
                                                       const std::optional<TensorType>& layout) {
  const bool by_name = routes_.keys == WeightKeys::kName;
  if (source.kind == Constant::Kind::kLiteral) {
    const std::string key = to_hex(blob.sha256());
    PETREL_RETURN_IF_ERROR(
        place(key, blob, alignment, by_name ? "" : routes_.default_file, std::nullopt).status());
    return key;
  }
  std::string key;
  if (by_name) {
    key = form.empty() ? source.fqn : absl::StrCat(source.fqn, "#", form);
  } else {
    key = to_hex(blob.sha256());
    // Equal weights may be sent to two files; a key lies in one.
    const std::optional<size_t> rule = routes_.rule_of(source.fqn);
    if (rule) absl::StrAppend(&key, "@", routes_.rules[*rule].file);
  }
  PETREL_RETURN_IF_ERROR(place_weight(source, key, blob, alignment, destination_of(source),
                                      by_name ? layout : std::nullopt));
  return key;
}

absl::Status NamedBlobStore::add_kernel_weight(const Constant& source, uint64_t alignment) {
  return place_weight(source, source.fqn, source.data, alignment, destination_of(source),
                      source.type);
}

absl::Status NamedBlobStore::note_inline_weight(const Constant& source) {
  if (routes_.keys != WeightKeys::kName) return absl::OkStatus();
  const auto known = weights_.find(source.fqn);
  if (known == weights_.end()) {
    weights_[source.fqn] = {source.fqn,  source.fqn,         "",
                            source.type, source.data.size(), source.data};
    return absl::OkStatus();
  }
  if (known->second.blob.equals(source.data)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("two weights are called '", shown(source.fqn), "' and have other bytes"));
}

absl::Status NamedBlobStore::place_weight(const Constant& source, const std::string& key,
                                          const Blob& blob, uint64_t alignment,
                                          const std::string& destination,
                                          const std::optional<TensorType>& layout) {
  PETREL_ASSIGN_OR_RETURN(const bool stored, place(key, blob, alignment, destination, layout));
  if (!stored) {
    return absl::AlreadyExistsError(absl::StrCat("weight '", shown(key),
                                                 "' was added with other bytes for ",
                                                 destination_text(destination), " before"));
  }
  Weight& weight = weights_[key];
  weight.key = key;
  weight.fqn = source.fqn;
  weight.destination = destination;
  if (layout) weight.layout = layout;
  weight.bytes = blob.size();
  weight.blob = blob;
  return absl::OkStatus();
}

absl::Status NamedBlobStore::check_all_rules_matched() const {
  for (size_t i = 0; i < routes_.rules.size(); ++i) {
    if (matched_.count(i) > 0) continue;
    return absl::InvalidArgumentError(absl::StrCat("no weight matches '", routes_.rules[i].glob,
                                                   "', which is to go to '", routes_.rules[i].file,
                                                   "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> NamedBlobStore::place(const std::string& key, const Blob& blob,
                                           uint64_t alignment, const std::string& destination,
                                           const std::optional<TensorType>& layout) {
  PETREL_RETURN_IF_ERROR(check_key(key));
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > kMaxAlignment) {
    return absl::InvalidArgumentError(absl::StrCat("alignment of key '", shown(key), "' is ",
                                                   alignment, ", must be a power of two in [1, ",
                                                   kMaxAlignment, "]"));
  }
  if (layout) {
    PETREL_RETURN_IF_ERROR(check_tensor_type(*layout));
    if (static_cast<uint64_t>(layout->nbytes()) != blob.size()) {
      return absl::InvalidArgumentError(absl::StrCat("layout of key '", shown(key), "' is ",
                                                     to_string(*layout), " of ", layout->nbytes(),
                                                     " bytes, the blob has ", blob.size()));
    }
  }

  auto known = keys_.find(key);
  if (known != keys_.end()) {
    const Location& location = known->second;
    if (location.destination != destination) {
      return absl::AlreadyExistsError(
          absl::StrCat("key '", shown(key), "' goes to ", destination_text(destination),
                       ", but was sent to ", destination_text(location.destination), " before"));
    }
    Destination& place = destinations_.at(destination);
    Buffer& buffer = place.buffers[location.buffer];
    if (!buffer.blob.equals(blob)) return false;
    Entry& entry = place.entries[location.entry];
    if (layout && entry.layout && *layout != *entry.layout) {
      return absl::AlreadyExistsError(absl::StrCat("key '", shown(key), "' has layout ",
                                                   to_string(*layout), ", but had ",
                                                   to_string(*entry.layout), " before"));
    }
    if (layout) entry.layout = layout;
    buffer.alignment = std::lcm(buffer.alignment, alignment);
    requested_bytes_ += blob.size();
    return true;
  }

  Destination& place = destinations_[destination];
  auto [same, fresh] = by_digest_[destination].emplace(blob.sha256(), place.buffers.size());
  if (fresh) place.buffers.push_back({blob, 1});
  Buffer& buffer = place.buffers[same->second];
  buffer.alignment = std::lcm(buffer.alignment, alignment);
  keys_[key] = {destination, same->second, place.entries.size()};
  place.entries.push_back({key, same->second, layout});
  requested_bytes_ += blob.size();
  return true;
}

absl::Status NamedBlobStore::merge(const NamedBlobStore& other) {
  // Blobs are shared, so a copy to fall back on costs only the tables.
  NamedBlobStore merged = *this;
  for (const auto& [destination, place] : other.destinations_) {
    for (const Entry& entry : place.entries) {
      const Buffer& buffer = place.buffers[entry.buffer];
      PETREL_ASSIGN_OR_RETURN(
          const bool stored,
          merged.place(entry.key, buffer.blob, buffer.alignment, destination, entry.layout));
      if (!stored) {
        return absl::AlreadyExistsError(
            absl::StrCat("key '", shown(entry.key), "' holds other bytes in the stores to merge"));
      }
    }
  }
  for (const auto& [key, weight] : other.weights_) {
    merged.weights_.emplace(key, weight);
  }
  merged.matched_.insert(other.matched_.begin(), other.matched_.end());
  merged.requested_bytes_ = requested_bytes_ + other.requested_bytes_;
  *this = std::move(merged);
  return absl::OkStatus();
}

std::vector<const NamedBlobStore::Entry*> NamedBlobStore::Destination::sorted_entries() const {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(),
            [](const Entry* a, const Entry* b) { return a->key < b->key; });
  return sorted;
}

uint64_t NamedBlobStore::stored_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [destination, place] : destinations_) {
    for (const Buffer& buffer : place.buffers) bytes += buffer.blob.size();
  }
  return bytes;
}

}  // namespace petrel::exir
