// SPDX-License-Identifier: Apache-2.0
#include "extension/flat_data/flat_data_map.h"

#include <algorithm>

#include "extension/flat_data/flat_data_header.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "schema/flat_data_generated.h"
#include "schema/shared_bytes.h"

namespace petrel::extension {

using runtime::BytePlace;
using runtime::DataLoader;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::TensorLayout;
namespace flat = schema::flat_data;

namespace {

using SegmentType = DataLoader::SegmentInfo::Type;

}  // namespace

// The lists of an index that is a whole flatbuffer, each part of which is checked as
// it is taken.
class FlatDataMap::Index final {
 public:
  // `bytes` is the length of the index.
  Index(const flat::FlatData& root, const FlatDataHeader& header, uint64_t bytes,
        uint64_t file_bytes)
      : root_(root), header_(header), key_bytes_left_(bytes), named_(file_bytes) {}

  Error read() {
    if (root_.segments() == nullptr || root_.named_data() == nullptr) {
      PETREL_LOG(Error, "data file has no segments or no named data");
      return Error::InvalidExternalData;
    }
    ranges.reserve(root_.segments()->size());
    for (uint32_t i = 0; i < root_.segments()->size(); ++i) {
      PETREL_RETURN_IF_ERROR(add_segment(i, root_.segments()->Get(i)));
    }
    PETREL_RETURN_IF_ERROR(check_overlaps());
    entries.reserve(root_.named_data()->size());
    for (uint32_t i = 0; i < root_.named_data()->size(); ++i) {
      PETREL_RETURN_IF_ERROR(add_entry(i, root_.named_data()->Get(i)));
    }
    return sort();
  }

  std::vector<Range> ranges;
  std::vector<Entry> entries;

 private:
  // Segments lie inside the data region, where loaders find memory aligned.
  Error add_segment(uint32_t i, const flat::DataSegment* segment) {
    if (segment == nullptr ||
        !runtime::in_bounds(segment->offset(), segment->size(), header_.segment_data_size)) {
      PETREL_LOG(Error, "data file segment %u is not inside the data of %llu bytes", i,
                 static_cast<unsigned long long>(header_.segment_data_size));
      return Error::InvalidExternalData;
    }
    const bool is_aligned =
        (header_.segment_base + segment->offset()) % runtime::kDataAlignment == 0;
    if (segment->size() != 0 && !is_aligned) {
      PETREL_LOG(Error, "data file segment %u begins at %llu, must begin at a multiple of %zu", i,
                 static_cast<unsigned long long>(header_.segment_base + segment->offset()),
                 runtime::kDataAlignment);
      return Error::InvalidExternalData;
    }
    ranges.push_back({static_cast<size_t>(header_.segment_base + segment->offset()),
                      static_cast<size_t>(segment->size())});
    return Error::Ok;
  }

  // Many segments over each other would be read as as many copies.
  Error check_overlaps() const {
    std::vector<Range> in_order;
    for (const Range& range : ranges) {
      if (range.size > 0) in_order.push_back(range);
    }
    std::sort(in_order.begin(), in_order.end(),
              [](const Range& a, const Range& b) { return a.offset < b.offset; });
    for (size_t i = 1; i < in_order.size(); ++i) {
      const Range& before = in_order[i - 1];
      if (in_order[i].offset - before.offset >= before.size) continue;
      PETREL_LOG(Error, "data file segments share the bytes at %zu", in_order[i].offset);
      return Error::InvalidExternalData;
    }
    return Error::Ok;
  }

  Error add_entry(uint32_t i, const flat::NamedData* from) {
    if (from == nullptr || from->key() == nullptr || from->key()->size() == 0) {
      PETREL_LOG(Error, "data file entry %u has no key", i);
      return Error::InvalidExternalData;
    }
    Entry entry;
    entry.key = {from->key()->c_str(), from->key()->size()};
    // Keys that lie on each other could be many and long, and all are compared.
    if (entry.key.size() > key_bytes_left_) {
      PETREL_LOG(Error, "data file entry %u has a key that shares bytes with other keys", i);
      return Error::InvalidExternalData;
    }
    key_bytes_left_ -= entry.key.size();
    if (entry.key.find('\0') != std::string_view::npos) {
      PETREL_LOG(Error, "data file entry %u has a NUL in its key", i);
      return Error::InvalidExternalData;
    }
    entry.segment = from->segment_index();
    if (entry.segment >= ranges.size()) {
      PETREL_LOG(Error, "key '%.200s' names segment %u, there are %zu", entry.key.data(),
                 entry.segment, ranges.size());
      return Error::InvalidExternalData;
    }
    if (!named_.add(ranges[entry.segment].size)) {
      PETREL_LOG(Error,
                 "keys of a data file up to '%.200s' have more than %llu bytes together, the most "
                 "for its size",
                 entry.key.data(), static_cast<unsigned long long>(named_.most()));
      return Error::InvalidExternalData;
    }
    if (from->tensor_layout() != nullptr) {
      PETREL_RETURN_IF_ERROR(add_layout(*from->tensor_layout(), &entry));
    }
    entries.push_back(entry);
    return Error::Ok;
  }

