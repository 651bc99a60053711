// SPDX-License-Identifier: Apache-2.0
#include "extension/flat_data/flat_data_map.h"

#include <algorithm>

#include "extension/flat_data/flat_data_header.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "schema/flat_data_generated.h"

namespace petrel::extension {

using runtime::DataLoader;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::TensorLayout;
namespace flat = schema::flat_data;

namespace {

using SegmentType = DataLoader::SegmentInfo::Type;

std::string_view key_of(const flat::NamedData* entry) {
  return {entry->key()->c_str(), entry->key()->size()};
}

Result<TensorLayout> layout_of(const flat::TensorLayout& layout) {
  if (layout.sizes() == nullptr || layout.dim_order() == nullptr) {
    return Error::InvalidArgument;
  }
  return TensorLayout::create({layout.sizes()->data(), layout.sizes()->size()},
                              {layout.dim_order()->data(), layout.dim_order()->size()},
                              static_cast<runtime::ScalarType>(layout.scalar_type()));
}

// Segments lie inside the data region of `data_size` bytes.
Error check_segments(const flat::FlatData& root, uint64_t data_size) {
  if (root.segments() == nullptr || root.named_data() == nullptr) {
    PETREL_LOG(Error, "data file has no segments or no named data");
    return Error::InvalidExternalData;
  }
  for (size_t i = 0; i < root.segments()->size(); ++i) {
    const flat::DataSegment* segment = root.segments()->Get(static_cast<uint32_t>(i));
    if (segment == nullptr || !runtime::in_bounds(segment->offset(), segment->size(), data_size)) {
      PETREL_LOG(Error, "data file segment %zu is not inside the data of %llu bytes", i,
                 static_cast<unsigned long long>(data_size));
      return Error::InvalidExternalData;
    }
  }
  return Error::Ok;
}

Error check_entry(const flat::FlatData& root, size_t i, const flat::NamedData* entry) {
  if (entry == nullptr || entry->key() == nullptr || entry->key()->size() == 0) {
    PETREL_LOG(Error, "data file entry %zu has no key", i);
    return Error::InvalidExternalData;
  }
  const char* key = entry->key()->c_str();
  if (std::string_view(key).size() != entry->key()->size()) {
    PETREL_LOG(Error, "data file entry %zu has a NUL in its key", i);
    return Error::InvalidExternalData;
  }
  if (entry->segment_index() >= root.segments()->size()) {
    PETREL_LOG(Error, "key '%.200s' names segment %u, there are %u", key, entry->segment_index(),
               root.segments()->size());
    return Error::InvalidExternalData;
  }
  if (entry->tensor_layout() == nullptr) return Error::Ok;
  const Result<TensorLayout> layout = layout_of(*entry->tensor_layout());
  const uint64_t size = root.segments()->Get(entry->segment_index())->size();
  if (!layout.ok() || layout->nbytes() > size) {
    PETREL_LOG(Error, "key '%.200s' has a layout that is invalid or larger than its %llu bytes",
               key, static_cast<unsigned long long>(size));
    return Error::InvalidExternalData;
  }
  return Error::Ok;
}

}  // namespace

Result<FlatDataMap> FlatDataMap::load(DataLoader* loader) {
  PETREL_ASSIGN_OR_RETURN(const size_t file_size, loader->size());
  const DataLoader::SegmentInfo info(SegmentType::Program);
  FlatDataHeader header;
  {
    const size_t head_size = std::min(file_size, FlatDataHeader::kNumHeadBytes);
    PETREL_ASSIGN_OR_RETURN(const FreeableBuffer head, loader->load(0, head_size, info));
    PETREL_ASSIGN_OR_RETURN(
        header,
        FlatDataHeader::parse({static_cast<const uint8_t*>(head.data()), head_size}, file_size));
  }
  PETREL_ASSIGN_OR_RETURN(FreeableBuffer index,
                          loader->load(0, static_cast<size_t>(header.index_end), info));
  // What was decided on must be what is used.
  if (index.size() != header.index_end) {
    PETREL_LOG(Error, "the data loader returned %zu bytes of the index instead of %llu",
               index.size(), static_cast<unsigned long long>(header.index_end));
    return Error::AccessFailed;
  }
  if (index.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    PETREL_LOG(Error, "data file index has %zu bytes, must be below 2^31", index.size());
    return Error::InvalidExternalData;
  }
  const uint8_t* bytes = static_cast<const uint8_t*>(index.data());
  // A table per entry, its layout and its segment; depth is at most three.
  flatbuffers::Verifier verifier(bytes, index.size(), /*max_depth=*/8,
                                 /*max_tables=*/static_cast<uint32_t>(index.size() / 4 + 1));
  if (!flat::VerifyFlatDataBuffer(verifier)) {
    PETREL_LOG(Error, "data file index of %zu bytes is damaged", index.size());
    return Error::InvalidExternalData;
  }
  const flat::FlatData* root = flat::GetFlatData(bytes);
  if (root->version() != 0) {
    PETREL_LOG(Error, "data file has version %u, the newest known is 0", root->version());
    return Error::NotSupported;
  }
  PETREL_RETURN_IF_ERROR(check_segments(*root, header.segment_data_size));
  std::vector<const Entry*> sorted;
  sorted.reserve(root->named_data()->size());
  for (size_t i = 0; i < root->named_data()->size(); ++i) {
    const Entry* entry = root->named_data()->Get(static_cast<uint32_t>(i));
    PETREL_RETURN_IF_ERROR(check_entry(*root, i, entry));
    sorted.push_back(entry);
  }
  const auto before = [](const Entry* a, const Entry* b) { return key_of(a) < key_of(b); };
  if (!std::is_sorted(sorted.begin(), sorted.end(), before)) {
    std::sort(sorted.begin(), sorted.end(), before);
  }
  const auto twice =
      std::adjacent_find(sorted.begin(), sorted.end(),
                         [](const Entry* a, const Entry* b) { return key_of(a) == key_of(b); });
  if (twice != sorted.end()) {
    PETREL_LOG(Error, "key '%.200s' occurs twice in a data file", (*twice)->key()->c_str());
    return Error::InvalidExternalData;
  }
  return FlatDataMap(loader, std::move(index), root, header.segment_base, std::move(sorted));
}

Result<const FlatDataMap::Entry*> FlatDataMap::find(std::string_view key) const {
  const auto it = std::lower_bound(
      sorted_.begin(), sorted_.end(), key,
      [](const Entry* entry, std::string_view wanted) { return key_of(entry) < wanted; });
  if (it == sorted_.end() || key_of(*it) != key) return Error::NotFound;
  return *it;
}

FlatDataMap::Range FlatDataMap::range_of(const Entry& entry) const {
  const flat::DataSegment* segment = root_->segments()->Get(entry.segment_index());
  return {static_cast<size_t>(segment_base_ + segment->offset()),
          static_cast<size_t>(segment->size())};
}

Result<FreeableBuffer> FlatDataMap::get_data(std::string_view key) const {
  PETREL_ASSIGN_OR_RETURN(const Entry* entry, find(key));
  const Range range = range_of(*entry);
  return loader_->load(range.offset, range.size,
                       DataLoader::SegmentInfo(SegmentType::External, entry->segment_index()));
}

Result<uint32_t> FlatDataMap::get_num_keys() const { return static_cast<uint32_t>(sorted_.size()); }

Result<const char*> FlatDataMap::get_key(uint32_t index) const {
  if (index >= sorted_.size()) {
    PETREL_LOG(Error, "key %u of a data file that has %zu", index, sorted_.size());
    return Error::InvalidArgument;
  }
  return sorted_[index]->key()->c_str();
}

Result<TensorLayout> FlatDataMap::get_tensor_layout(std::string_view key) const {
  PETREL_ASSIGN_OR_RETURN(const Entry* entry, find(key));
  if (entry->tensor_layout() == nullptr) return Error::NotFound;
  return layout_of(*entry->tensor_layout());
}

Error FlatDataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  PETREL_ASSIGN_OR_RETURN(const Entry* entry, find(key));
  const Range range = range_of(*entry);
  if (size > range.size) {
    PETREL_LOG(Error, "%zu bytes are wanted of key '%.*s' that has %zu", size,
               static_cast<int>(std::min<size_t>(key.size(), 200)), key.data(), range.size);
    return Error::InvalidArgument;
  }
  const DataLoader::SegmentInfo info(SegmentType::External, entry->segment_index());
  const Error error = loader_->load_into(range.offset, size, info, buffer);
  if (error != Error::NotImplemented) return error;
  PETREL_ASSIGN_OR_RETURN(const FreeableBuffer data, loader_->load(range.offset, size, info));
  std::copy_n(static_cast<const char*>(data.data()), size, static_cast<char*>(buffer));
  return Error::Ok;
}

}  // namespace petrel::extension
