// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program_data_map.h"

#include "runtime/core/log.h"
#include "runtime/program/segment.h"
#include "schema/program_generated.h"

namespace petrel::runtime {
namespace fb = schema::program;

namespace {

std::string_view key_of(const fb::NamedData* entry) {
  return {entry->key()->c_str(), entry->key()->size()};
}

bool keys_ascend(const fb::Program* program) {
  const auto* entries = program->named_data();
  if (entries == nullptr) return true;
  for (uint32_t i = 1; i < entries->size(); ++i) {
    if (key_of(entries->Get(i - 1)) >= key_of(entries->Get(i))) return false;
  }
  return true;
}

}  // namespace

ProgramDataMap::ProgramDataMap(DataLoader* loader, uint64_t segment_base,
                               const fb::Program* program)
    : loader_(loader),
      segment_base_(segment_base),
      program_(program),
      sorted_(keys_ascend(program)) {}

const fb::NamedData* ProgramDataMap::find(std::string_view key) const {
  const auto* entries = program_->named_data();
  if (entries == nullptr) return nullptr;
  if (!sorted_) {
    for (const fb::NamedData* entry : *entries) {
      if (key_of(entry) == key) return entry;
    }
    return nullptr;
  }
  uint32_t begin = 0;
  uint32_t end = entries->size();
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const int order = key_of(entries->Get(middle)).compare(key);
    if (order == 0) return entries->Get(middle);
    if (order < 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return nullptr;
}

Result<FreeableBuffer> ProgramDataMap::get_data(std::string_view key) const {
  const fb::NamedData* const entry = find(key);
  if (entry == nullptr) return Error::NotFound;
  const uint32_t index = entry->segment_index();
  return load_segment(*loader_, segment_base_, *program_->segments()->Get(index),
                      DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::External, index,
                                              entry->key()->c_str()));
}

Result<uint32_t> ProgramDataMap::get_num_keys() const {
  return program_->named_data() == nullptr ? 0 : program_->named_data()->size();
}

Result<const char*> ProgramDataMap::get_key(uint32_t index) const {
  const auto* entries = program_->named_data();
  const uint32_t count = entries == nullptr ? 0 : entries->size();
  if (index >= count) {
    PETREL_LOG(Error, "key %u of named data is asked for, but there are %u", index, count);
    return Error::InvalidArgument;
  }
  return entries->Get(index)->key()->c_str();
}

}  // namespace petrel::runtime
