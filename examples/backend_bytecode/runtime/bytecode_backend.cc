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

struct Partition {
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
  if (map == nullptr) return damaged("needs named data, but no map was given");
  PETREL_ASSIGN_OR_RETURN(*blob, map->get_data(key));
  size_t bytes = 0;
  if (!runtime::checked_mul(elements, sizeof(float), &bytes) || blob->size() != bytes) {
    PETREL_LOG(Error, "%s: named data has %zu bytes, must have %zu elements", kBackendId,
               blob->size(), elements);
    return Error::InvalidExternalData;
  }
  return Error::Ok;
}

Error read_partition(runtime::BackendInitContext& context, ByteReader reader,
                     Partition* partition) {
  const bool varies = partition->header.elements == kVaryingElements;
  if (varies && partition->header.inputs == 0) return damaged("has varying sizes and no input");
  if (varies && partition->header.blobs != 0) return damaged("has varying sizes and a blob");
  runtime::MemoryAllocator& memory = *context.get_runtime_allocator();
  PETREL_ASSIGN_OR_RETURN(const Span<FreeableBuffer> blobs,
                          memory.allocate_list<FreeableBuffer>(partition->header.blobs));
  for (FreeableBuffer& blob : blobs) new (&blob) FreeableBuffer;
  partition->blobs = blobs;
  for (FreeableBuffer& blob : blobs) {
    const std::string_view key = reader.bytes(reader.u16());
    if (reader.failed()) return damaged("ends within a key");
    PETREL_RETURN_IF_ERROR(
        load_blob(context.get_named_data_map(), key, partition->header.elements, &blob));
  }
  PETREL_ASSIGN_OR_RETURN(
      partition->arguments,
      memory.allocate_list<float*>(size_t{partition->header.inputs} + partition->header.outputs));
  PETREL_ASSIGN_OR_RETURN(partition->code, memory.allocate_list<char>(reader.rest().size()));
  if (!partition->code.empty()) {
    std::memcpy(partition->code.data(), reader.rest().data(), partition->code.size());
  }
  PETREL_ASSIGN_OR_RETURN(
      const Span<bool> seen,
      memory.allocate_list<bool>(size_t{partition->header.locals} + partition->header.outputs));
  const char* const problem =
      check_code({partition->code.data(), partition->code.size()}, partition->header, seen.data());
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
void run_block(const Partition& partition, size_t first, size_t count, float* blocks) {
  float* const stack = blocks + size_t{partition.header.locals} * partition.block;
  float* top = stack;  // behind the last value
  const size_t bytes = count * sizeof(float);
  const auto slot = [&](size_t local) { return blocks + local * partition.block; };
  const auto push = [&](const float* from) {
    std::memcpy(top, from, bytes);
    top += partition.block;
  };
  ByteReader reader(partition.code.data(), partition.code.size());
  while (!reader.rest().empty()) {
    switch (static_cast<Opcode>(reader.bytes(1)[0])) {
      case Opcode::kInput:
        push(partition.arguments[reader.u16()] + first);
        break;
      case Opcode::kBlob:
        push(static_cast<const float*>(partition.blobs[reader.u16()].data()) + first);
        break;
      case Opcode::kNumber: {
        const uint32_t bits = reader.u32();
        float number = 0;
        std::memcpy(&number, &bits, sizeof(number));
        for (size_t i = 0; i < count; ++i) top[i] = number;
        top += partition.block;
        break;
      }
      case Opcode::kAdd: {
        top -= partition.block;
        float* const a = top - partition.block;
        for (size_t i = 0; i < count; ++i) a[i] += top[i];
        break;
      }
      case Opcode::kSub: {
        top -= partition.block;
        float* const a = top - partition.block;
        for (size_t i = 0; i < count; ++i) a[i] -= top[i];
        break;
      }
      case Opcode::kMul: {
        top -= partition.block;
        float* const a = top - partition.block;
        for (size_t i = 0; i < count; ++i) a[i] *= top[i];
        break;
      }
      case Opcode::kRelu: {
        float* const a = top - partition.block;
        for (size_t i = 0; i < count; ++i) a[i] = a[i] < 0 ? 0 : a[i];
        break;
      }
      case Opcode::kSave:
        top -= partition.block;
        std::memcpy(slot(reader.u16()), top, bytes);
        break;
      case Opcode::kLoad:
        push(slot(reader.u16()));
        break;
      case Opcode::kOutput:
        top -= partition.block;
        std::memcpy(partition.arguments[partition.header.inputs + reader.u16()] + first, top,
                    bytes);
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
  PETREL_ASSIGN_OR_RETURN(void* place, context.get_runtime_allocator()->allocate_bytes(
                                           sizeof(Partition), alignof(Partition)));
  Partition* const partition = new (place) Partition;
  partition->header = header;
  Error error = read_block(context, compile_specs, &partition->block);
  if (error == Error::Ok) error = read_partition(context, reader, partition);
  if (error != Error::Ok) {
    destroy(partition);
    return error;
  }
  processed->free();
  return static_cast<runtime::DelegateHandle*>(partition);
}

Error BytecodeBackend::execute(runtime::BackendExecutionContext& context,
                               runtime::DelegateHandle* handle, Span<EValue*> args) const {
  Partition& partition = *static_cast<Partition*>(handle);
  if (args.size() != partition.arguments.size()) {
    PETREL_LOG(Error, "%s: there are %zu arguments, must be %zu", kBackendId, args.size(),
               partition.arguments.size());
    return Error::InvalidArgument;
  }
  size_t elements = partition.header.elements;
  if (partition.header.elements == kVaryingElements) {
    PETREL_ASSIGN_OR_RETURN(elements, resize_to_first_input(args, partition.header));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(partition.arguments[i],
                            argument_data(args, i, elements, i >= partition.header.inputs));
  }
  // A byte of code is an instruction at most, and each goes through all elements.
  if (context.work() != nullptr) {
    PETREL_RETURN_IF_ERROR(context.work()->take(
        kBackendId, runtime::saturating_product(partition.code.size(), elements)));
  }
  PETREL_ASSIGN_OR_RETURN(
      void* const blocks,
      context.allocate((partition.header.locals + kMaxDepth) * partition.block * sizeof(float)));
  for (size_t first = 0; first < elements; first += partition.block) {
    const size_t left = elements - first;
    run_block(partition, first, left < partition.block ? left : partition.block,
              static_cast<float*>(blocks));
  }
  return Error::Ok;
}

Result<size_t> BytecodeBackend::num_outputs(runtime::DelegateHandle* handle) const {
  return size_t{static_cast<const Partition*>(handle)->header.outputs};
}

void BytecodeBackend::destroy(runtime::DelegateHandle* handle) const {
  // The memory is the method's; only the blobs are given back.
  for (FreeableBuffer& blob : static_cast<Partition*>(handle)->blobs) blob.free();
}

runtime::Backend bytecode_backend() {
  static BytecodeBackend backend;
  return {kBackendId, &backend};
}

}  // namespace petrel::backends::bytecode