  Error add_layout(const flat::TensorLayout& from, Entry* to) {
    const size_t size = ranges[to->segment].size;
    if (from.sizes() != nullptr && from.dim_order() != nullptr) {
      const Result<const TensorLayout> layout =
          TensorLayout::create({from.sizes()->data(), from.sizes()->size()},
                               {from.dim_order()->data(), from.dim_order()->size()},
                               static_cast<runtime::ScalarType>(from.scalar_type()));
      if (layout.ok() && layout->nbytes() <= size) {
        to->has_layout = true;
        to->sizes = layout->sizes().data();
        to->dim_order = layout->dim_order().data();
        to->rank = static_cast<uint8_t>(layout->sizes().size());
        to->scalar_type = layout->scalar_type();
        return Error::Ok;
      }
    }
    PETREL_LOG(Error, "key '%.200s' has a layout that is invalid or larger than its %zu bytes",
               to->key.data(), size);
    return Error::InvalidExternalData;
  }

  Error sort() {
    const auto before = [](const Entry& a, const Entry& b) { return a.key < b.key; };
    if (!std::is_sorted(entries.begin(), entries.end(), before)) {
      std::sort(entries.begin(), entries.end(), before);
    }
    const auto twice =
        std::adjacent_find(entries.begin(), entries.end(),
                           [](const Entry& a, const Entry& b) { return a.key == b.key; });
    if (twice == entries.end()) return Error::Ok;
    PETREL_LOG(Error, "key '%.200s' occurs twice in a data file", twice->key.data());
    return Error::InvalidExternalData;
  }

  const flat::FlatData& root_;
  const FlatDataHeader& header_;
  uint64_t key_bytes_left_;
  schema::SharedBytes named_;
};

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
  Index lists(*root, header, index.size(), file_size);
  PETREL_RETURN_IF_ERROR(lists.read());
  return FlatDataMap(loader, std::move(index), std::move(lists.ranges), std::move(lists.entries));
}

Result<const FlatDataMap::Entry*> FlatDataMap::find(std::string_view key) const {
  const auto it = std::lower_bound(
      sorted_.begin(), sorted_.end(), key,
      [](const Entry& entry, std::string_view wanted) { return entry.key < wanted; });
  if (it == sorted_.end() || it->key != key) return Error::NotFound;
  return &*it;
}

Result<FreeableBuffer> FlatDataMap::get_data(std::string_view key) const {
  PETREL_ASSIGN_OR_RETURN(const Entry* entry, find(key));
  const Range range = ranges_[entry->segment];
  return loader_->load(range.offset, range.size,
                       DataLoader::SegmentInfo(SegmentType::External, entry->segment));
}

Result<size_t> FlatDataMap::num_bytes(std::string_view key) const {
  PETREL_ASSIGN_OR_RETURN(const Entry* entry, find(key));
  return size_t{ranges_[entry->segment].size};
}

Result<uint32_t> FlatDataMap::get_num_keys() const { return static_cast<uint32_t>(sorted_.size()); }

Result<const char*> FlatDataMap::get_key(uint32_t index) const {
  if (index >= sorted_.size()) {
    PETREL_LOG(Error, "key %u of a data file that has %zu", index, sorted_.size());
    return Error::InvalidArgument;
  }
  return sorted_[index].key.data();
}

Result<const TensorLayout> FlatDataMap::get_tensor_layout(std::string_view key) const {
  PETREL_ASSIGN_OR_RETURN(const Entry* entry, find(key));
  if (!entry->has_layout) return Error::NotFound;
  return TensorLayout::create({entry->sizes, entry->rank}, {entry->dim_order, entry->rank},
                              entry->scalar_type);
}

Error FlatDataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  PETREL_ASSIGN_OR_RETURN(const Entry* entry, find(key));
  const Range range = ranges_[entry->segment];
  if (size > range.size) {
    PETREL_LOG(Error, "%zu bytes are wanted of key '%.*s' that has %zu", size,
               static_cast<int>(std::min<size_t>(key.size(), 200)), key.data(), range.size);
    return Error::InvalidArgument;
  }
  const DataLoader::SegmentInfo info(SegmentType::External, entry->segment);
  const Error error = loader_->load_into(range.offset, size, info, buffer);
  if (error != Error::NotImplemented) return error;
  PETREL_ASSIGN_OR_RETURN(const FreeableBuffer data, loader_->load(range.offset, size, info));
  std::copy_n(static_cast<const char*>(data.data()), size, static_cast<char*>(buffer));
  return Error::Ok;
}

Result<BytePlace> FlatDataMap::find_place(std::string_view key, size_t size) const {
  PETREL_ASSIGN_OR_RETURN(const Entry* entry, find(key));
  const Range range = ranges_[entry->segment];
  if (range.size != size) return Error::NotSupported;
  return loader_->find_place(range.offset, size);
}

Result<bool> FlatDataMap::is_in_place(std::string_view key) const {
  PETREL_ASSIGN_OR_RETURN(const Entry* entry, find(key));
  return loader_->is_in_place(DataLoader::SegmentInfo(SegmentType::External, entry->segment));
}

}  // namespace petrel::extension
