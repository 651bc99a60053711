// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program_verifier.h"

#include <cinttypes>
#include <string_view>

#include "runtime/core/checked_math.h"
#include "runtime/core/data_loader.h"
#include "runtime/core/log.h"
#include "runtime/core/result.h"
#include "runtime/program/flat_parts.h"
#include "runtime/program/table_verifier.h"
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
  const uint64_t limit = segment_limit(file);
  for (uint32_t i = 0; i < size_of(program.segments()); ++i) {
    const fb::DataSegment& segment = entry(program.segments(), i);
    const uint64_t offset = segment.offset();
    const uint64_t size = segment.size();
    if (!in_bounds(offset, size, limit)) {
      PETREL_LOG(Error,
                 "segment %u has %" PRIu64 " bytes at offset %" PRIu64 ", but there are %" PRIu64,
                 i, size, offset, limit);
      return Error::InvalidProgram;
    }
    if (size != 0 && (file.segment_base + offset) % kDataAlignment != 0) {
      PETREL_LOG(Error, "segment %u begins at byte %" PRIu64 ", must be a multiple of %zu", i,
                 file.segment_base + offset, kDataAlignment);
      return Error::InvalidProgram;
    }
  }
  return Error::Ok;
}

// `name`: what the entries are, for messages.
Error verify_subsegments(const fb::Program& program, const fb::SubsegmentOffsets& entries,
                         const char* name) {
  const uint32_t segment = entries.segment_index();
  if (segment >= size_of(program.segments())) {
    PETREL_LOG(Error, "%s is segment %u, but there are %u", name, segment,
               size_of(program.segments()));
    return Error::InvalidProgram;
  }
  if (!is_aligned(entries.offsets())) {
    PETREL_LOG(Error, "the offsets of %s are not aligned", name);
    return Error::InvalidProgram;
  }
  const uint64_t size = entry(program.segments(), segment).size();
  for (const uint64_t& offset : items_of(entries.offsets())) {
    if (offset <= size) continue;
    PETREL_LOG(
        Error, "entry %zu of %s is at offset %" PRIu64 ", but the segment has %" PRIu64 " bytes",
        static_cast<size_t>(&offset - items_of(entries.offsets()).data()), name, offset, size);
    return Error::InvalidProgram;
  }
  return Error::Ok;
}

// Bytes in the flatbuffer, which are the first field of a constant and of a payload.
Error verify_aligned_bytes(const flatbuffers::Vector<flatbuffers::Offset<fb::Buffer>>* buffers,
                           const char* name) {
  for (uint32_t i = 0; i < size_of(buffers); ++i) {
    if (is_aligned(entry(buffers, i).storage(), kDataAlignment)) continue;
    PETREL_LOG(Error, "%s %u is not aligned to %zu bytes", name, i, kDataAlignment);
    return Error::InvalidProgram;
  }
  return Error::Ok;
}

Error verify_constants(const fb::Program& program) {
  const fb::SubsegmentOffsets* const constants = program.constant_segment();
  if (constants != nullptr && size_of(constants->offsets()) != 0) {
    PETREL_RETURN_IF_ERROR(verify_subsegments(program, *constants, "constant data"));
    // Entry 0 is reserved in both.
    if (size_of(program.constant_buffer()) > 1) {
      PETREL_LOG(Error,
                 "the program declares its constants twice: %u in a segment, %u in the flatbuffer",
                 size_of(constants->offsets()) - 1, size_of(program.constant_buffer()) - 1);
      return Error::InvalidProgram;
    }
  }
  PETREL_RETURN_IF_ERROR(verify_aligned_bytes(program.constant_buffer(), "constant"));
  for (uint32_t i = 0; i < size_of(program.mutable_data_segments()); ++i) {
    PETREL_RETURN_IF_ERROR(
        verify_subsegments(program, entry(program.mutable_data_segments(), i), "mutable data"));
  }
  static_assert(int{fb::Buffer::VT_STORAGE} == int{fb::BackendDelegateInlineData::VT_DATA});
  const void* const payloads = program.backend_delegate_data();
  return verify_aligned_bytes(static_cast<decltype(program.constant_buffer())>(payloads),
                              "delegate payload");
}

