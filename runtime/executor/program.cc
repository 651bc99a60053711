// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/program.h"

#include <cstring>

#include "runtime/core/log.h"
#include "runtime/executor/method_builder.h"
#include "runtime/program/extended_header.h"
#include "runtime/program/program_verifier.h"
#include "runtime/program/segment.h"
#include "schema/formats.h"

namespace petrel::runtime {

namespace {

using SegmentInfo = DataLoader::SegmentInfo;
using SegmentType = DataLoader::SegmentInfo::Type;

bool has_identifier(const uint8_t* head) {
  return std::memcmp(head + schema::kIdentifierOffset, schema::kProgramIdentifier,
                     schema::kMagicBytes) == 0;
}

// Reads and checks the header; a file without one is all flatbuffer.
Error read_header(const uint8_t* head, size_t file_size, ExtendedHeader* header) {
  if (!has_identifier(head)) {
    PETREL_LOG(Error,
               "bytes 4 to 7 of the file are not \"%s\": it is not a program of a known kind",
               schema::kProgramIdentifier);
    return Error::InvalidProgram;
  }
  const Result<ExtendedHeader> parsed =
      ExtendedHeader::parse(Span<const uint8_t>(head, ExtendedHeader::kNumHeadBytes));
  if (parsed.ok()) {
    *header = *parsed;
  } else if (parsed.error() == Error::NotFound) {
    header->program_size = file_size;
  } else {
    return parsed.error();
  }
  return header->verify(file_size);
}

// Reads the header and the structure behind it.
Error read_structure(const DataLoader& loader, size_t file_size, ExtendedHeader* header,
                     FreeableBuffer* structure) {
  const SegmentInfo info(SegmentType::Program);
  FreeableBuffer head;
  PETREL_RETURN_IF_ERROR(load_range(loader, 0, Program::kMinHeadBytes, info, &head));
  PETREL_RETURN_IF_ERROR(read_header(static_cast<const uint8_t*>(head.data()), file_size, header));
  PETREL_RETURN_IF_ERROR(load_range(loader, 0, header->program_size, info, structure));
  // What was decided on must be what is used.
  if (std::memcmp(head.data(), structure->data(), Program::kMinHeadBytes) != 0) {
    PETREL_LOG(Error, "the file changed while it was read");
    return Error::AccessFailed;
  }
  return Error::Ok;
}

}  // namespace

Program::Program(DataLoader* loader, const ProgramOptions& options)
    : loader_(loader), options_(options) {}

Result<Program> Program::load(DataLoader* loader, const ProgramOptions& options) {
  if (loader == nullptr) {
    PETREL_LOG(Error, "Program::load was given no data loader");
    return Error::InvalidArgument;
  }
  Program program(loader, options);
  PETREL_RETURN_IF_ERROR(program.read());
  return program;
}

Error Program::read() {
  PETREL_ASSIGN_OR_RETURN(const size_t file_size, loader_->size());
  if (file_size < kMinHeadBytes) {
    PETREL_LOG(Error, "the file has %zu bytes, a program has at least %zu", file_size,
               kMinHeadBytes);
    return Error::InvalidProgram;
  }
  ExtendedHeader header;
  PETREL_RETURN_IF_ERROR(read_structure(*loader_, file_size, &header, &program_data_));
  const ProgramFile file = {structure(), file_size, header.segment_base_offset,
                            header.segment_data_size, options_.limits.max_arena_bytes};
  PETREL_ASSIGN_OR_RETURN(view_, verify_program(file));
  segment_base_ = header.segment_base_offset;
  named_data_ = ProgramDataMap(loader_, segment_base_, view_);
  PETREL_RETURN_IF_ERROR(additions_.load(*loader_, segment_base_, view_));
  const std::optional<uint32_t> index = view_.constant_segment();
  if (!index.has_value() || view_.segment(*index).size == 0) return Error::Ok;
  return load_segment(*loader_, segment_base_, view_.segment(*index),
                      SegmentInfo(SegmentType::Constant, *index), &constant_data_);
}

size_t Program::num_methods() const { return view_.num_methods(); }

Result<const char*> Program::get_method_name(size_t index) const {
  if (index >= num_methods()) {
    PETREL_LOG(Error, "method %zu is asked for, but the program has %zu", index, num_methods());
    return Error::InvalidArgument;
  }
  return view_.method(static_cast<uint32_t>(index)).name().data();
}

Result<MethodView> Program::find_method(std::string_view name) const {
  const std::optional<MethodView> found = view_.find_method(name);
  if (found.has_value()) return *found;
#if PETREL_LOGGING
  char names[256] = "";
  size_t used = 0;
  for (uint32_t i = 0; i < view_.num_methods(); ++i) {
    const std::string_view other = view_.method(i).name();
    const size_t length = other.size();
    if (length + 4 > sizeof(names) - used) break;
    names[used++] = ' ';
    names[used++] = '"';
    std::memcpy(names + used, other.data(), length);
    used += length;
    names[used++] = '"';
    names[used] = '\0';
  }
  PETREL_LOG(Error, "the program has no method \"%.*s\", but%s",
             static_cast<int>(name.size() < 64 ? name.size() : 64), name.data(),
             used == 0 ? " others" : names);
#endif
  return Error::NotFound;
}

Result<MethodMeta> Program::method_meta(std::string_view method_name) const {
  PETREL_ASSIGN_OR_RETURN(const MethodView method, find_method(method_name));
  return MethodMeta(method);
}

Result<Method> Program::load_method(std::string_view method_name, MemoryManager* memory_manager,
                                    EventTracer* event_tracer, const NamedDataMap* named_data_map,
                                    const LoadBackendOptionsMap* backend_options) const {
  if (memory_manager == nullptr || memory_manager->method_allocator() == nullptr) {
    PETREL_LOG(Error, "load_method was given no memory for the method");
    return Error::InvalidArgument;
  }
  PETREL_ASSIGN_OR_RETURN(const MethodView method, find_method(method_name));
  MethodBuilder builder(*this, method, memory_manager, event_tracer, named_data_map,
                        backend_options);
  return builder.build();
}

Result<const NamedDataMap*> Program::get_named_data_map() const {
  if (named_data_.get_num_keys().get() == 0) return Error::NotFound;
  return static_cast<const NamedDataMap*>(&named_data_);
}

Result<const char*> Program::get_output_flattening_encoding(std::string_view method_name) const {
  PETREL_ASSIGN_OR_RETURN(const MethodView method, find_method(method_name));
  if (method.output_encoding().empty()) return Error::NotFound;
  return method.output_encoding().data();
}

Program::HeaderStatus Program::check_header(const void* data, size_t size) {
  if (size < kMinHeadBytes) return HeaderStatus::ShortData;
  const auto* const head = static_cast<const uint8_t*>(data);
  if (has_identifier(head)) return HeaderStatus::CompatibleVersion;
  // "ET" and two digits: another version.
  const auto is_digit = [](uint8_t c) { return c >= '0' && c <= '9'; };
  return head[4] == 'E' && head[5] == 'T' && is_digit(head[6]) && is_digit(head[7])
             ? HeaderStatus::IncompatibleVersion
             : HeaderStatus::NotPresent;
}

const void* Program::constant_data(uint32_t index) const {
  if (!view_.constant_segment().has_value()) return view_.inline_constant(index).data();
  // Null of a segment without bytes, in which all offsets are 0.
  return static_cast<const uint8_t*>(constant_data_.data()) + view_.constant_offset(index);
}

Error Program::load_mutable_data(uint32_t index, void* buffer, size_t nbytes) const {
  if (nbytes == 0) return Error::Ok;
  const uint32_t segment_index = *view_.state_segment();
  const uint64_t offset =
      segment_base_ + view_.segment(segment_index).offset + view_.state_offset(index);
  const SegmentInfo info(SegmentType::Mutable, segment_index);
  const Error error = loader_->load_into(static_cast<size_t>(offset), nbytes, info, buffer);
  if (error != Error::NotImplemented) return error;
  FreeableBuffer data;
  PETREL_RETURN_IF_ERROR(load_range(*loader_, offset, nbytes, info, &data));
  std::memcpy(buffer, data.data(), nbytes);
  return Error::Ok;
}

Error Program::load_delegate_data(const DelegateView& delegate, FreeableBuffer* to) const {
  const uint32_t index = delegate.payload();
  if (!delegate.is_segment()) {
    const Span<const uint8_t> data = view_.inline_payload(index);
    *to = FreeableBuffer(data.data(), data.size(), nullptr);
    return Error::Ok;
  }
  return load_segment(*loader_, segment_base_, view_.segment(index),
                      SegmentInfo(SegmentType::Backend, index, delegate.backend().data()), to);
}

}  // namespace petrel::runtime
