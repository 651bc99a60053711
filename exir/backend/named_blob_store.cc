// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/named_blob_store.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "exir/backend/blob_names.h"
#include "exir/status_macros.h"
#include "schema/formats.h"

namespace petrel::exir {
namespace {

absl::Status check_key(const std::string& key) {
  if (key.empty()) {
    return absl::InvalidArgumentError("key of a named blob is empty");
  }
  if (key.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("key '", shown_name(key), "' contains a NUL"));
  }
  if (key == schema::kAdditionsKey) {
    return absl::InvalidArgumentError(
        absl::StrCat("key '", key, "' is reserved for the program itself"));
  }
  if (key.size() > schema::kMaxWrittenKeyBytes) {
    return absl::InvalidArgumentError(absl::StrCat("key '", shown_name(key), "' has ", key.size(),
                                                   " bytes, must have at most ",
                                                   schema::kMaxWrittenKeyBytes));
  }
  return absl::OkStatus();
}

absl::Status check_blob(const std::string& key, const Blob& blob, uint64_t alignment,
                        const std::optional<TensorType>& layout) {
  PETREL_RETURN_IF_ERROR(check_key(key));
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > schema::kMaxAlignment) {
    return absl::InvalidArgumentError(absl::StrCat("alignment of key '", shown_name(key), "' is ",
                                                   alignment, ", must be a power of two in [1, ",
                                                   schema::kMaxAlignment, "]"));
  }
  if (layout) {
    PETREL_RETURN_IF_ERROR(check_tensor_type(*layout));
    if (static_cast<uint64_t>(layout->nbytes()) != blob.size()) {
      return absl::InvalidArgumentError(absl::StrCat("layout of key '", shown_name(key), "' is ",
                                                     to_string(*layout), " of ", layout->nbytes(),
                                                     " bytes, the blob has ", blob.size()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> NamedBlobStore::add_named_blob(const std::string& key, const Blob& blob,
                                                    uint64_t alignment,
                                                    const std::string& external_file,
                                                    const std::optional<TensorType>& layout) {
  PETREL_RETURN_IF_ERROR(check_blob(key, blob, alignment, layout));
  if (!external_file.empty()) {
    PETREL_RETURN_IF_ERROR(check_plain_file_name(external_file));
  }
  auto known = keys_.find(key);
  if (known != keys_.end()) {
    const Location& location = known->second;
    if (location.destination != external_file) {
      return absl::AlreadyExistsError(
          absl::StrCat("key '", shown_name(key), "' goes to ", shown_destination(external_file),
                       ", but was sent to ", shown_destination(location.destination), " before"));
    }
    Destination& place = destinations_.at(external_file);
    Buffer& buffer = place.buffers[location.buffer];
    if (!buffer.blob.equals(blob)) return false;
    Entry& entry = place.entries[location.entry];
    if (layout && entry.layout && *layout != *entry.layout) {
      return absl::AlreadyExistsError(absl::StrCat("key '", shown_name(key), "' has layout ",
                                                   to_string(*layout), ", but had ",
                                                   to_string(*entry.layout), " before"));
    }
    if (layout) entry.layout = layout;
    buffer.alignment = std::lcm(buffer.alignment, alignment);
    requested_bytes_ += blob.size();
    return true;
  }

  Destination& place = destinations_[external_file];
  const size_t index = distinct_[external_file].add(blob);
  if (index == place.buffers.size()) place.buffers.push_back({blob, 1});
  Buffer& buffer = place.buffers[index];
  buffer.alignment = std::lcm(buffer.alignment, alignment);
  keys_[key] = {external_file, index, place.entries.size()};
  place.entries.push_back({key, index, layout});
  requested_bytes_ += blob.size();
  return true;
}

const std::string* NamedBlobStore::destination_of(const std::string& key) const {
  const auto known = keys_.find(key);
  return known == keys_.end() ? nullptr : &known->second.destination;
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
