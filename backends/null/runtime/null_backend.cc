// SPDX-License-Identifier: Apache-2.0
#include "backends/null/runtime/null_backend.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "backends/null/format/payload.h"
#include "runtime/backend/known_options.h"
#include "runtime/core/budget.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/data_loader.h"

namespace petrel::backends::null {
namespace {

using runtime::Budget;
using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;
using runtime::MemoryAllocator;
using runtime::Result;
using runtime::Span;
using runtime::Tensor;

struct Value {
  Line line;
  size_t elements = 0;
  FreeableBuffer blob;          // of named data
  float* scratch = nullptr;     // of computed values
  const float* data = nullptr;  // during execute
};

struct Partition {
  Span<Value> values;
  Span<size_t> outputs;  // values that leave
  size_t num_inputs = 0;
};

Error damaged(size_t line, const char* what) {
  PETREL_LOG(Error, "null backend: line %zu of the payload %s", line, what);
  return Error::InvalidProgram;
}

// What a few bytes of a payload ask for is taken from what the app allows: its file does not
// decide how much memory and time there is.
Error take(Budget* budget, const char* what, uint64_t count, uint64_t each) {
  if (budget == nullptr) return Error::Ok;
  return budget->take(what, runtime::saturating_product(count, each));
}

// Counts the lines of each sort, so that memory can be taken at once.
Error count_lines(std::string_view text, size_t* values, size_t* outputs) {
  PayloadReader reader(text);
  if (!reader.read_first_line()) {
    PETREL_LOG(Error, "null backend: the payload does not begin with 'null 1'");
    return Error::DelegateInvalidCompatibility;
  }
  Line line;
  while (reader.next(&line)) ++(line.is_value() ? *values : *outputs);
  if (reader.is_malformed()) {
    return damaged(*values + *outputs + 2, "is malformed");
  }
  return Error::Ok;
}

Error load_blob(const runtime::NamedDataMap* map, size_t line, Value* value) {
  if (map == nullptr) return damaged(line, "needs named data, but no map was given");
  PETREL_ASSIGN_OR_RETURN(value->blob, map->get_data(value->line.key));
  size_t bytes = 0;
  if (!runtime::checked_mul(value->elements, sizeof(float), &bytes) || value->blob.size() < bytes) {
    return damaged(line, "wants more elements than the named data have");
  }
  value->data = static_cast<const float*>(value->blob.data());
  return Error::Ok;
}

Error read_value(runtime::BackendInitContext& context, size_t line, size_t index,
                 Partition* partition) {
  Value& value = partition->values[index];
  switch (value.line.kind) {
    case Line::Kind::kInput:
      value.elements = value.line.first;
      ++partition->num_inputs;
      return Error::Ok;
    case Line::Kind::kBlob:
      value.elements = value.line.first;
      return load_blob(context.get_named_data_map(), line, &value);
    default:
      break;
  }
  if (value.line.first >= index || value.line.second >= index) {
    return damaged(line, "uses a value before it is there");
  }
  value.elements = partition->values[value.line.first].elements;
  if (value.elements != partition->values[value.line.second].elements) {
    return damaged(line, "combines values of different sizes");
  }
  PETREL_RETURN_IF_ERROR(
      take(context.memory(), "null backend: a value", value.elements, sizeof(float)));
  PETREL_ASSIGN_OR_RETURN(const Span<float> scratch,
                          context.get_runtime_allocator()->allocate_list<float>(value.elements));
  value.scratch = scratch.data();
  return Error::Ok;
}

Error read_partition(runtime::BackendInitContext& context, std::string_view text,
                     Partition* partition) {
  PayloadReader reader(text);
  reader.read_first_line();
  Line line;
  size_t values = 0;
  size_t outputs = 0;
  while (reader.next(&line)) {
    const size_t number = values + outputs + 2;
    if (!line.is_value()) {
      if (line.first >= values) return damaged(number, "names no value");
      partition->outputs[outputs++] = line.first;
      continue;
    }
    partition->values[values].line = line;
    PETREL_RETURN_IF_ERROR(read_value(context, number, values, partition));
    ++values;
  }
  return Error::Ok;
}

// The data of argument `index`, which must hold exactly `elements` floats.
Result<float*> argument_data(Span<EValue*> args, size_t index, size_t elements, bool is_written) {
  PETREL_ASSIGN_OR_RETURN(const Tensor tensor, args[index]->tryToTensor());
  if (tensor.scalar_type() != runtime::ScalarType::Float || tensor.numel() != elements) {
    PETREL_LOG(Error, "null backend: argument %zu has %zu elements or is not float, must have %zu",
               index, tensor.numel(), elements);
    return Error::InvalidArgument;
  }
  if (elements > 0 && tensor.const_data_ptr() == nullptr) {
    PETREL_LOG(Error, "null backend: argument %zu has no data", index);
    return Error::InvalidArgument;
  }
  if (is_written && tensor.is_constant()) {
    PETREL_LOG(Error, "null backend: argument %zu is constant, must be written", index);
    return Error::InvalidArgument;
  }
  return static_cast<float*>(tensor.mutable_data_ptr());
}

void compute(const Partition& partition, const Value& value) {
  const float* a = partition.values[value.line.first].data;
  const float* b = partition.values[value.line.second].data;
  const bool is_add = value.line.kind == Line::Kind::kAdd;
  for (size_t i = 0; i < value.elements; ++i) {
    value.scratch[i] = is_add ? a[i] + b[i] : a[i] * b[i];
  }
}

}  // namespace

Result<runtime::DelegateHandle*> NullBackend::init(
    runtime::BackendInitContext& context, FreeableBuffer* processed,
    Span<const runtime::CompileSpec> /*compile_specs*/) const {
  PETREL_RETURN_IF_ERROR(
      runtime::refuse_unknown_options(kBackendId.data(), context.runtime_specs(), {}));
  // A copy: the payload may be a file that changes, and is read twice.
  MemoryAllocator& memory = *context.get_runtime_allocator();
  PETREL_ASSIGN_OR_RETURN(const Span<char> copy, memory.allocate_list<char>(processed->size()));
  if (!copy.empty()) std::memcpy(copy.data(), processed->data(), copy.size());
  const std::string_view text(copy.data(), copy.size());
  size_t values = 0;
  size_t outputs = 0;
  PETREL_RETURN_IF_ERROR(count_lines(text, &values, &outputs));
  PETREL_ASSIGN_OR_RETURN(void* place,
                          memory.allocate_bytes(sizeof(Partition), alignof(Partition)));
  Partition* partition = new (place) Partition;
  PETREL_RETURN_IF_ERROR(take(context.memory(), "null backend: its values", values, sizeof(Value)));
  PETREL_RETURN_IF_ERROR(
      take(context.memory(), "null backend: its outputs", outputs, sizeof(size_t)));
  PETREL_ASSIGN_OR_RETURN(partition->values, memory.allocate_list<Value>(values));
  PETREL_ASSIGN_OR_RETURN(partition->outputs, memory.allocate_list<size_t>(outputs));
  for (Value& value : partition->values) new (&value) Value;
  const Error error = read_partition(context, text, partition);
  if (error != Error::Ok) {
    destroy(partition);
    return error;
  }
  processed->free();
  return static_cast<runtime::DelegateHandle*>(partition);
}

Error NullBackend::execute(runtime::BackendExecutionContext& context,
                           runtime::DelegateHandle* handle, Span<EValue*> args) const {
  const Partition& partition = *static_cast<const Partition*>(handle);
  if (args.size() != partition.num_inputs + partition.outputs.size()) {
    PETREL_LOG(Error, "null backend: there are %zu arguments, must be %zu", args.size(),
               partition.num_inputs + partition.outputs.size());
    return Error::InvalidArgument;
  }
  size_t next_input = 0;
  for (Value& value : partition.values) {
    if (value.line.kind == Line::Kind::kInput) {
      PETREL_ASSIGN_OR_RETURN(
          value.data, argument_data(args, next_input, value.elements, /*is_written=*/false));
      ++next_input;
    } else if (value.line.kind != Line::Kind::kBlob) {
      PETREL_RETURN_IF_ERROR(
          take(context.work(), "null backend: a value", value.elements, /*each=*/1));
      compute(partition, value);
      value.data = value.scratch;
    }
  }
  for (size_t i = 0; i < partition.outputs.size(); ++i) {
    const Value& value = partition.values[partition.outputs[i]];
    PETREL_ASSIGN_OR_RETURN(float* const out,
                            argument_data(args, partition.num_inputs + i, value.elements,
                                          /*is_written=*/true));
    for (size_t e = 0; e < value.elements; ++e) out[e] = value.data[e];
  }
  return Error::Ok;
}

Result<size_t> NullBackend::num_outputs(runtime::DelegateHandle* handle) const {
  return static_cast<const Partition*>(handle)->outputs.size();
}

void NullBackend::destroy(runtime::DelegateHandle* handle) const {
  // The memory is the method's; only the blobs are given back.
  Partition* partition = static_cast<Partition*>(handle);
  for (Value& value : partition->values) value.blob.free();
}

runtime::Backend null_backend() {
  static NullBackend backend;
  return {kBackendId.data(), &backend};
}

}  // namespace petrel::backends::null
