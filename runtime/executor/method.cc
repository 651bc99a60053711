// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/method.h"

#include <cstring>
#include <new>
#include <optional>
#include <type_traits>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/executor/method_step.h"
#include "runtime/executor/program.h"

namespace petrel::runtime {

namespace {

// Tells the tracer about one event, if there is a tracer.
class TracedEvent final {
 public:
  TracedEvent(EventTracer* tracer, const char* name, size_t chain, size_t instruction)
      : tracer_(tracer) {
    if (tracer_ != nullptr) {
      entry_ = tracer_->start_profiling(name, static_cast<uint32_t>(chain),
                                        static_cast<uint32_t>(instruction));
    }
  }
  ~TracedEvent() {
    if (tracer_ != nullptr) tracer_->end_profiling(entry_);
  }
  TracedEvent(const TracedEvent&) = delete;
  TracedEvent& operator=(const TracedEvent&) = delete;

 private:
  EventTracer* tracer_;
  EventTracerEntry entry_;
};

// Whether a jump is not taken: true, or a tensor of true only.
Error find_truth(const EValue& condition, bool* is_true) {
  if (condition.isBool()) {
    *is_true = condition.toBool();
    return Error::Ok;
  }
  const Result<Tensor> tensor = condition.tryToTensor();
  if (!tensor.ok() || tensor->scalar_type() != ScalarType::Bool || tensor->numel() == 0 ||
      tensor->const_data_ptr() == nullptr) {
    return Error::InvalidProgram;
  }
  const auto* const bytes = tensor->const_data_ptr<uint8_t>();
  size_t i = 0;
  while (i < tensor->numel() && bytes[i] != 0) ++i;
  *is_true = i == tensor->numel();
  return Error::Ok;
}

// How often a loop over a tensor runs, where a size of 0 counts as 1.
uint64_t extent_of(const Tensor& tensor) {
  size_t extent = 0;
  return checked_extent(tensor.sizes(), &extent) ? extent : UINT64_MAX;
}

// The same for all tensors of a value. A list with other entries counts nothing:
// its kernel will refuse it.
uint64_t extent_of(const EValue& value) {
  uint64_t sum = 0;
  if (value.isTensor()) return extent_of(value.toTensor());
  if (value.isTensorList()) {
    const Result<Span<const Tensor>> list = value.tryToTensorList();
    if (!list.ok()) return 0;
    for (const Tensor& item : *list) sum = saturating_sum(sum, extent_of(item));
  } else if (value.isListOptionalTensor()) {
    const Result<Span<const std::optional<Tensor>>> list = value.tryToListOptionalTensor();
    if (!list.ok()) return 0;
    for (const std::optional<Tensor>& item : *list) {
      sum = saturating_sum(sum, item.has_value() ? extent_of(*item) : 1);
    }
  }
  return sum;
}

}  // namespace

Method::Method(Method&& other) noexcept : MethodState(other) {
  static_assert(std::is_trivially_copyable_v<MethodState>);
  static_cast<MethodLists&>(other) = {};
}

Method::~Method() {
  for (MethodDelegate& delegate : delegates_) {
    delegate.backend->destroy(delegate.handle);
    delegate.~MethodDelegate();
  }
  for (MethodExternal& external : external_data_) external.~MethodExternal();
}

Error Method::execute() {
  if (stepping_) {
    PETREL_LOG(Error, "execute was called while the method is being stepped through");
    return Error::InvalidState;
  }
  PETREL_RETURN_IF_ERROR(check_bound());
  forget(views_);
  if (event_tracer_ != nullptr) event_tracer_->create_event_block("execute");
  TracedEvent event(event_tracer_, "method", 0, EventTracer::kNoInstruction);
  rewind();
  for (; chain_ < chains_.size(); ++chain_) {
    const Span<MethodStep> steps = chains_[chain_].steps;
    instruction_ = 0;
    while (instruction_ < steps.size()) {
      size_t next = instruction_ + 1;
      const Error error = run_step(steps[instruction_], &next);
      if (error != Error::Ok) {
        restore_numbers();
        rewind();
        return error;
      }
      instruction_ = next;
    }
  }
  const Error error = check_late_outputs();
  if (error != Error::Ok) restore_numbers();
  rewind();
  return error;
}

Error Method::step() {
  if (!stepping_) {
    PETREL_RETURN_IF_ERROR(check_bound());
    forget(views_);
    rewind();
    stepping_ = true;
  }
  while (chain_ < chains_.size() && instruction_ >= chains_[chain_].steps.size()) {
    ++chain_;
    instruction_ = 0;
  }
  if (chain_ == chains_.size()) {
    const Error error = check_late_outputs();
    if (error == Error::Ok) return Error::EndOfMethod;
    restore_numbers();
    rewind();
    return error;
  }
  size_t next = instruction_ + 1;
  const Error error = run_step(chains_[chain_].steps[instruction_], &next);
  if (error != Error::Ok) {
    restore_numbers();
    rewind();
    return error;
  }
  instruction_ = next;
  return Error::Ok;
}

Error Method::reset_execution() {
  // Of a method that is not stepped through it is 0.
  if (chain_ != chains_.size()) {
    PETREL_LOG(Error, "reset_execution was called before step reached the end");
    return Error::InvalidState;
  }
  rewind();
  return Error::Ok;
}

void Method::rewind() {
  chain_ = 0;
  instruction_ = 0;
  instructions_.refill();
  work_.refill();
  stepping_ = false;
}

void set_number(const ValueView& from, EValue* to) {
  switch (from.tag()) {
    case Tag::Int:
      new (to) EValue(from.as_int());
      break;
    case Tag::Bool:
      new (to) EValue(from.as_bool());
      break;
    case Tag::Double:
      new (to) EValue(from.as_double());
      break;
    default:
      break;
  }
}

// A loop that stopped in the middle leaves its counter there, and the next
// execution would go on from it.
void Method::restore_numbers() {
  for (uint32_t i = 0; i < declared_.num_values(); ++i) {
    set_number(declared_.value(i), &values_[i]);
  }
}

Error Method::charge(const MethodStep& step) {
  uint64_t work = step.work;
  if (step.counts_callers) {
    for (const EValue* arg : step.args) work = saturating_sum(work, extent_of(*arg));
    if (step.kind == MethodStep::Kind::Jump) work = saturating_sum(work, extent_of(*step.from));
  }
  if (instructions_.spend(1) && work_.spend(work)) return Error::Ok;
  Error error = instructions_.take("an instruction of what may never end", 1);
  if (error == Error::Ok) error = work_.take("an instruction", work);
  PETREL_LOG(Error, "method \"%.64s\": instruction %zu:%zu is beyond a limit",
             declared_.name().data(), chain_, instruction_);
  return error;
}

Error Method::run_step(const MethodStep& step, size_t* next) {
  PETREL_RETURN_IF_ERROR(charge(step));
  switch (step.kind) {
    case MethodStep::Kind::Kernel:
      return run_kernel(step);
    case MethodStep::Kind::Delegate:
      return run_delegate(step);
    case MethodStep::Kind::Move:
      *step.to = *step.from;
      return Error::Ok;
    case MethodStep::Kind::Jump: {
      bool is_true = false;
      const Error error = find_truth(*step.from, &is_true);
      if (error != Error::Ok) {
        PETREL_LOG(Error,
                   "method \"%.64s\": the condition of instruction %zu:%zu is %s, must be a bool "
                   "or a tensor of bools that has some",
                   declared_.name().data(), chain_, instruction_, to_string(step.from->tag));
        return error;
      }
      if (!is_true) *next = step.target;
      return Error::Ok;
    }
    case MethodStep::Kind::Free:
      return Error::Ok;
  }
  return Error::Internal;
}

Error Method::run_kernel(const MethodStep& step) {
  MemoryAllocator* const temp = memory_->temp_allocator();
  KernelRuntimeContext context(event_tracer_, temp, step.kernel->name, step.scratch, &work_);
  {
    TracedEvent event(event_tracer_, step.kernel->name, chain_, instruction_);
    step.kernel->fn(context, step.args);
  }
  if (temp != nullptr) temp->reset();
  if (context.failure_state() == Error::Ok) return Error::Ok;
  PETREL_LOG(Error, "method \"%.64s\": instruction %zu:%zu, %s, failed: %s",
             declared_.name().data(), chain_, instruction_, step.kernel->name,
             to_string(context.failure_state()));
  return context.failure_state();
}

Error Method::run_delegate(const MethodStep& step) {
  MethodDelegate& delegate = delegates_[step.target];
  MemoryAllocator* const temp = memory_->temp_allocator();
  BackendExecutionContext context(event_tracer_, temp, declared_.name().data(),
                                  memory_->planned_memory(), &work_, &delegate_bytes_);
  Error error = Error::Ok;
  const uint64_t before = delegate_bytes_.left();
  {
    TracedEvent event(event_tracer_, delegate.name, chain_, instruction_);
    error = delegate.backend->execute(context, delegate.handle, step.args);
  }
  delegate.memory_taken += before - delegate_bytes_.left();
  if (temp != nullptr) temp->reset();
  if (error == Error::Ok) return Error::Ok;
  PETREL_LOG(Error, "method \"%.64s\": instruction %zu:%zu, backend %.64s, failed: %s",
             declared_.name().data(), chain_, instruction_, delegate.name, to_string(error));
  return error;
}

}  // namespace petrel::runtime
