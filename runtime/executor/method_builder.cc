// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/method_builder.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/executor/held_data_map.h"
#include "runtime/executor/method_data_map.h"
#include "runtime/executor/prim_ops.h"
#include "runtime/program/program_verifier.h"

namespace petrel::runtime {

namespace {

// "name.overload"; the verifier made sure that it fits.
struct OperatorName {
  explicit OperatorName(const OperatorView& op) {
    size_t length = op.name.size();
    std::memcpy(text, op.name.data(), length);
    if (!op.overload.empty()) {
      text[length++] = '.';
      std::memcpy(text + length, op.overload.data(), op.overload.size());
      length += op.overload.size();
    }
    text[length] = '\0';
    size = length;
  }
  std::string_view view() const { return {text, size}; }

  char text[schema::kMaxOperatorNameBytes + 1];
  size_t size;
};

// "XnnpackBackend, MyBackend", or as many as fit; "none".
struct BackendNames {
  explicit BackendNames(const Registry* registry) {
    size_t length = 0;
    const Span<const BackendLibrary> all =
        registry == nullptr ? Span<const BackendLibrary>() : registry->backends();
    for (const BackendLibrary library : all) {
      const int written = std::snprintf(text + length, sizeof(text) - length, "%s%s",
                                        length == 0 ? "" : ", ", library().name);
      if (written < 0 || length + static_cast<size_t>(written) >= sizeof(text)) break;
      length += static_cast<size_t>(written);
    }
    if (length == 0) std::memcpy(text, "none", sizeof("none"));
  }

  char text[128];
};

// A file may call thousands that are not there; all calls of each are counted.
constexpr uint32_t kReportedKernels = 16;

// With the words of export, which also knows the places in the model.
void report_missing_kernel(const MethodView& method, uint32_t op) {
  if (!kHasMessages) return;
  uint32_t calls = 0;
  for (uint32_t c = 0; c < method.num_chains(); ++c) {
    const ChainView chain = method.chain(c);
    for (uint32_t i = 0; i < chain.num_instructions(); ++i) {
      const InstructionView call = chain.instruction(i);
      if (call.kind == InstructionView::Kind::Kernel && call.target == op) ++calls;
    }
  }
  const OperatorName name(method.op(op));
  PETREL_LOG(Error, "kernel is missing: %s (%u %s in method '%.64s')", name.text,
             static_cast<unsigned>(calls), calls == 1 ? "call" : "calls", method.name().data());
}

const Kernel* find_kernel(const Registry* registry, std::string_view name) {
  const Kernel* const kernel = registry == nullptr ? nullptr : registry->find_kernel(name);
  return kernel != nullptr ? kernel : find_kernel(prim_kernels(), name);
}

}  // namespace

MethodBuilder::MethodBuilder(const Program& program, const MethodView& declared,
                             MemoryManager* memory, EventTracer* event_tracer,
                             const NamedDataMap* named_data_map,
                             const LoadBackendOptionsMap* backend_options)
    : MethodBuilderLists{},
      program_(program),
      declared_(declared),
      allocator_(memory->method_allocator()),
      external_map_(named_data_map),
      backend_options_(backend_options),
      method_(&program, declared, memory, event_tracer, program.options().limits) {}

Result<Method> MethodBuilder::build() {
  if (method_.event_tracer_ != nullptr) method_.event_tracer_->create_event_block("load");
  PETREL_RETURN_IF_ERROR(find_kernels());
  PETREL_RETURN_IF_ERROR(find_backends());
  PETREL_RETURN_IF_ERROR(hold_external_map());
  method_.external_map_ = external_map_;
  PETREL_RETURN_IF_ERROR(make_values());
  PETREL_RETURN_IF_ERROR(make_data_map());
  PETREL_RETURN_IF_ERROR(make_delegates());
  PETREL_RETURN_IF_ERROR(count_passes());
  PETREL_RETURN_IF_ERROR(make_chains());
  return std::move(method_);
}

Error MethodBuilder::find_kernels() {
  const uint32_t count = declared_.num_operators();
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(count, &kernels_));
  for (uint32_t i = 0; i < count; ++i) {
    const OperatorName name(declared_.op(i));
    kernels_[i] = find_kernel(program_.options().registry, name.view());
  }
  // An operator that is listed but never called may be missing.
  static constexpr Kernel kReported = {"", nullptr};
  uint32_t missing = 0;
  for (uint32_t c = 0; c < declared_.num_chains(); ++c) {
    const ChainView chain = declared_.chain(c);
    for (uint32_t i = 0; i < chain.num_instructions(); ++i) {
      const InstructionView call = chain.instruction(i);
      if (call.kind != InstructionView::Kind::Kernel || kernels_[call.target] != nullptr) continue;
      kernels_[call.target] = &kReported;
      if (++missing <= kReportedKernels) report_missing_kernel(declared_, call.target);
    }
  }
  if (missing > kReportedKernels) {
    PETREL_LOG(Error, "and %u other kernels are missing in method '%.64s'",
               static_cast<unsigned>(missing - kReportedKernels), declared_.name().data());
  }
  return missing > 0 ? Error::OperatorMissing : Error::Ok;
}