Error verify_named_data(const ProgramFile& file, const fb::Program& program) {
  schema::SharedBytes named(file.file_size);
  for (uint32_t i = 0; i < size_of(program.named_data()); ++i) {
    const fb::NamedData& data = entry(program.named_data(), i);
    if (!is_name(data.key(), schema::kMaxKeyBytes)) {
      PETREL_LOG(Error, "the key of named data %u is missing, empty, too long or contains a NUL",
                 i);
      return Error::InvalidProgram;
    }
    const uint32_t segment = data.segment_index();
    if (segment >= size_of(program.segments())) {
      PETREL_LOG(Error, "named data \"%.64s\" is segment %u, but there are %u", data.key()->c_str(),
                 segment, size_of(program.segments()));
      return Error::InvalidProgram;
    }
    if (!named.add(entry(program.segments(), segment).size())) {
      PETREL_LOG(Error,
                 "named data up to key \"%.64s\" has more than %" PRIu64
                 " bytes together, the most for a file of %" PRIu64,
                 data.key()->c_str(), named.most(), uint64_t{file.file_size});
      return Error::InvalidProgram;
    }
  }
  return Error::Ok;
}

Error verify_arenas(const PlanContext& context) {
  const fb::ExecutionPlan& plan = *context.plan;
  const Span<const int64_t> sizes = items_of(plan.non_const_buffer_sizes());
  const char* const method = plan.name()->c_str();
  if (!is_aligned(plan.non_const_buffer_sizes())) {
    PETREL_LOG(Error, "method \"%.64s\": the sizes of its arenas are not aligned", method);
    return Error::InvalidProgram;
  }
  if (sizes.size() > schema::kMaxArenas) {
    PETREL_LOG(Error, "method \"%.64s\": it has %zu arenas, must have at most %u", method,
               sizes.size(), schema::kMaxArenas);
    return Error::InvalidProgram;
  }
  uint64_t total = 0;
  // Entry 0 is reserved; nothing can refer to it.
  for (size_t i = 1; i < sizes.size(); ++i) {
    const int64_t size = sizes[i];
    if (size < 0) {
      PETREL_LOG(Error, "method \"%.64s\": arena %zu has %" PRId64 " bytes", method, i, size);
      return Error::InvalidProgram;
    }
    // Both are below 2^63.
    total += static_cast<uint64_t>(size);
    if (total > context.max_arena_bytes || total > SIZE_MAX / 2) {
      PETREL_LOG(Error,
                 "method \"%.64s\": its arenas with arena %zu of %" PRId64
                 " bytes exceed max_arena_bytes, which is %" PRIu64,
                 method, i, size, context.max_arena_bytes);
      return Error::OutOfResources;
    }
  }
  for (uint32_t i = 0; i < size_of(plan.non_const_buffer_device()); ++i) {
    const fb::NonConstBufferDevice& device = entry(plan.non_const_buffer_device(), i);
    // A negative one is far above.
    if (static_cast<uint32_t>(device.buffer_idx()) >= sizes.size()) {
      PETREL_LOG(Error, "method \"%.64s\": a device is told for arena %d, but there are %zu",
                 method, device.buffer_idx(), sizes.size());
      return Error::InvalidProgram;
    }
    if (device.device_type() != fb::DeviceType::CPU) {
      PETREL_LOG(Error, "method \"%.64s\": arena %d is for device type %d, which is not supported",
                 method, device.buffer_idx(), static_cast<int>(device.device_type()));
      return Error::NotSupported;
    }
  }
  return Error::Ok;
}

Error verify_method_names(const fb::Program& program) {
  const auto* const plans = program.execution_plan();
  const uint32_t count = size_of(plans);
  if (count > schema::kMaxMethods) {
    PETREL_LOG(Error, "the program has %u methods, must be at most %zu", count,
               schema::kMaxMethods);
    return Error::InvalidProgram;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const flatbuffers::String* const name = entry(plans, i).name();
    if (!is_name(name, schema::kMaxMethodNameBytes)) {
      PETREL_LOG(Error, "the name of method %u is missing, empty, too long or contains a NUL", i);
      return Error::InvalidProgram;
    }
    for (uint32_t j = 0; j < i; ++j) {
      if (text_of(entry(plans, j).name()) != text_of(name)) continue;
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
  for (uint32_t i = 0; i < size_of(program.execution_plan()); ++i) {
    const PlanContext context = {
        &program, &entry(program.execution_plan(), i), file.max_arena_bytes, &visits, &entries,
        &initial};
    PETREL_RETURN_IF_ERROR(verify_arenas(context));
    PETREL_RETURN_IF_ERROR(verify_values(context));
    PETREL_RETURN_IF_ERROR(verify_instructions(context));
  }
  return ProgramView(&program);
}

}  // namespace petrel::runtime
