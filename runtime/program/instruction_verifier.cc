// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/log.h"
#include "runtime/core/result.h"
#include "runtime/program/program_verifier.h"
#include "runtime/program/text_check.h"
#include "schema/formats.h"
#include "schema/method_limits.h"
#include "schema/program_generated.h"

namespace petrel::runtime {
namespace fb = schema::program;

namespace {

constexpr size_t kMaxBackendNameLength = 255;

template <typename T>
uint32_t size_of(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

class InstructionVerifier final {
 public:
  explicit InstructionVerifier(const PlanContext& context)
      : context_(context),
        plan_(*context.plan),
        method_(plan_.name()->c_str()),
        num_values_(size_of(plan_.values())) {}

  Error verify_plan() {
    PETREL_RETURN_IF_ERROR(verify_operators());
    PETREL_RETURN_IF_ERROR(verify_delegates());
    PETREL_RETURN_IF_ERROR(verify_indices(plan_.inputs(), "input"));
    PETREL_RETURN_IF_ERROR(verify_indices(plan_.outputs(), "output"));
    if (size_of(plan_.chains()) == 0) {
      PETREL_LOG(Error, "method \"%.64s\": it has no chain of instructions", method_);
      return Error::InvalidProgram;
    }
    for (chain_ = 0; chain_ < plan_.chains()->size(); ++chain_) {
      const auto* instructions = plan_.chains()->Get(chain_)->instructions();
      for (instruction_ = 0; instruction_ < size_of(instructions); ++instruction_) {
        PETREL_RETURN_IF_ERROR(
            verify_instruction(*instructions->Get(instruction_), instructions->size()));
      }
    }
    return Error::Ok;
  }

 private:
  Error verify_operators() {
    for (uint32_t i = 0; i < size_of(plan_.operators()); ++i) {
      const fb::Operator& op = *plan_.operators()->Get(i);
      const size_t overload_length = op.overload() == nullptr ? 0 : op.overload()->size();
      if (!is_name(op.name(), schema::kMaxOperatorNameBytes) ||
          (op.overload() != nullptr && !is_c_text(op.overload(), schema::kMaxOperatorNameBytes)) ||
          op.name()->size() + 1 + overload_length > schema::kMaxOperatorNameBytes) {
        PETREL_LOG(Error,
                   "method \"%.64s\": the name of operator %u is missing, empty, longer than %zu "
                   "bytes or contains a NUL",
                   method_, i, schema::kMaxOperatorNameBytes);
        return Error::InvalidProgram;
      }
    }
    return Error::Ok;
  }

  Error verify_delegates() {
    for (uint32_t i = 0; i < size_of(plan_.delegates()); ++i) {
      const fb::BackendDelegate& delegate = *plan_.delegates()->Get(i);
      if (!is_name(delegate.id(), kMaxBackendNameLength)) {
        PETREL_LOG(Error,
                   "method \"%.64s\": the backend of delegate %u is missing, empty, too long or "
                   "contains a NUL",
                   method_, i);
        return Error::InvalidProgram;
      }
      PETREL_RETURN_IF_ERROR(verify_payload(delegate, i));
      PETREL_RETURN_IF_ERROR(verify_compile_specs(delegate, i));
    }
    return Error::Ok;
  }

  Error verify_payload(const fb::BackendDelegate& delegate, uint32_t i) {
    const fb::BackendDelegateDataReference* const payload = delegate.processed();
    if (payload == nullptr) {
      PETREL_LOG(Error, "method \"%.64s\": delegate %u has no payload", method_, i);
      return Error::InvalidProgram;
    }
    uint32_t limit = 0;
    switch (payload->location()) {
      case fb::DataLocation::INLINE:
        limit = size_of(context_.program->backend_delegate_data());
        break;
      case fb::DataLocation::SEGMENT:
        limit = size_of(context_.program->segments());
        break;
      default:
        PETREL_LOG(Error, "method \"%.64s\": the payload of delegate %u has unknown location %d",
                   method_, i, static_cast<int>(payload->location()));
        return Error::InvalidProgram;
    }
    if (payload->index() < limit) return Error::Ok;
    PETREL_LOG(Error, "method \"%.64s\": the payload of delegate %u is number %u, but there are %u",
               method_, i, payload->index(), limit);
    return Error::InvalidProgram;
  }

  Error verify_compile_specs(const fb::BackendDelegate& delegate, uint32_t i) {
    const uint32_t count = size_of(delegate.compile_specs());
    for (uint32_t k = 0; k < count; ++k) {
      const fb::CompileSpec& spec = *delegate.compile_specs()->Get(k);
      if (!is_c_text(spec.key(), schema::kMaxKeyBytes)) {
        PETREL_LOG(Error,
                   "method \"%.64s\": the key of compile spec %u of delegate %u is missing, too "
                   "long or contains a NUL",
                   method_, k, i);
        return Error::InvalidProgram;
      }
    }
    return Error::Ok;
  }

  Error verify_indices(const flatbuffers::Vector<int32_t>* indices, const char* what) {
    if (size_of(indices) > schema::kMaxInputs) {
      PETREL_LOG(Error, "method \"%.64s\": it has %u %ss, must have at most %u", method_,
                 indices->size(), what, schema::kMaxInputs);
      return Error::InvalidProgram;
    }
    for (uint32_t i = 0; i < size_of(indices); ++i) {
      if (is_value(indices->Get(i))) continue;
      PETREL_LOG(Error, "method \"%.64s\": %s %u is value %d, must be in [0, %u)", method_, what, i,
                 indices->Get(i), num_values_);
      return Error::InvalidProgram;
    }
    return Error::Ok;
  }

  Error verify_instruction(const fb::Instruction& instruction, uint32_t num_instructions) {
    if (instruction.instr_args() == nullptr) {
      PETREL_LOG(Error, "method \"%.64s\": instruction %u:%u has type %d, but no content", method_,
                 chain_, instruction_, static_cast<int>(instruction.instr_args_type()));
      return Error::InvalidProgram;
    }
    switch (instruction.instr_args_type()) {
      case fb::InstructionArguments::KernelCall: {
        const fb::KernelCall& call = *instruction.instr_args_as_KernelCall();
        PETREL_RETURN_IF_ERROR(
            verify_index(call.op_index(), size_of(plan_.operators()), "operator"));
        return verify_arguments(call.args());
      }
      case fb::InstructionArguments::DelegateCall: {
        const fb::DelegateCall& call = *instruction.instr_args_as_DelegateCall();
        PETREL_RETURN_IF_ERROR(
            verify_index(call.delegate_index(), size_of(plan_.delegates()), "delegate"));
        return verify_arguments(call.args());
      }
      case fb::InstructionArguments::MoveCall: {
        const fb::MoveCall& call = *instruction.instr_args_as_MoveCall();
        PETREL_RETURN_IF_ERROR(verify_index(call.move_from(), num_values_, "value"));
        PETREL_RETURN_IF_ERROR(verify_index(call.move_to(), num_values_, "value"));
        return verify_move(static_cast<uint32_t>(call.move_from()),
                           static_cast<uint32_t>(call.move_to()));
      }
      case fb::InstructionArguments::JumpFalseCall: {
        const fb::JumpFalseCall& call = *instruction.instr_args_as_JumpFalseCall();
        PETREL_RETURN_IF_ERROR(verify_index(call.cond_value_index(), num_values_, "value"));
        // One past the last instruction ends the chain.
        return verify_index(call.destination_instruction(), num_instructions + 1, "destination");
      }
      case fb::InstructionArguments::FreeCall:
        return verify_index(instruction.instr_args_as_FreeCall()->value_index(), num_values_,
                            "value");
      default:
        PETREL_LOG(Error, "method \"%.64s\": instruction %u:%u has unknown type %d", method_,
                   chain_, instruction_, static_cast<int>(instruction.instr_args_type()));
        return Error::InvalidProgram;
    }
  }

  // What is declared of a value must hold of whatever is moved there: whoever
  // sets inputs and takes outputs goes by the declaration.
  Error verify_move(uint32_t from, uint32_t to) {
    if (from == to) return Error::Ok;
    const fb::EValue& source = *plan_.values()->Get(from);
    const fb::EValue& target = *plan_.values()->Get(to);
    const char* wrong = nullptr;
    if (source.val_type() != target.val_type()) {
      wrong = "which has another type";
    } else if (const fb::Tensor* const tensor = target.val_as_Tensor(); tensor != nullptr) {
      wrong = find_difference(*source.val_as_Tensor(), *tensor);
    }
    const uint32_t num_inputs = size_of(plan_.inputs());
    if (!context_.visits->spend(num_inputs)) {
      PETREL_LOG(Error, "method \"%.64s\": it has too many moves for its %u inputs", method_,
                 num_inputs);
      return Error::InvalidProgram;
    }
    for (uint32_t i = 0; wrong == nullptr && i < num_inputs; ++i) {
      if (static_cast<uint32_t>(plan_.inputs()->Get(i)) == to) wrong = "which is an input";
    }
    if (wrong == nullptr) return Error::Ok;
    PETREL_LOG(Error, "method \"%.64s\": instruction %u:%u moves value %u to value %u, %s", method_,
               chain_, instruction_, from, to, wrong);
    return Error::InvalidProgram;
  }

  // Null if a tensor may be moved to the place of another.
  static const char* find_difference(const fb::Tensor& from, const fb::Tensor& to) {
    const bool external = to.extra_tensor_info() != nullptr &&
                          to.extra_tensor_info()->location() == fb::TensorDataLocation::EXTERNAL;
    if (to.allocation_info() == nullptr && (to.data_buffer_idx() != 0 || external)) {
      return "which is a constant";
    }
    if (from.scalar_type() != to.scalar_type()) return "which has another scalar type";
    if (from.sizes()->size() != to.sizes()->size()) return "which has another rank";
    for (uint32_t i = 0; i < from.dim_order()->size(); ++i) {
      if (from.dim_order()->Get(i) != to.dim_order()->Get(i)) return "which has another dim order";
    }
    return nullptr;
  }

  Error verify_arguments(const flatbuffers::Vector<int32_t>* args) {
    for (uint32_t i = 0; i < size_of(args); ++i) {
      if (is_value(args->Get(i))) continue;
      PETREL_LOG(Error,
                 "method \"%.64s\": argument %u of instruction %u:%u is value %d, must be in "
                 "[0, %u)",
                 method_, i, chain_, instruction_, args->Get(i), num_values_);
      return Error::InvalidProgram;
    }
    return Error::Ok;
  }

  Error verify_index(int32_t index, uint32_t limit, const char* what) {
    if (index >= 0 && static_cast<uint32_t>(index) < limit) return Error::Ok;
    PETREL_LOG(Error, "method \"%.64s\": instruction %u:%u names %s %d, must be in [0, %u)",
               method_, chain_, instruction_, what, index, limit);
    return Error::InvalidProgram;
  }

  bool is_value(int32_t index) const {
    return index >= 0 && static_cast<uint32_t>(index) < num_values_;
  }

  const PlanContext& context_;
  const fb::ExecutionPlan& plan_;
  const char* method_;
  const uint32_t num_values_;
  uint32_t chain_ = 0;
  uint32_t instruction_ = 0;
};

}  // namespace

Error verify_instructions(const PlanContext& context) {
  return InstructionVerifier(context).verify_plan();
}

}  // namespace petrel::runtime
