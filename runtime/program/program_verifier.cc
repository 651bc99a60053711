// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program_verifier.h"

#include <cinttypes>
#include <string_view>

#include "runtime/core/checked_math.h"
#include "runtime/core/data_loader.h"
#include "runtime/core/log.h"
#include "runtime/core/result.h"
#include "runtime/program/table_verifier.h"
#include "runtime/program/text_check.h"
#include "schema/formats.h"
#include "schema/method_limits.h"
#include "schema/program_generated.h"
#include "schema/program_shape.h"
#include "schema/shared_bytes.h"

namespace petrel::runtime {
namespace fb = schema::program;

namespace {

constexpr uint64_t kFreeEntries = 150'000;
constexpr uint64_t kBytesPerEntry = 96;

// Bytes of segments that the file has room for.
uint64_t segment_limit(const ProgramFile& file) {
  if (file.segment_base == 0) return 0;
  return file.segment_data_size != 0 ? file.segment_data_size : file.file_size - file.segment_base;
}

Error verify_segments(const ProgramFile& file, const fb::Program& program) {
  const auto* segments = program.segments();
  if (segments == nullptr) return Error::Ok;
  const uint64_t limit = segment_limit(file);
  for (uint32_t i = 0; i < segments->size(); ++i) {
    const fb::DataSegment& segment = *segments->Get(i);
    if (!in_bounds(segment.offset(), segment.size(), limit)) {
      PETREL_LOG(Error,
                 "segment %u has %" PRIu64 " bytes at offset %" PRIu64 ", but there are %" PRIu64,
                 i, segment.size(), segment.offset(), limit);
      return Error::InvalidProgram;
    }
    if (segment.size() != 0 && (file.segment_base + segment.offset()) % kDataAlignment != 0) {
      PETREL_LOG(Error, "segment %u begins at byte %" PRIu64 ", must be a multiple of %zu", i,
                 file.segment_base + segment.offset(), kDataAlignment);
      return Error::InvalidProgram;
    }
  }
  return Error::Ok;
}

// `name`: what the entries are, for messages.
Error verify_subsegments(const fb::Program& program, const fb::SubsegmentOffsets& entries,
                         const char* name) {
  const uint32_t num_segments = program.segments() == nullptr ? 0 : program.segments()->size();
  if (entries.segment_index() >= num_segments) {
    PETREL_LOG(Error, "%s is segment %u, but there are %u", name, entries.segment_index(),
               num_segments);
    return Error::InvalidProgram;
  }
  if (!is_aligned(entries.offsets())) {
    PETREL_LOG(Error, "the offsets of %s are not aligned", name);
    return Error::InvalidProgram;
  }
  const uint32_t count = entries.offsets() == nullptr ? 0 : entries.offsets()->size();
  const uint64_t size = program.segments()->Get(entries.segment_index())->size();
  for (uint32_t i = 0; i < count; ++i) {
    if (entries.offsets()->Get(i) > size) {
      PETREL_LOG(Error,
                 "entry %u of %s is at offset %" PRIu64 ", but the segment has %" PRIu64 " bytes",
                 i, name, entries.offsets()->Get(i), size);
      return Error::InvalidProgram;
    }
  }
  return Error::Ok;
}

Error verify_constants(const fb::Program& program) {
  if (program.constant_segment() != nullptr && program.constant_segment()->offsets() != nullptr &&
      program.constant_segment()->offsets()->size() != 0) {
    PETREL_RETURN_IF_ERROR(
        verify_subsegments(program, *program.constant_segment(), "constant data"));
    // Entry 0 is reserved in both.
    if (program.constant_buffer() != nullptr && program.constant_buffer()->size() > 1) {
      PETREL_LOG(
          Error, "the program declares its constants twice: %u in a segment, %u in the flatbuffer",
          program.constant_segment()->offsets()->size() - 1, program.constant_buffer()->size() - 1);
      return Error::InvalidProgram;
    }
  }
  if (program.constant_buffer() != nullptr) {
    for (uint32_t i = 0; i < program.constant_buffer()->size(); ++i) {
      if (!is_aligned(program.constant_buffer()->Get(i)->storage(), kDataAlignment)) {
        PETREL_LOG(Error, "constant %u is not aligned to %zu bytes", i, kDataAlignment);
        return Error::InvalidProgram;
      }
    }
  }
  if (program.mutable_data_segments() != nullptr) {
    for (const fb::SubsegmentOffsets* entries : *program.mutable_data_segments()) {
      PETREL_RETURN_IF_ERROR(verify_subsegments(program, *entries, "mutable data"));
    }
  }
  if (program.backend_delegate_data() != nullptr) {
    for (uint32_t i = 0; i < program.backend_delegate_data()->size(); ++i) {
      if (!is_aligned(program.backend_delegate_data()->Get(i)->data(), kDataAlignment)) {
        PETREL_LOG(Error, "delegate payload %u is not aligned to %zu bytes", i, kDataAlignment);
        return Error::InvalidProgram;
      }
    }
  }
  return Error::Ok;
}

Error verify_named_data(const ProgramFile& file, const fb::Program& program) {
  if (program.named_data() == nullptr) return Error::Ok;
  schema::SharedBytes named(file.file_size);
  const uint32_t num_segments = program.segments() == nullptr ? 0 : program.segments()->size();
  for (uint32_t i = 0; i < program.named_data()->size(); ++i) {
    const fb::NamedData& entry = *program.named_data()->Get(i);
    if (!is_name(entry.key(), schema::kMaxKeyBytes)) {
      PETREL_LOG(Error, "the key of named data %u is missing, empty, too long or contains a NUL",
                 i);
      return Error::InvalidProgram;
    }
    if (entry.segment_index() >= num_segments) {
      PETREL_LOG(Error, "named data \"%.64s\" is segment %u, but there are %u",
                 entry.key()->c_str(), entry.segment_index(), num_segments);
      return Error::InvalidProgram;
    }
    if (!named.add(program.segments()->Get(entry.segment_index())->size())) {
      PETREL_LOG(Error,
                 "named data up to key \"%.64s\" has more than %" PRIu64
                 " bytes together, the most for a file of %" PRIu64,
                 entry.key()->c_str(), named.most(), uint64_t{file.file_size});
      return Error::InvalidProgram;
    }
  }
  return Error::Ok;
}

Error verify_arenas(const PlanContext& context) {
  const fb::ExecutionPlan& plan = *context.plan;
  const auto* sizes = plan.non_const_buffer_sizes();
  const char* const method = plan.name()->c_str();
  if (!is_aligned(sizes)) {
    PETREL_LOG(Error, "method \"%.64s\": the sizes of its arenas are not aligned", method);
    return Error::InvalidProgram;
  }
  if (sizes != nullptr && sizes->size() > schema::kMaxArenas) {
    PETREL_LOG(Error, "method \"%.64s\": it has %u arenas, must have at most %u", method,
               sizes->size(), schema::kMaxArenas);
    return Error::InvalidProgram;
  }
  uint64_t total = 0;
  // Entry 0 is reserved; nothing can refer to it.
  for (uint32_t i = 1; sizes != nullptr && i < sizes->size(); ++i) {
    const int64_t size = sizes->Get(i);
    if (size < 0) {
      PETREL_LOG(Error, "method \"%.64s\": arena %u has %" PRId64 " bytes", method, i, size);
      return Error::InvalidProgram;
    }
    // Both are below 2^63.
    total += static_cast<uint64_t>(size);
    if (total > context.max_arena_bytes || total > SIZE_MAX / 2) {
      PETREL_LOG(Error,
                 "method \"%.64s\": its arenas with arena %u of %" PRId64
                 " bytes exceed max_arena_bytes, which is %" PRIu64,
                 method, i, size, context.max_arena_bytes);
      return Error::OutOfResources;
    }
  }
  if (plan.non_const_buffer_device() == nullptr) return Error::Ok;
  const uint32_t num_arenas = sizes == nullptr ? 0 : sizes->size();
  for (const fb::NonConstBufferDevice* device : *plan.non_const_buffer_device()) {
    // A negative one is far above.
    if (static_cast<uint32_t>(device->buffer_idx()) >= num_arenas) {
      PETREL_LOG(Error, "method \"%.64s\": a device is told for arena %d, but there are %u", method,
                 device->buffer_idx(), num_arenas);
      return Error::InvalidProgram;
    }
    if (device->device_type() != fb::DeviceType::CPU) {
      PETREL_LOG(Error, "method \"%.64s\": arena %d is for device type %d, which is not supported",
                 method, device->buffer_idx(), static_cast<int>(device->device_type()));
      return Error::NotSupported;
    }
  }
  return Error::Ok;
}

Error verify_method_names(const fb::Program& program) {
  const auto& plans = *program.execution_plan();
  if (plans.size() > schema::kMaxMethods) {
    PETREL_LOG(Error, "the program has %u methods, must be at most %zu", plans.size(),
               schema::kMaxMethods);
    return Error::InvalidProgram;
  }
  for (uint32_t i = 0; i < plans.size(); ++i) {
    const flatbuffers::String* const name = plans.Get(i)->name();
    if (!is_name(name, schema::kMaxMethodNameBytes)) {
      PETREL_LOG(Error, "the name of method %u is missing, empty, too long or contains a NUL", i);
      return Error::InvalidProgram;
    }
    for (uint32_t j = 0; j < i; ++j) {
      const flatbuffers::String* const other = plans.Get(j)->name();
      if (std::string_view(other->c_str(), other->size()) !=
          std::string_view(name->c_str(), name->size())) {
        continue;
      }
      PETREL_LOG(Error, "methods %u and %u are both called \"%.64s\"", j, i, name->c_str());
      return Error::InvalidProgram;
    }
  }
  return Error::Ok;
}

}  // namespace

Result<ProgramView> verify_program(const ProgramFile& file) {
  const size_t size = file.program.size();
  if (size >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    PETREL_LOG(Error, "the program has %zu bytes without its segments, must be below 2^31", size);
    return Error::InvalidProgram;
  }
  const TableCheck check =
      check_tables(file.program, schema::kProgramShape, fb::ProgramIdentifier());
  if (check == TableCheck::TooManyParts) {
    PETREL_LOG(Error,
               "the program refers to its own parts too often: more than the %zu bytes it has",
               size);
    return Error::InvalidProgram;
  }
  if (check != TableCheck::Good) {
    PETREL_LOG(Error, "the program is not a valid flatbuffer: it is damaged or cut off");
    return Error::InvalidProgram;
  }
  const fb::Program& program = *fb::GetProgram(file.program.data());
  if (program.version() != 0) {
    PETREL_LOG(Error, "the program has version %u, the newest known is 0", program.version());
    return Error::NotSupported;
  }
  if (program.execution_plan() == nullptr) {
    PETREL_LOG(Error, "the program has no list of methods");
    return Error::InvalidProgram;
  }
  Budget visits("visits", uint64_t{16} * size);
  Budget entries("entries of lists of tensors", kFreeEntries + size / kBytesPerEntry);
  schema::SharedBytes initial(file.file_size);
  PETREL_RETURN_IF_ERROR(verify_method_names(program));
  PETREL_RETURN_IF_ERROR(verify_segments(file, program));
  PETREL_RETURN_IF_ERROR(verify_constants(program));
  PETREL_RETURN_IF_ERROR(verify_named_data(file, program));
  for (const fb::ExecutionPlan* plan : *program.execution_plan()) {
    const PlanContext context = {&program, plan, file.max_arena_bytes, &visits, &entries, &initial};
    PETREL_RETURN_IF_ERROR(verify_arenas(context));
    PETREL_RETURN_IF_ERROR(verify_values(context));
    PETREL_RETURN_IF_ERROR(verify_instructions(context));
  }
  return ProgramView(&program);
}

}  // namespace petrel::runtime