Error MethodBuilder::find_backends() {
  const Registry* const registry = program_.options().registry;
  const uint32_t count = declared_.num_delegates();
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(count, &backends_));
  Error result = Error::Ok;
  for (uint32_t i = 0; i < count; ++i) {
    const char* const id = declared_.delegate(i).backend().data();
    backends_[i] = registry == nullptr ? nullptr : registry->find_backend(id);
    if (backends_[i] == nullptr) {
      PETREL_LOG(Error, "backend is missing: %.64s (delegate %u of method '%.64s'); there are %s",
                 id, static_cast<unsigned>(i), declared_.name().data(),
                 BackendNames(registry).text);
      result = Error::NotFound;
    } else if (!backends_[i]->is_available()) {
      PETREL_LOG(Error, "backend %.64s (delegate %u of method '%.64s') cannot run on this machine",
                 id, static_cast<unsigned>(i), declared_.name().data());
      if (result == Error::Ok) result = Error::NotSupported;
    }
  }
  return result;
}

Error MethodBuilder::hold_external_map() {
  const ProgramAdditions& additions = program_.additions();
  const uint32_t count = additions.num_weights();
  if (external_map_ == nullptr || count == 0 || program_.options().data_is_held) return Error::Ok;
  Span<std::atomic<bool>> checked;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(count, &checked));
  // Never destroyed: it owns nothing.
  Span<HeldDataMap> place;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(1, &place));
  external_map_ =
      new (place.data()) HeldDataMap(*external_map_, additions, checked, program_.options().sha256);
  return Error::Ok;
}

// Backends ask for many keys, each of which would be compared with all others where
// the file has them in any order.
Result<const NamedDataMap*> MethodBuilder::sorted_data_map() {
  const ProgramDataMap& own = program_.named_data();
  if (own.is_sorted() || declared_.num_delegates() == 0) return &own;
  // Never destroyed: it owns nothing.
  Span<ProgramDataMap> room;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(1, &room));
  Span<uint32_t> order;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(own.num_entries(), &order));
  ProgramDataMap* const map = new (room.data()) ProgramDataMap(own);
  map->sort(order);
  return map;
}

Error MethodBuilder::make_data_map() {
  const Result<const NamedDataMap*> found = program_.get_named_data_map();
  if (!found.ok()) {
    method_.data_map_ = external_map_;
    return Error::Ok;
  }
  PETREL_ASSIGN_OR_RETURN(const NamedDataMap* const own, sorted_data_map());
  if (external_map_ == nullptr) {
    method_.data_map_ = own;
    return Error::Ok;
  }
  // Never destroyed: it owns nothing.
  Span<MethodDataMap> room;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(1, &room));
  method_.data_map_ =
      new (room.data()) MethodDataMap(*external_map_, *own, program_.options().data_precedence);
  return Error::Ok;
}

