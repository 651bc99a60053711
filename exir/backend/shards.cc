// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/shards.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace petrel::exir {
namespace {

// What a file and one more key or buffer take at most beyond the bytes.
constexpr uint64_t kFileOverhead = 512;
constexpr uint64_t kKeyOverhead = 128;
constexpr uint64_t kDimOverhead = 8;
constexpr uint64_t kBufferOverhead = 64;
constexpr uint64_t kSegmentAlignment = 128;
// "-00001-of-00002"
constexpr size_t kMarkBytes = 15;
constexpr size_t kMostShards = 99999;

uint64_t key_bytes(const NamedBlobStore::Entry& entry) {
  const uint64_t rank = entry.layout ? entry.layout->rank() : 0;
  return entry.key.size() + kKeyOverhead + rank * kDimOverhead;
}

std::string with_mark(const std::string& name, const std::string& mark) {
  const size_t dot = name.rfind('.');
  const size_t place = dot == std::string::npos || dot == 0 ? name.size() : dot;
  return absl::StrCat(name.substr(0, place), mark, name.substr(place));
}

bool is_mark(const std::string& text) {
  static constexpr char kPattern[] = "-00000-of-00000";
  for (size_t i = 0; i < kMarkBytes; ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kPattern[i] == '0' ? !digit : text[i] != kPattern[i]) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::map<std::string, NamedBlobStore::Destination>> cut_into_shards(
    const std::string& name, const NamedBlobStore::Destination& data, uint64_t max_file_bytes) {
  std::vector<std::vector<const NamedBlobStore::Entry*>> keys(data.buffers.size());
  for (const NamedBlobStore::Entry& entry : data.entries) {
    keys[entry.buffer].push_back(&entry);
  }
  std::vector<NamedBlobStore::Destination> shards(1);
  const auto begin = [](uint64_t alignment) {
    return kFileOverhead + std::lcm(kSegmentAlignment, alignment);
  };
  uint64_t used = 0;
  uint64_t largest_alignment = 1;
  for (size_t i = 0; i < data.buffers.size(); ++i) {
    const NamedBlobStore::Buffer& buffer = data.buffers[i];
    uint64_t needed =
        kBufferOverhead + std::lcm(kSegmentAlignment, buffer.alignment) - 1 + buffer.blob.size();
    for (const NamedBlobStore::Entry* entry : keys[i]) {
      needed += key_bytes(*entry);
    }
    if (begin(buffer.alignment) + needed > max_file_bytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the data of key '", keys[i].empty() ? "" : keys[i].front()->key, "' has ",
          buffer.blob.size(), " bytes and does not fit into a file of ", max_file_bytes));
    }
    const uint64_t alignment = std::lcm(largest_alignment, buffer.alignment);
    if (begin(alignment) + used + needed > max_file_bytes) {
      shards.emplace_back();
      used = 0;
      largest_alignment = 1;
    }
    NamedBlobStore::Destination& shard = shards.back();
    for (const NamedBlobStore::Entry* entry : keys[i]) {
      shard.entries.push_back(*entry);
      shard.entries.back().buffer = shard.buffers.size();
    }
    shard.buffers.push_back(buffer);
    used += needed;
    largest_alignment = std::lcm(largest_alignment, buffer.alignment);
  }
  std::map<std::string, NamedBlobStore::Destination> files;
  if (shards.size() == 1) {
    files[name] = std::move(shards[0]);
    return files;
  }
  if (shards.size() > kMostShards) {
    return absl::InvalidArgumentError(absl::StrCat("'", name, "' would become ", shards.size(),
                                                   " files, the most are ", kMostShards));
  }
  for (size_t i = 0; i < shards.size(); ++i) {
    files[with_mark(name, absl::StrFormat("-%05d-of-%05d", i + 1, shards.size()))] =
        std::move(shards[i]);
  }
  return files;
}

std::string name_without_shard(const std::string& name) {
  const size_t dot = name.rfind('.');
  const size_t end = dot == std::string::npos || dot == 0 ? name.size() : dot;
  if (end < kMarkBytes || !is_mark(name.substr(end - kMarkBytes, kMarkBytes))) {
    return name;
  }
  return absl::StrCat(name.substr(0, end - kMarkBytes), name.substr(end));
}

}  // namespace petrel::exir
