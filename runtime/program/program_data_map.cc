// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program_data_map.h"

#include "runtime/core/log.h"
#include "runtime/program/program_additions.h"
#include "runtime/program/segment.h"
#include "schema/formats.h"

namespace petrel::runtime {

namespace {

bool keys_ascend(const ProgramView& program) {
  for (uint32_t i = 1; i < program.num_named_data(); ++i) {
    if (program.named_data(i - 1).key >= program.named_data(i).key) return false;
  }
  return true;
}

uint32_t index_of_additions(const ProgramView& program) {
  uint32_t i = 0;
  while (i < program.num_named_data() && program.named_data(i).key != schema::kAdditionsKey) ++i;
  return i;
}

}  // namespace

ProgramDataMap::ProgramDataMap(DataLoader* loader, uint64_t segment_base,
                               const ProgramView& program)
    : loader_(loader),
      segment_base_(segment_base),
      program_(program),
      sorted_(keys_ascend(program)),
      hidden_(index_of_additions(program)) {}

std::optional<NamedDataView> ProgramDataMap::find(std::string_view key) const {
  const uint32_t count = program_.num_named_data();
  if (!sorted_) {
    for (uint32_t i = 0; i < count; ++i) {
      const NamedDataView entry = program_.named_data(i);
      if (entry.key == key) return entry;
    }
    return std::nullopt;
  }
  uint32_t begin = 0;
  uint32_t end = count;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const NamedDataView entry = program_.named_data(middle);
    const int order = entry.key.compare(key);
    if (order == 0) return entry;
    if (order < 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return std::nullopt;
}

Result<FreeableBuffer> ProgramDataMap::get_data(std::string_view key) const {
  const std::optional<NamedDataView> entry = find(key);
  if (!entry.has_value() || key == schema::kAdditionsKey) return Error::NotFound;
  return load_segment(*loader_, segment_base_, program_.segment(entry->segment),
                      DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::External,
                                              entry->segment, entry->key.data()));
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
