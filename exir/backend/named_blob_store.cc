// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/named_blob_store.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr size_t kMaxFileNameBytes = 255;

std::string destination_text(const std::string& destination) {
  if (destination.empty()) return "the program";
  return absl::StrCat("'", destination, "'");
}

}  // namespace

absl::Status NamedBlobStore::check_file_name(const std::string& name) {
  const bool plain = !name.empty() && name.size() <= kMaxFileNameBytes &&
                     name != "." && name != ".." &&
                     name.find_first_of(std::string("/\\\0", 3)) ==
                         std::string::npos;
  if (plain) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "external file '", name, "' is not a plain file name of at most ",
      kMaxFileNameBytes, " bytes"));
}

absl::StatusOr<bool> NamedBlobStore::add_named_blob(
    const std::string& key, const Blob& blob, uint64_t alignment,
    const std::string& external_file, const std::optional<TensorType>& layout) {
  if (key.empty()) {
    return absl::InvalidArgumentError("key of a named blob is empty");
  }
  if (key.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "key '", key.substr(0, key.find('\0')), "...' contains a NUL"));
  }
  if (key == kProgramKey) {
    return absl::InvalidArgumentError(
        absl::StrCat("key '", key, "' is reserved for the program itself"));
  }
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 ||
      alignment > kMaxAlignment) {
    return absl::InvalidArgumentError(
        absl::StrCat("alignment of key '", key, "' is ", alignment,
                     ", must be a power of two in [1, ", kMaxAlignment, "]"));
  }
  if (!external_file.empty()) {
    PETREL_RETURN_IF_ERROR(check_file_name(external_file));
  }
  if (layout) {
    PETREL_RETURN_IF_ERROR(check_tensor_type(*layout));
    if (static_cast<uint64_t>(layout->nbytes()) != blob.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "layout of key '", key, "' is ", to_string(*layout), " of ",
          layout->nbytes(), " bytes, the blob has ", blob.size()));
    }
  }

  const std::string& destination =
      external_file.empty() ? default_destination_ : external_file;
  auto known = keys_.find(key);
  if (known != keys_.end()) {
    const Location& location = known->second;
    if (location.destination != destination) {
      return absl::AlreadyExistsError(absl::StrCat(
          "key '", key, "' goes to ", destination_text(destination),
          ", but was sent to ", destination_text(location.destination),
          " before"));
    }
    Destination& place = destinations_.at(destination);
    Buffer& buffer = place.buffers[location.buffer];
    if (!buffer.blob.equals(blob)) return false;
    Entry& entry = place.entries[location.entry];
    if (layout && entry.layout && *layout != *entry.layout) {
      return absl::AlreadyExistsError(
          absl::StrCat("key '", key, "' has layout ", to_string(*layout),
                       ", but had ", to_string(*entry.layout), " before"));
    }
    if (layout) entry.layout = layout;
    buffer.alignment = std::lcm(buffer.alignment, alignment);
    requested_bytes_ += blob.size();
    return true;
  }

  Destination& place = destinations_[destination];
  auto [same, fresh] = by_digest_[destination].emplace(blob.sha256(),
                                                       place.buffers.size());
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
          merged.add_named_blob(entry.key, buffer.blob, buffer.alignment,
                                destination, entry.layout));
      if (!stored) {
        return absl::AlreadyExistsError(absl::StrCat(
            "key '", entry.key, "' holds other bytes in the stores to merge"));
      }
    }
  }
  merged.requested_bytes_ = requested_bytes_ + other.requested_bytes_;
  *this = std::move(merged);
  return absl::OkStatus();
}

uint64_t NamedBlobStore::stored_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [destination, place] : destinations_) {
    for (const Buffer& buffer : place.buffers) bytes += buffer.blob.size();
  }
  return bytes;
}

}  // namespace petrel::exir
