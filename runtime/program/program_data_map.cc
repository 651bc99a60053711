// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program_data_map.h"

#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/core/heap_sort.h"
#include "runtime/core/log.h"
#include "runtime/program/program_additions.h"
#include "runtime/program/segment.h"
#include "schema/formats.h"

namespace petrel::runtime {

namespace {

constexpr std::string_view kKey = schema::kAdditionsKey;

bool keys_ascend(const ProgramView& program) {
  for (uint32_t i = 1; i < program.num_named_data(); ++i) {
    if (program.named_data(i - 1).key >= program.named_data(i).key) return false;
  }
  return true;
}

DataLoader::SegmentInfo info_of(const NamedDataView& entry) {
  return DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::External, entry.segment,
                                 entry.key.data());
}

}  // namespace

ProgramDataMap::ProgramDataMap(DataLoader* loader, uint64_t segment_base,
                               const ProgramView& program)
    : ProgramDataMapState{
          loader, segment_base, program, {}, program.find_named_data(kKey), keys_ascend(program)} {}

// Of equal keys the first one in the file comes first.
struct ProgramDataMap::Entries final : Sortable {
  Entries(const ProgramView& view, Span<uint32_t> places) : program(view), order(places) {}

  bool is_before(size_t a, size_t b) const override {
    const int by_key = program.named_data(order[a]).key.compare(program.named_data(order[b]).key);
    return by_key != 0 ? by_key < 0 : order[a] < order[b];
  }
  void swap(size_t a, size_t b) override { std::swap(order[a], order[b]); }

  const ProgramView& program;
  Span<uint32_t> order;
};

void ProgramDataMap::sort(Span<uint32_t> order) {
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  Entries entries(program_, order);
  heap_sort(&entries, order.size());
  order_ = order;
  sorted_ = true;
}

std::optional<NamedDataView> ProgramDataMap::find(std::string_view key) const {
  const uint32_t count = program_.num_named_data();
  uint32_t found = 0;
  if (sorted_) {
    uint32_t end = count;
    while (found < end) {
      const uint32_t middle = found + (end - found) / 2;
      if (program_.named_data(entry_at(middle)).key < key) {
        found = middle + 1;
      } else {
        end = middle;
      }
    }
    if (found < count) found = entry_at(found);
  } else {
    found = program_.find_named_data(key);
  }
  if (found == count || found == hidden_) return std::nullopt;
  const NamedDataView entry = program_.named_data(found);
  if (entry.key != key) return std::nullopt;
  return entry;
}

Result<FreeableBuffer> ProgramDataMap::get_data(std::string_view key) const {
  const std::optional<NamedDataView> entry = find(key);
  if (!entry.has_value()) return Error::NotFound;
  FreeableBuffer data;
  PETREL_RETURN_IF_ERROR(load_segment(*loader_, segment_base_, program_.segment(entry->segment),
                                      info_of(*entry), &data));
  return data;
}

Result<BytePlace> ProgramDataMap::find_place(std::string_view key, size_t size) const {
  if constexpr (!kKnowsPlaces) return Error::NotSupported;
  const std::optional<NamedDataView> entry = find(key);
  if (!entry.has_value()) return Error::NotFound;
  const SegmentView segment = program_.segment(entry->segment);
  size_t offset = 0;
  // Verified to lie in the file, so the sum does not overflow.
  if (segment.size != size || !checked_cast(segment_base_ + segment.offset, &offset)) {
    return Error::NotSupported;
  }
  return loader_->find_place(offset, size);
}

Result<bool> ProgramDataMap::is_in_place(std::string_view key) const {
  const std::optional<NamedDataView> entry = find(key);
  if (!entry.has_value()) return Error::NotFound;
  return loader_->is_in_place(info_of(*entry));
}

Result<uint32_t> ProgramDataMap::get_num_keys() const {
  const uint32_t count = program_.num_named_data();
  return hidden_ < count ? count - 1 : count;
}

Result<const char*> ProgramDataMap::get_key(uint32_t index) const {
  const uint32_t count = get_num_keys().get();
  if (index >= count) {
    PETREL_LOG(Error, "key %u of named data is asked for, but there are %u", index, count);
    return Error::InvalidArgument;
  }
  return program_.named_data(index < hidden_ ? index : index + 1).key.data();
}

}  // namespace petrel::runtime
