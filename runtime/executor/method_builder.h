// SPDX-License-Identifier: Apache-2.0
//
// MethodBuilder: turns a method of a program into a Method. What can fail cheaply
// comes first: missing kernels and backends are reported, all of them, before
// any data is read.
//
//   find kernels and backends -> hold the caller's data to the program -> values and
//   their data -> data map -> delegates -> instructions
//
// A Method that is half made is destroyed like a whole one: it knows what it
// already owns.

#ifndef PETREL_RUNTIME_EXECUTOR_METHOD_BUILDER_H_
#define PETREL_RUNTIME_EXECUTOR_METHOD_BUILDER_H_

#include "runtime/core/budget.h"
#include "runtime/core/result.h"
#include "runtime/core/span.h"
#include "runtime/executor/aliases.h"
#include "runtime/executor/delegate_maker.h"
#include "runtime/executor/method.h"
#include "runtime/executor/method_step.h"
#include "runtime/executor/program.h"
#include "schema/shared_bytes.h"

namespace petrel::runtime {

// What is needed until the method is made, in its allocator.
struct MethodBuilderLists {
  // By operator index.
  Span<const Kernel*> kernels_;
  // By delegate index.
  Span<BackendInterface*> backends_;
  // Room that is used up front to back.
  Span<TensorImpl> tensors_;
  Span<MethodExternalTensor> external_tensors_;
  uint64_t payload_bytes_left_;
  // By value: how many elements one pass over it has, and whether some of it is the
  // caller's, which these are without.
  Span<uint64_t> passes_;
};

class MethodBuilder final : private MethodBuilderLists {
 public:
  // named_data_map and backend_options may be null. For one build().
  MethodBuilder(const Program& program, const MethodView& declared, MemoryManager* memory,
                EventTracer* event_tracer, const NamedDataMap* named_data_map,
                const LoadBackendOptionsMap* backend_options);

  Result<Method> build();

 private:
  Error find_kernels();
  Error find_backends();
  Error hold_external_map();
  // In method_values.cc.
  Error make_values();
  Error make_value(uint32_t index, EValue* to);
  Error make_tensor(uint32_t index, const TensorView& from, EValue* to);
  Error bind_tensor(uint32_t index, const TensorView& from, TensorImpl* tensor);
  // The name under which data of the caller goes before a constant of the
  // program; empty if none does.
  std::string_view replacement_name(uint32_t index, const TensorView& tensor) const;
  struct ByKey;
  // In external_binding.cc. Sorts what may have data from outside by its keys, and gives each
  // key's data to all that name it.
  Error bind_external_tensors();
  Error bind_key(std::string_view key, MethodExternal* external);
  Error bind_external_tensor(std::string_view key, const MethodExternalTensor& to,
                             MethodExternal* external);
  Error copy_external_data(std::string_view key, const TensorImpl& to, MethodExternal* external);
  Error make_boxed_list(const ValueView& from, EValue* to);
  // In method_builder.cc.
  Result<const NamedDataMap*> sorted_data_map();
  Error make_data_map();
  Error make_delegates();
  Error make_delegate(const DelegateMaker& maker, size_t index, MethodDelegate* to);
  Error pay_for_payload(uint64_t bytes);
  Error make_chains();
  Error make_step(const InstructionView& from, MethodStep* to);
  Error count_passes();
  void count_moved();
  void count_work(const InstructionView& from, MethodStep* to) const;
  // Refuses a step whose arguments share memory that it writes.
  Error check_step(uint32_t chain, uint32_t instruction, Span<const int32_t> args,
                   const MethodStep& step, const ScratchView& scratch, Aliases* aliases);
  Error find_callers_tensors(const Aliases& aliases);
  Error find_late_outputs(const Aliases& aliases);
  Error find_views(const Aliases& aliases);
  Error find_scratch(const ScratchView& place, MethodStep* to);
  Error make_args(Span<const int32_t> indices, Span<EValue*>* to);

  const Program& program_;
  const MethodView declared_;
  MemoryAllocator* allocator_;
  const NamedDataMap* external_map_;
  const LoadBackendOptionsMap* backend_options_;
  Method method_;
  schema::SharedBytes copied_bytes_{0};
  // A pass that is the caller's, and the most that is not.
  static constexpr uint64_t kVaries = uint64_t{1} << 63;
  static constexpr uint64_t kMostPass = kVaries - 1;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_METHOD_BUILDER_H_
