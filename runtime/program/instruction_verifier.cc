// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/log.h"
#include "runtime/core/result.h"
#include "runtime/program/flat_parts.h"
#include "runtime/program/program_verifier.h"
#include "schema/formats.h"
#include "schema/method_limits.h"
#include "schema/program_generated.h"

namespace petrel::runtime {
namespace fb = schema::program;

namespace {

constexpr size_t kMaxBackendNameLength = 255;

class InstructionVerifier final {
 public:
  explicit InstructionVerifier(const PlanContext& context)
      : context_(context),
        plan_(*context.plan),
        method_(plan_.name()->c_str()),
        num_values_(size_of(plan_.values())),
        num_operators_(size_of(plan_.operators())),
        num_delegates_(size_of(plan_.delegates())) {}

  Error verify_plan() {
    PETREL_RETURN_IF_ERROR(verify_operators());
    PETREL_RETURN_IF_ERROR(verify_delegates());
    PETREL_RETURN_IF_ERROR(verify_indices(items_of(plan_.inputs()), "input"));
    PETREL_RETURN_IF_ERROR(verify_indices(items_of(plan_.outputs()), "output"));
    if (size_of(plan_.chains()) == 0) {
      PETREL_LOG(Error, "method \"%.64s\": it has no chain of instructions", method_);
      return Error::InvalidProgram;
    }
    for (chain_ = 0; chain_ < size_of(plan_.chains()); ++chain_) {
      const auto* const instructions = entry(plan_.chains(), chain_).instructions();
      const uint32_t count = size_of(instructions);
      for (instruction_ = 0; instruction_ < count; ++instruction_) {
        PETREL_RETURN_IF_ERROR(verify_instruction(entry(instructions, instruction_), count));
      }
    }
    return Error::Ok;
  }

 private:
  Error verify_operators() {
    for (uint32_t i = 0; i < num_operators_; ++i) {
      const fb::Operator& op = entry(plan_.operators(), i);
      if (!is_name(op.name(), schema::kMaxOperatorNameBytes) ||
          (op.overload() != nullptr && !is_c_text(op.overload(), schema::kMaxOperatorNameBytes)) ||
          op.name()->size() + 1 + size_of(op.overload()) > schema::kMaxOperatorNameBytes) {
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
    for (uint32_t i = 0; i < num_delegates_; ++i) {
      const fb::BackendDelegate& delegate = entry(plan_.delegates(), i);
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
      const fb::CompileSpec& spec = entry(delegate.compile_specs(), k);
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

  Error verify_indices(Span<const int32_t> indices, const char* what) {
    if (indices.size() > schema::kMaxInputs) {
      PETREL_LOG(Error, "method \"%.64s\": it has %zu %ss, must have at most %u", method_,
                 indices.size(), what, schema::kMaxInputs);
      return Error::InvalidProgram;
    }
    const size_t wrong = find_no_value(indices);
    if (wrong == indices.size()) return Error::Ok;
    PETREL_LOG(Error, "method \"%.64s\": %s %zu is value %d, must be in [0, %u)", method_, what,
               wrong, indices[wrong], num_values_);
    return Error::InvalidProgram;
  }

  Error verify_instruction(const fb::Instruction& instruction, uint32_t num_instructions) {
    using Kind = InstructionView::Kind;
    if (instruction.instr_args() == nullptr) {
      PETREL_LOG(Error, "method \"%.64s\": instruction %u:%u has type %d, but no content", method_,
                 chain_, instruction_, static_cast<int>(instruction.instr_args_type()));
      return Error::InvalidProgram;
    }
    if (instruction.instr_args_type() == fb::InstructionArguments::NONE ||
        instruction.instr_args_type() > fb::InstructionArguments::MAX) {
      PETREL_LOG(Error, "method \"%.64s\": instruction %u:%u has unknown type %d", method_, chain_,
                 instruction_, static_cast<int>(instruction.instr_args_type()));
      return Error::InvalidProgram;
    }
    const InstructionView view = view_of(instruction);
    if (view.kind == Kind::Kernel || view.kind == Kind::Delegate) {
      const bool is_kernel = view.kind == Kind::Kernel;
      PETREL_RETURN_IF_ERROR(verify_index(view.target, is_kernel ? num_operators_ : num_delegates_,
                                          is_kernel ? "operator" : "delegate"));
      return verify_arguments(view.args);
    }
    PETREL_RETURN_IF_ERROR(verify_index(view.from, num_values_, "value"));
    if (view.kind == Kind::Move) {
      PETREL_RETURN_IF_ERROR(verify_index(view.to, num_values_, "value"));
      return verify_move(view.from, view.to);
    }
    // One past the last instruction ends the chain.
    if (view.kind == Kind::Jump) {
      return verify_index(view.target, num_instructions + 1, "destination");
    }
    return Error::Ok;
  }

  // What is declared of a value must hold of whatever is moved there: whoever
  // sets inputs and takes outputs goes by the declaration.
  Error verify_move(uint32_t from, uint32_t to) {
    if (from == to) return Error::Ok;
    const fb::EValue& source = entry(plan_.values(), from);
    const fb::EValue& target = entry(plan_.values(), to);
    const char* wrong = nullptr;
    if (source.val_type() != target.val_type()) {
      wrong = "which has another type";
    } else if (const fb::Tensor* const tensor = target.val_as_Tensor(); tensor != nullptr) {
      wrong = find_difference(*source.val_as_Tensor(), *tensor);
    }
    const Span<const int32_t> inputs = items_of(plan_.inputs());
    if (!context_.visits->spend(inputs.size())) {
      PETREL_LOG(Error, "method \"%.64s\": it has too many moves for its %zu inputs", method_,
                 inputs.size());
      return Error::InvalidProgram;
    }
    for (const int32_t input : inputs) {
      if (wrong == nullptr && static_cast<uint32_t>(input) == to) wrong = "which is an input";
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
    if (size_of(from.sizes()) != size_of(to.sizes())) return "which has another rank";
    const bool is_same = items_of(from.dim_order()) == items_of(to.dim_order());
    return is_same ? nullptr : "which has another dim order";
  }

  Error verify_arguments(Span<const int32_t> args) {
    const size_t wrong = find_no_value(args);
    if (wrong == args.size()) return Error::Ok;
    PETREL_LOG(Error,
               "method \"%.64s\": argument %zu of instruction %u:%u is value %d, must be in "
               "[0, %u)",
               method_, wrong, chain_, instruction_, args[wrong], num_values_);
    return Error::InvalidProgram;
  }

  // A negative one is far above.
  Error verify_index(uint32_t index, uint32_t limit, const char* what) {
    if (index < limit) return Error::Ok;
    PETREL_LOG(Error, "method \"%.64s\": instruction %u:%u names %s %d, must be in [0, %u)",
               method_, chain_, instruction_, what, static_cast<int>(index), limit);
    return Error::InvalidProgram;
  }

  // The place of the first index that is not one of a value; how many there are if all are.
  size_t find_no_value(Span<const int32_t> indices) const {
    size_t i = 0;
    while (i < indices.size() && static_cast<uint32_t>(indices[i]) < num_values_) ++i;
    return i;
  }

  const PlanContext& context_;
  const fb::ExecutionPlan& plan_;
  const char* method_;
  const uint32_t num_values_;
  const uint32_t num_operators_;
  const uint32_t num_delegates_;
  uint32_t chain_ = 0;
  uint32_t instruction_ = 0;
};

}  // namespace

Error verify_instructions(const PlanContext& context) {
  return InstructionVerifier(context).verify_plan();
}

}  // namespace petrel::runtime
