// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/method_builder.h"

#include <cstring>
#include <new>

#include "runtime/core/log.h"
#include "runtime/executor/merged_data_map.h"
#include "runtime/executor/prim_ops.h"
#include "runtime/program/program_verifier.h"
#include "schema/additions_generated.h"

namespace petrel::runtime {
namespace fb = schema::program;

namespace {

template <typename T>
uint32_t size_of(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// "name.overload"; the verifier made sure that it fits.
struct OperatorName {
  explicit OperatorName(const fb::Operator& op) {
    size_t length = op.name()->size();
    std::memcpy(text, op.name()->c_str(), length);
    const uint32_t overload_length = op.overload() == nullptr ? 0 : op.overload()->size();
    if (overload_length != 0) {
      text[length++] = '.';
      std::memcpy(text + length, op.overload()->c_str(), overload_length);
      length += overload_length;
    }
    text[length] = '\0';
    size = length;
  }
  std::string_view view() const { return {text, size}; }

  char text[kMaxOperatorNameLength + 1];
  size_t size;
};

const Kernel* find_kernel(const Registry* registry, std::string_view name) {
  const Kernel* const kernel = registry == nullptr ? nullptr : registry->find_kernel(name);
  if (kernel != nullptr) return kernel;
  for (const Kernel& prim : prim_kernels()) {
    if (name == prim.name) return &prim;
  }
  return nullptr;
}

}  // namespace

MethodBuilder::MethodBuilder(const Program& program, const fb::ExecutionPlan& plan,
                             MemoryManager* memory, EventTracer* event_tracer,
                             const NamedDataMap* named_data_map,
                             const LoadBackendOptionsMap* backend_options)
    : program_(program),
      plan_(plan),
      allocator_(memory->method_allocator()),
      external_map_(named_data_map),
      backend_options_(backend_options),
      method_(&program, &plan, memory, event_tracer) {}

Result<Method> MethodBuilder::build() {
  if (method_.event_tracer_ != nullptr) method_.event_tracer_->create_event_block("load");
  PETREL_RETURN_IF_ERROR(find_kernels());
  PETREL_RETURN_IF_ERROR(find_backends());
  PETREL_RETURN_IF_ERROR(make_values());
  PETREL_RETURN_IF_ERROR(make_data_map());
  PETREL_RETURN_IF_ERROR(make_delegates());
  PETREL_RETURN_IF_ERROR(make_chains());
  return std::move(method_);
}

Error MethodBuilder::find_kernels() {
  const uint32_t count = size_of(plan_.operators());
  PETREL_ASSIGN_OR_RETURN(kernels_, allocator_->allocate_list<const Kernel*>(count));
  for (uint32_t i = 0; i < count; ++i) {
    const OperatorName name(*plan_.operators()->Get(i));
    kernels_[i] = find_kernel(program_.options().registry, name.view());
  }
  // An operator that is listed but never called may be missing.
  static constexpr Kernel kReported = {"", nullptr};
  bool missing = false;
  for (const fb::Chain* chain : *plan_.chains()) {
    for (uint32_t i = 0; i < size_of(chain->instructions()); ++i) {
      const auto* const call = chain->instructions()->Get(i)->instr_args_as_KernelCall();
      if (call == nullptr) continue;
      const auto op = static_cast<uint32_t>(call->op_index());
      if (kernels_[op] == nullptr) {
        const OperatorName name(*plan_.operators()->Get(op));
        PETREL_LOG(Error, "method \"%.64s\" needs kernel %s, which is not in this binary",
                   plan_.name()->c_str(), name.text);
        kernels_[op] = &kReported;
        missing = true;
      }
    }
  }
  return missing ? Error::OperatorMissing : Error::Ok;
}

Error MethodBuilder::find_backends() {
  const Registry* const registry = program_.options().registry;
  const uint32_t count = size_of(plan_.delegates());
  PETREL_ASSIGN_OR_RETURN(backends_, allocator_->allocate_list<BackendInterface*>(count));
  Error result = Error::Ok;
  for (uint32_t i = 0; i < count; ++i) {
    const char* const id = plan_.delegates()->Get(i)->id()->c_str();
    backends_[i] = registry == nullptr ? nullptr : registry->find_backend(id);
    if (backends_[i] == nullptr) {
      PETREL_LOG(Error, "method \"%.64s\" needs backend %.64s, which is not in this binary",
                 plan_.name()->c_str(), id);
      result = Error::NotFound;
    } else if (!backends_[i]->is_available()) {
      PETREL_LOG(Error, "method \"%.64s\" needs backend %.64s, which cannot run on this machine",
                 plan_.name()->c_str(), id);
      if (result == Error::Ok) result = Error::NotSupported;
    }
  }
  return result;
}

Error MethodBuilder::make_data_map() {
  const Result<const NamedDataMap*> own = program_.get_named_data_map();
  if (!own.ok()) {
    method_.data_map_ = external_map_;
    return Error::Ok;
  }
  if (external_map_ == nullptr) {
    method_.data_map_ = *own;
    return Error::Ok;
  }
  // Never destroyed: it owns nothing.
  PETREL_ASSIGN_OR_RETURN(Span<MergedDataMap> room, allocator_->allocate_list<MergedDataMap>(1));
  method_.data_map_ =
      new (room.data()) MergedDataMap(*external_map_, **own, program_.options().data_precedence);
  return Error::Ok;
}

Error MethodBuilder::make_delegates() {
  const uint32_t count = size_of(plan_.delegates());
  PETREL_ASSIGN_OR_RETURN(Span<MethodDelegate> room,
                          allocator_->allocate_list<MethodDelegate>(count));
  for (uint32_t i = 0; i < count; ++i) {
    MethodDelegate* const delegate = new (&room[i]) MethodDelegate();
    const Error error = make_delegate(i, delegate);
    if (error != Error::Ok) {
      delegate->~MethodDelegate();
      return error;
    }
    method_.delegates_ = room.first(i + 1);
  }
  return Error::Ok;
}

Error MethodBuilder::make_delegate(size_t index, MethodDelegate* to) {
  const fb::BackendDelegate& from = *plan_.delegates()->Get(static_cast<uint32_t>(index));
  to->backend = backends_[index];
  to->name = from.id()->c_str();
  PETREL_ASSIGN_OR_RETURN(to->payload, program_.load_delegate_data(plan_, index));
  PETREL_ASSIGN_OR_RETURN(Span<CompileSpec> specs,
                          allocator_->allocate_list<CompileSpec>(size_of(from.compile_specs())));
  for (uint32_t i = 0; i < specs.size(); ++i) {
    const fb::CompileSpec& spec = *from.compile_specs()->Get(i);
    specs[i].key = spec.key()->c_str();
    specs[i].value.nbytes = size_of(spec.value());
    specs[i].value.buffer = spec.value() == nullptr ? nullptr : spec.value()->data();
  }
  Span<const BackendOption> options;
  if (backend_options_ != nullptr) options = backend_options_->get_options(to->name);
  BackendInitContext context(allocator_, method_.event_tracer_, plan_.name()->c_str(),
                             method_.data_map_, options);
  Result<DelegateHandle*> handle = to->backend->init(context, &to->payload, specs);
  if (!handle.ok()) {
    PETREL_LOG(Error, "method \"%.64s\": backend %.64s cannot use the payload of delegate %zu: %s",
               plan_.name()->c_str(), to->name, index, to_string(handle.error()));
    return handle.error();
  }
  to->handle = *handle;
  return Error::Ok;
}

Error MethodBuilder::make_chains() {
  const uint32_t count = plan_.chains()->size();
  PETREL_ASSIGN_OR_RETURN(method_.chains_, allocator_->allocate_list<MethodChain>(count));
  for (uint32_t i = 0; i < count; ++i) new (&method_.chains_[i]) MethodChain();
  for (uint32_t i = 0; i < count; ++i) {
    const auto* const instructions = plan_.chains()->Get(i)->instructions();
    PETREL_ASSIGN_OR_RETURN(Span<MethodStep> steps,
                            allocator_->allocate_list<MethodStep>(size_of(instructions)));
    for (uint32_t k = 0; k < steps.size(); ++k) {
      new (&steps[k]) MethodStep();
      PETREL_RETURN_IF_ERROR(make_step(*instructions->Get(k), &steps[k]));
      PETREL_RETURN_IF_ERROR(find_scratch(i, k, &steps[k]));
    }
    method_.chains_[i].steps = steps;
  }
  return Error::Ok;
}

Error MethodBuilder::make_step(const fb::Instruction& from, MethodStep* to) {
  const auto value = [this](int32_t index) { return &method_.values_[static_cast<size_t>(index)]; };
  switch (from.instr_args_type()) {
    case fb::InstructionArguments::KernelCall: {
      const fb::KernelCall& call = *from.instr_args_as_KernelCall();
      to->kind = MethodStep::Kind::Kernel;
      to->kernel = kernels_[static_cast<size_t>(call.op_index())];
      return make_args(call.args(), &to->args);
    }
    case fb::InstructionArguments::DelegateCall: {
      const fb::DelegateCall& call = *from.instr_args_as_DelegateCall();
      to->kind = MethodStep::Kind::Delegate;
      to->target = static_cast<size_t>(call.delegate_index());
      return make_args(call.args(), &to->args);
    }
    case fb::InstructionArguments::MoveCall:
      to->kind = MethodStep::Kind::Move;
      to->from = value(from.instr_args_as_MoveCall()->move_from());
      to->to = value(from.instr_args_as_MoveCall()->move_to());
      return Error::Ok;
    case fb::InstructionArguments::JumpFalseCall: {
      const fb::JumpFalseCall& call = *from.instr_args_as_JumpFalseCall();
      to->kind = MethodStep::Kind::Jump;
      to->from = value(call.cond_value_index());
      to->target = static_cast<size_t>(call.destination_instruction());
      return Error::Ok;
    }
    case fb::InstructionArguments::FreeCall:
      to->kind = MethodStep::Kind::Free;
      to->from = value(from.instr_args_as_FreeCall()->value_index());
      return Error::Ok;
    default:
      return Error::Internal;  // The verifier refused the program.
  }
}

Error MethodBuilder::find_scratch(uint32_t chain, uint32_t instruction, MethodStep* to) {
  const schema::additions::ScratchPlace* const place =
      program_.additions().find_scratch(plan_, chain, instruction);
  if (place == nullptr || place->size() == 0) return Error::Ok;
  HierarchicalAllocator* const arenas = method_.memory_->planned_memory();
  if (arenas == nullptr) return Error::Ok;
  const auto size = static_cast<size_t>(place->size());
  PETREL_ASSIGN_OR_RETURN(void* const memory,
                          arenas->get_offset_address(place->memory_id() - 1,
                                                     static_cast<size_t>(place->offset()), size));
  to->scratch = Span<uint8_t>(static_cast<uint8_t*>(memory), size);
  return Error::Ok;
}

Error MethodBuilder::make_args(const flatbuffers::Vector<int32_t>* indices, Span<EValue*>* to) {
  PETREL_ASSIGN_OR_RETURN(*to, allocator_->allocate_list<EValue*>(size_of(indices)));
  for (uint32_t i = 0; i < to->size(); ++i) {
    (*to)[i] = &method_.values_[static_cast<size_t>(indices->Get(i))];
  }
  return Error::Ok;
}

}  // namespace petrel::runtime
