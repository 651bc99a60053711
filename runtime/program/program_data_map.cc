// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program_data_map.h"

#include "runtime/core/log.h"
#include "runtime/program/program_additions.h"
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

uint32_t count_of(const fb::Program* program) {
  return program->named_data() == nullptr ? 0 : program->named_data()->size();
}

uint32_t index_of_additions(const fb::Program* program) {
  uint32_t i = 0;
  while (i < count_of(program) && key_of(program->named_data()->Get(i)) != kAdditionsKey) ++i;
  return i;
}

}  // namespace

ProgramDataMap::ProgramDataMap(DataLoader* loader, uint64_t segment_base,
                               const fb::Program* program)
    : loader_(loader),
      segment_base_(segment_base),
      program_(program),
      sorted_(keys_ascend(program)),
      hidden_(index_of_additions(program)) {}

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
  if (entry == nullptr || key == kAdditionsKey) return Error::NotFound;
  const uint32_t index = entry->segment_index();
  return load_segment(*loader_, segment_base_, *program_->segments()->Get(index),
                      DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::External, index,
                                              entry->key()->c_str()));
}

Result<uint32_t> ProgramDataMap::get_num_keys() const {
  const uint32_t count = count_of(program_);
  return hidden_ < count ? count - 1 : count;
}

Result<const char*> ProgramDataMap::get_key(uint32_t index) const {
  const uint32_t count = get_num_keys().get();
  if (index >= count) {
    PETREL_LOG(Error, "key %u of named data is asked for, but there are %u", index, count);
    return Error::InvalidArgument;
  }
  return program_->named_data()->Get(index < hidden_ ? index : index + 1)->key()->c_str();
}

}  // namespace petrel::runtime
