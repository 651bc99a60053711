// SPDX-License-Identifier: Apache-2.0
#include "examples/backend_bytecode/runtime/bytecode_backend.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>

#include "examples/backend_bytecode/format/bytecode.h"
#include "runtime/backend/known_options.h"
#include "runtime/core/checked_math.h"

namespace petrel::backends::bytecode {
namespace {

using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::Span;
using runtime::Tensor;

struct Part {
  Header header;
  size_t block = kDefaultBlock;
  Span<FreeableBuffer> blobs;
  Span<char> code;         // a copy: the payload may be a file that changes
  Span<float*> arguments;  // of the running execute: inputs, then outputs
};

Error check_block(int64_t block) {
  if (block >= 1 && block <= static_cast<int64_t>(kMaxBlock)) return Error::Ok;
  PETREL_LOG(Error, "%s: block is %lld, must be in [1, %zu]", kBackendId,
             static_cast<long long>(block), kMaxBlock);
  return Error::InvalidArgument;
}

// The block length of a compile spec, or of a load option, which comes first.
Error read_block(const runtime::BackendInitContext& context, Span<const runtime::CompileSpec> specs,
                 size_t* out_block) {
  constexpr const char* kKnown[] = {kBlockOption};
  PETREL_RETURN_IF_ERROR(
      runtime::refuse_unknown_options(kBackendId, context.runtime_specs(), kKnown));
  for (const runtime::CompileSpec& spec : specs) {
    if (std::string_view(spec.key) != kBlockOption) continue;
    const auto* const begin = static_cast<const char*>(spec.value.buffer);
    int64_t block = 0;
    const auto [end, error] = std::from_chars(begin, begin + spec.value.nbytes, block);
    if (error != std::errc() || end != begin + spec.value.nbytes) block = 0;
    PETREL_RETURN_IF_ERROR(check_block(block));
    *out_block = static_cast<size_t>(block);
  }
  if (!context.runtime_specs().empty()) {
    PETREL_ASSIGN_OR_RETURN(const int block, context.get_runtime_spec<int>(kBlockOption));
    PETREL_RETURN_IF_ERROR(check_block(block));
    *out_block = static_cast<size_t>(block);
  }
  return Error::Ok;
}

Error damaged(const char* what) {
  PETREL_LOG(Error, "%s: the payload %s", kBackendId, what);
  return Error::InvalidProgram;
}

Error load_blob(const runtime::NamedDataMap* map, std::string_view key, size_t elements,
                FreeableBuffer* blob) {
  if (map == nullptr) return damaged("wants named data, there is none");
  PETREL_ASSIGN_OR_RETURN(*blob, map->get_data(key));
  size_t bytes = 0;
  if (!runtime::checked_mul(elements, sizeof(float), &bytes) || blob->size() != bytes) {
    PETREL_LOG(Error, "%s: named data has %zu bytes, must have %zu elements", kBackendId,
               blob->size(), elements);
    return Error::InvalidExternalData;
  }
  return Error::Ok;
}

Error read_part(runtime::BackendInitContext& context, ByteReader reader, Part* part) {
  const bool varies = part->header.elements == kVaryingElements;
  if (varies && part->header.inputs == 0) return damaged("has varying sizes and no input");
  if (varies && part->header.blobs != 0) return damaged("has varying sizes and a blob");
  runtime::MemoryAllocator& memory = *context.get_runtime_allocator();
  PETREL_ASSIGN_OR_RETURN(const Span<FreeableBuffer> blobs,
                          memory.allocate_list<FreeableBuffer>(part->header.blobs));
  for (FreeableBuffer& blob : blobs) new (&blob) FreeableBuffer;
  part->blobs = blobs;
  for (FreeableBuffer& blob : blobs) {
    const std::string_view key = reader.bytes(reader.u16());
    if (reader.failed()) return damaged("ends within a key");
    PETREL_RETURN_IF_ERROR(
        load_blob(context.get_named_data_map(), key, part->header.elements, &blob));
  }
  PETREL_ASSIGN_OR_RETURN(part->arguments, memory.allocate_list<float*>(
                                               size_t{part->header.inputs} + part->header.outputs));
  PETREL_ASSIGN_OR_RETURN(part->code, memory.allocate_list<char>(reader.rest().size()));
  if (!part->code.empty()) {
    std::memcpy(part->code.data(), reader.rest().data(), part->code.size());
  }
  PETREL_ASSIGN_OR_RETURN(
      const Span<bool> seen,
      memory.allocate_list<bool>(size_t{part->header.locals} + part->header.outputs));
  const char* const problem =
      check_code({part->code.data(), part->code.size()}, part->header, seen.data());
  return problem == nullptr ? Error::Ok : damaged(problem);
}

Result<float*> argument_data(Span<EValue*> args, size_t index, size_t elements, bool is_written) {
  PETREL_ASSIGN_OR_RETURN(const Tensor tensor, args[index]->tryToTensor());
  if (tensor.scalar_type() != runtime::ScalarType::Float || tensor.numel() != elements) {
    PETREL_LOG(Error, "%s: argument %zu has %zu elements or is not float, must have %zu",
               kBackendId, index, static_cast<size_t>(tensor.numel()), elements);
    return Error::InvalidArgument;
  }
  if (elements > 0 && tensor.const_data_ptr() == nullptr) {
    PETREL_LOG(Error, "%s: argument %zu has no data", kBackendId, index);
    return Error::InvalidArgument;
  }
  if (is_written && tensor.is_constant()) {
    PETREL_LOG(Error, "%s: argument %zu is constant, must be written", kBackendId, index);
    return Error::InvalidArgument;
  }
  return static_cast<float*>(tensor.mutable_data_ptr());
}

// The elements that this call is about, and results of as many: those of the
// first input, whose sizes all others must have.
Result<size_t> resize_to_first_input(Span<EValue*> args, const Header& header) {
  PETREL_ASSIGN_OR_RETURN(const Tensor first, args[0]->tryToTensor());
  const Span<const int32_t> sizes = first.sizes();
  for (size_t i = 1; i < args.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(const Tensor tensor, args[i]->tryToTensor());
    if (i >= header.inputs) {
      if (const Error error = runtime::resize_tensor(tensor, sizes); error != Error::Ok) {
        PETREL_LOG(Error, "%s: result %zu cannot take the %zu elements of the inputs", kBackendId,
                   i - header.inputs, first.numel());
        return error;
      }
      continue;
    }
    const Span<const int32_t> others = tensor.sizes();
    if (!std::equal(sizes.begin(), sizes.end(), others.begin(), others.end())) {
      PETREL_LOG(Error, "%s: input %zu has other sizes than input 0", kBackendId, i);
      return Error::InvalidArgument;
    }
  }
  return first.numel();
}

// Runs the code on `count` elements from `first` on. `blocks` holds the locals,
// then the stack.
void run_block(const Part& part, size_t first, size_t count, float* blocks) {
  float* const stack = blocks + size_t{part.header.locals} * part.block;
  float* top = stack;  // behind the last value
  const size_t bytes = count * sizeof(float);
  const auto slot = [&](size_t local) { return blocks + local * part.block; };
  const auto push = [&](const float* from) {
    std::memcpy(top, from, bytes);
    top += part.block;
  };
  ByteReader reader(part.code.data(), part.code.size());
  while (!reader.rest().empty()) {
    switch (static_cast<Opcode>(reader.bytes(1)[0])) {
      case Opcode::kInput:
        push(part.arguments[reader.u16()] + first);
        break;
      case Opcode::kBlob:
        push(static_cast<const float*>(part.blobs[reader.u16()].data()) + first);
        break;
      case Opcode::kNumber: {
        const uint32_t bits = reader.u32();
        float number = 0;
        std::memcpy(&number, &bits, sizeof(number));
        for (size_t i = 0; i < count; ++i) top[i] = number;
        top += part.block;
        break;
      }
      case Opcode::kAdd: {
        top -= part.block;
        float* const a = top - part.block;
        for (size_t i = 0; i < count; ++i) a[i] += top[i];
        break;
      }
      case Opcode::kSub: {
        top -= part.block;
        float* const a = top - part.block;
        for (size_t i = 0; i < count; ++i) a[i] -= top[i];
        break;
      }
      case Opcode::kMul: {
        top -= part.block;
        float* const a = top - part.block;
        for (size_t i = 0; i < count; ++i) a[i] *= top[i];
        break;
      }
      case Opcode::kRelu: {
        float* const a = top - part.block;
        for (size_t i = 0; i < count; ++i) a[i] = a[i] < 0 ? 0 : a[i];
        break;
      }
      case Opcode::kSave:
        top -= part.block;
        std::memcpy(slot(reader.u16()), top, bytes);
        break;
      case Opcode::kLoad:
        push(slot(reader.u16()));
        break;
      case Opcode::kOutput:
        top -= part.block;
        std::memcpy(part.arguments[part.header.inputs + reader.u16()] + first, top, bytes);
        break;
    }
  }
}

}  // namespace

Result<runtime::DelegateHandle*> BytecodeBackend::init(
    runtime::BackendInitContext& context, FreeableBuffer* processed,
    Span<const runtime::CompileSpec> compile_specs) const {
  ByteReader reader(processed->data(), processed->size());
  Header header;
  if (!read_header(&reader, &header)) {
    PETREL_LOG(Error, "%s: the payload does not begin with a header of 'PBC1'", kBackendId);
    return Error::DelegateInvalidCompatibility;
  }
  PETREL_ASSIGN_OR_RETURN(
      void* place, context.get_runtime_allocator()->allocate_bytes(sizeof(Part), alignof(Part)));
  Part* const part = new (place) Part;
  part->header = header;
  Error error = read_block(context, compile_specs, &part->block);
  if (error == Error::Ok) error = read_part(context, reader, part);
  if (error != Error::Ok) {
    destroy(part);
    return error;
  }
  processed->free();
  return static_cast<runtime::DelegateHandle*>(part);
}

Error BytecodeBackend::execute(runtime::BackendExecutionContext& context,
                               runtime::DelegateHandle* handle, Span<EValue*> args) const {
  Part& part = *static_cast<Part*>(handle);
  if (args.size() != part.arguments.size()) {
    PETREL_LOG(Error, "%s: there are %zu arguments, must be %zu", kBackendId, args.size(),
               part.arguments.size());
    return Error::InvalidArgument;
  }
  size_t elements = part.header.elements;
  if (part.header.elements == kVaryingElements) {
    PETREL_ASSIGN_OR_RETURN(elements, resize_to_first_input(args, part.header));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(part.arguments[i],
                            argument_data(args, i, elements, i >= part.header.inputs));
  }
  PETREL_ASSIGN_OR_RETURN(void* const blocks, context.allocate((part.header.locals + kMaxDepth) *
                                                               part.block * sizeof(float)));
  for (size_t first = 0; first < elements; first += part.block) {
    const size_t left = elements - first;
    run_block(part, first, left < part.block ? left : part.block, static_cast<float*>(blocks));
  }
  return Error::Ok;
}

Result<size_t> BytecodeBackend::num_outputs(runtime::DelegateHandle* handle) const {
  return size_t{static_cast<const Part*>(handle)->header.outputs};
}

void BytecodeBackend::destroy(runtime::DelegateHandle* handle) const {
  // The memory is the method's; only the blobs are given back.
  for (FreeableBuffer& blob : static_cast<Part*>(handle)->blobs) blob.free();
}

runtime::Backend bytecode_backend() {
  static BytecodeBackend backend;
  return {kBackendId, &backend};
}

}  // namespace petrel::backends::bytecode