Error MethodBuilder::make_delegates() {
  const uint32_t count = declared_.num_delegates();
  PETREL_ASSIGN_OR_RETURN(payload_bytes_left_, program_.file_size());
  Span<MethodDelegate> room;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(count, &room));
  const DelegateMaker maker(program_, declared_, allocator_, method_.event_tracer_,
                            method_.data_map_, backend_options_);
  for (uint32_t i = 0; i < count; ++i) {
    MethodDelegate* const delegate = new (&room[i]) MethodDelegate();
    const Error error = make_delegate(maker, i, delegate);
    if (error != Error::Ok) {
      delegate->~MethodDelegate();
      return error;
    }
    method_.delegates_ = room.first(i + 1);
  }
  return Error::Ok;
}

// Delegates may share a payload, which each of them makes its own of. What they have
// beyond the bytes of the file is paid for with what a backend makes of it.
Error MethodBuilder::pay_for_payload(uint64_t bytes) {
  constexpr uint64_t kMade = 4;
  // What a backend keeps of a payload however small it is; so many are free.
  constexpr uint64_t kHandle = 16 << 10;
  constexpr size_t kFewDelegates = 64;
  if (method_.delegates_.size() >= kFewDelegates) {
    PETREL_RETURN_IF_ERROR(method_.delegate_bytes_.take("one delegate of many", kHandle));
  }
  const uint64_t free = bytes < payload_bytes_left_ ? bytes : payload_bytes_left_;
  payload_bytes_left_ -= free;
  return method_.delegate_bytes_.take("a payload that delegates share", kMade * (bytes - free));
}

Error MethodBuilder::make_delegate(const DelegateMaker& maker, size_t index, MethodDelegate* to) {
  to->backend = backends_[index];
  PETREL_RETURN_IF_ERROR(maker.load_payload(index, to));
  PETREL_RETURN_IF_ERROR(pay_for_payload(to->payload.size()));
  PETREL_RETURN_IF_ERROR(maker.make_data_map(to));
  return maker.make_handle(index, &method_.delegate_bytes_, to);
}

Error MethodBuilder::make_chains() {
  Aliases aliases(declared_);
  PETREL_RETURN_IF_ERROR(aliases.find(kernels_, program_.options().writable_inputs, allocator_));
  PETREL_RETURN_IF_ERROR(find_callers_tensors(aliases));
  PETREL_RETURN_IF_ERROR(find_late_outputs(aliases));
  PETREL_RETURN_IF_ERROR(find_views(aliases));
  const uint32_t count = declared_.num_chains();
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(count, &method_.chains_));
  for (uint32_t i = 0; i < count; ++i) new (&method_.chains_[i]) MethodChain();
  for (uint32_t i = 0; i < count; ++i) {
    const ChainView chain = declared_.chain(i);
    Span<MethodStep> steps;
    PETREL_RETURN_IF_ERROR(allocator_->allocate_list(chain.num_instructions(), &steps));
    for (uint32_t k = 0; k < steps.size(); ++k) {
      new (&steps[k]) MethodStep();
      const InstructionView instruction = chain.instruction(k);
      PETREL_RETURN_IF_ERROR(make_step(instruction, &steps[k]));
      count_work(instruction, &steps[k]);
      const ScratchView scratch = program_.additions().find_scratch(declared_.index(), i, k);
      PETREL_RETURN_IF_ERROR(check_step(i, k, instruction.args, steps[k], scratch, &aliases));
      PETREL_RETURN_IF_ERROR(find_scratch(scratch, &steps[k]));
    }
    method_.chains_[i].steps = steps;
  }
  return Error::Ok;
}

Error MethodBuilder::make_step(const InstructionView& from, MethodStep* to) {
  using Kind = InstructionView::Kind;
  static_assert(static_cast<int>(Kind::Kernel) == static_cast<int>(MethodStep::Kind::Kernel) &&
                static_cast<int>(Kind::Delegate) == static_cast<int>(MethodStep::Kind::Delegate) &&
                static_cast<int>(Kind::Move) == static_cast<int>(MethodStep::Kind::Move) &&
                static_cast<int>(Kind::Jump) == static_cast<int>(MethodStep::Kind::Jump) &&
                static_cast<int>(Kind::Free) == static_cast<int>(MethodStep::Kind::Free));
  to->kind = static_cast<MethodStep::Kind>(from.kind);
  to->target = from.target;
  if (from.kind == Kind::Kernel || from.kind == Kind::Delegate) {
    if (from.kind == Kind::Kernel) to->kernel = kernels_[from.target];
    return make_args(from.args, &to->args);
  }
  to->from = &method_.values_[from.from];
  if (from.kind == Kind::Move) to->to = &method_.values_[from.to];
  return Error::Ok;
}

// One pass over each value, which for a list is one over its entries. Tensors come
// before the lists of them here, so that a list costs its length once, however many
// instructions have it.
Error MethodBuilder::count_passes() {
  const uint32_t count = declared_.num_values();
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(count, &passes_));
  for (uint32_t i = 0; i < count; ++i) {
    const ValueView value = declared_.value(i);
    const std::optional<TensorView> tensor = value.as_tensor();
    if (!tensor.has_value()) {
      passes_[i] = value.int_items().size() + value.bool_items().size() +
                   value.double_items().size() + value.tensor_items().size();
      continue;
    }
    size_t extent = 0;
    if (!checked_extent(tensor->sizes, &extent)) extent = SIZE_MAX;
    // Their largest sizes may be far beyond those that the caller gives.
    const bool varies = !tensor->is_planned() && tensor->dynamism != TensorShapeDynamism::STATIC;
    passes_[i] = varies ? kVaries : std::min<uint64_t>(extent, kMostPass);
  }
  count_moved();
  for (uint32_t i = 0; i < count; ++i) {
    for (const int32_t item : declared_.value(i).tensor_items()) {
      const uint64_t pass = item < 0 ? 0 : passes_[static_cast<size_t>(item)];
      const uint64_t sum = (passes_[i] & kMostPass) + (pass & kMostPass);
      passes_[i] = ((passes_[i] | pass) & kVaries) | std::min(sum, kMostPass);
    }
  }
  return Error::Ok;
}

// A value may become what is moved to it.
void MethodBuilder::count_moved() {
  const auto join = [](uint64_t a, uint64_t b) {
    return ((a | b) & kVaries) | std::max(a & kMostPass, b & kMostPass);
  };
  uint64_t largest = 0;
  for (const uint64_t pass : passes_) largest = join(largest, pass);
  // Moves of what was moved; beyond so many, all count as the largest value.
  constexpr int kRounds = 4;
  bool changed = true;
  for (int round = 0; changed && round <= kRounds; ++round) {
    changed = false;
    for (uint32_t c = 0; c < declared_.num_chains(); ++c) {
      const ChainView chain = declared_.chain(c);
      for (uint32_t i = 0; i < chain.num_instructions(); ++i) {
        const InstructionView move = chain.instruction(i);
        if (move.kind != InstructionView::Kind::Move) continue;
        uint64_t& to = passes_[move.to];
        const uint64_t both = join(to, round == kRounds ? largest : passes_[move.from]);
        changed = changed || both != to;
        to = both;
      }
    }
  }
}

void MethodBuilder::count_work(const InstructionView& from, MethodStep* to) const {
  const auto count = [&](uint64_t pass) {
    if ((pass & kVaries) != 0) to->counts_callers = true;
    to->work = saturating_sum(to->work, pass & kMostPass);
  };
  for (const int32_t arg : from.args) count(passes_[static_cast<size_t>(arg)]);
  if (from.kind == InstructionView::Kind::Jump) count(passes_[from.from]);
}

// The inputs and outputs that the caller gives memory to.
Error MethodBuilder::find_callers_tensors(const Aliases& aliases) {
  for (const bool is_output : {false, true}) {
    const Span<const int32_t> from = is_output ? declared_.outputs() : declared_.inputs();
    Span<Method::CallersTensor> room;
    PETREL_RETURN_IF_ERROR(allocator_->allocate_list(from.size(), &room));
    size_t count = 0;
    for (size_t i = 0; i < from.size(); ++i) {
      const auto value = static_cast<uint32_t>(from[i]);
      if (!aliases.is_callers(value) || (is_output && aliases.is_view(value))) continue;
      room[count++] = {method_.values_[value].toTensor().impl(), i, aliases.is_moved(value)};
    }
    (is_output ? method_.callers_outputs_ : method_.callers_inputs_) = room.first(count);
  }
  return Error::Ok;
}

Error MethodBuilder::find_late_outputs(const Aliases& aliases) {
  const Span<const int32_t> outputs = declared_.outputs();
  Span<Method::LateOutput> room;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(outputs.size(), &room));
  size_t count = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto value = static_cast<uint32_t>(outputs[i]);
    const bool is_late = declared_.value(value).tag() == Tag::Tensor &&
                         (aliases.is_view(value) || aliases.is_moved(value));
    if (is_late) room[count++] = {&method_.values_[value], i};
  }
  method_.late_outputs_ = room.first(count);
  return Error::Ok;
}

Error MethodBuilder::find_views(const Aliases& aliases) {
  // Where a view goes: those of inputs alone, of both, of outputs alone, of neither.
  constexpr uint8_t kClasses = 4;
  const auto class_of = [&](uint32_t value) -> uint8_t {
    if (!aliases.is_view(value)) return kClasses;
    const Aliases::Roles roles = aliases.roles_of(value);
    // Planned ones are where they are planned, whether they have been made or not, unless
    // other data may take the place of what they view.
    if (!roles.constant && declared_.value(value).as_tensor()->is_planned()) return kClasses;
    return roles.input ? uint8_t{roles.output} : roles.output ? uint8_t{2} : uint8_t{3};
  };
  size_t ends_of[kClasses + 1] = {};
  for (uint32_t i = 0; i < declared_.num_values(); ++i) ++ends_of[class_of(i)];
  for (size_t k = 1; k < kClasses; ++k) ends_of[k] += ends_of[k - 1];
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(ends_of[3], &method_.views_));
  method_.views_of_inputs_ = method_.views_.first(ends_of[1]);
  method_.views_of_outputs_ = method_.views_.slice(ends_of[0], ends_of[2] - ends_of[0]);
  for (uint32_t i = 0; i < declared_.num_values(); ++i) {
    const uint8_t of = class_of(i);
    if (of < kClasses) method_.views_[--ends_of[of]] = method_.values_[i].toTensor().impl();
  }
  return Error::Ok;
}

Error MethodBuilder::check_step(uint32_t chain, uint32_t instruction, Span<const int32_t> args,
                                const MethodStep& step, const ScratchView& scratch,
                                Aliases* aliases) {
  if (step.kind == MethodStep::Kind::Kernel) {
    return aliases->check_kernel({chain, instruction, step.kernel->name, args},
                                 step.kernel->outputs, scratch);
  }
  if (step.kind != MethodStep::Kind::Delegate) return Error::Ok;
  const MethodDelegate& delegate = method_.delegates_[step.target];
  const Result<size_t> outputs = delegate.backend->num_outputs(delegate.handle);
  if (!outputs.ok() && outputs.error() != Error::NotImplemented) return outputs.error();
  return aliases->check_delegate({chain, instruction, delegate.name, args},
                                 outputs.ok() ? *outputs : 1);
}

Error MethodBuilder::find_scratch(const ScratchView& place, MethodStep* to) {
  if (place.size == 0) return Error::Ok;
  HierarchicalAllocator* const arenas = method_.memory_->planned_memory();
  if (arenas == nullptr) return Error::Ok;
  const auto size = static_cast<size_t>(place.size);
  PETREL_ASSIGN_OR_RETURN(
      void* const memory,
      arenas->get_offset_address(place.arena - 1, static_cast<size_t>(place.offset), size));
  to->scratch = Span<uint8_t>(static_cast<uint8_t*>(memory), size);
  return Error::Ok;
}

Error MethodBuilder::make_args(Span<const int32_t> indices, Span<EValue*>* to) {
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(indices.size(), to));
  for (size_t i = 0; i < to->size(); ++i) {
    (*to)[i] = &method_.values_[static_cast<size_t>(indices[i])];
  }
  return Error::Ok;
}

}  // namespace petrel::runtime
