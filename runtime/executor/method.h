// SPDX-License-Identifier: Apache-2.0
//
// Method: one method of a Program, ready to run.
//
//   method->set_input(Tensor(&input), 0);
//   if (method->execute() != Error::Ok) ...
//   Tensor result = method->get_output(0).toTensor();
//
// Everything a Method keeps lies in its MemoryManager; it owns its delegate
// handles and the external data it holds, and gives them back when destroyed.
//
//   values_   [ tensor | Int 4 | ListInt | tensor | ... ]   one per value of the file
//                 ^        ^________/  boxed                       ^
//   steps_    [ kernel(args) | delegate(args) | jump | ... ] ------'  args point at values
//
// Inputs: a planned input is copied; one that is not is only pointed at and must
// stay alive and unchanged until it is replaced or unbind_inputs() is called. The
// program does not write it unless ProgramOptions::writable_inputs allows that. The
// memory of a planned input may be used again once it has been read, so inputs are
// to be set before every execution. A planned output is overwritten by the next one.
// One thread at a time may use a Method.

#ifndef PETREL_RUNTIME_EXECUTOR_METHOD_H_
#define PETREL_RUNTIME_EXECUTOR_METHOD_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/backend/interface.h"
#include "runtime/core/budget.h"
#include "runtime/core/error.h"
#include "runtime/core/evalue.h"
#include "runtime/core/event_tracer.h"
#include "runtime/core/freeable_buffer.h"
#include "runtime/core/limits.h"
#include "runtime/core/named_data_map.h"
#include "runtime/core/result.h"
#include "runtime/core/span.h"
#include "runtime/executor/memory_manager.h"
#include "runtime/executor/method_meta.h"

namespace petrel::runtime {

class Program;
struct MethodStep;
struct MethodChain;
struct MethodDelegate;
struct MethodExternal;
struct MethodExternalTensor;

// What a Method has in its allocator, and what it is given once there is some of that. One that
// was moved from has none of it.
struct MethodLists {
  // A tensor of the inputs or outputs whose memory is the caller's, as it is before
  // anything is moved. What others are moved to need not be given any.
  struct CallersTensor {
    TensorImpl* impl;
    size_t index;
    bool is_moved;
  };
  // The value of an output that is a view or moved.
  struct LateOutput {
    const EValue* value;
    size_t index;
  };

  Span<EValue> values_;
  // Those of the values that are declared as tensors, in that order. A value is another one
  // once one was moved to it.
  Span<TensorImpl> tensors_;
  Span<bool> input_set_;
  // Those that the program does not plan; outputs that are views of others aside.
  Span<CallersTensor> callers_inputs_;
  Span<CallersTensor> callers_outputs_;
  Span<LateOutput> late_outputs_;
  // Those that get their memory when they are made, in every execution anew, and
  // those of them that may lie in inputs or outputs of the caller.
  Span<TensorImpl*> views_;
  Span<TensorImpl*> views_of_inputs_;
  Span<TensorImpl*> views_of_outputs_;
  Span<MethodChain> chains_;
  // Handles that exist; grows while the method is made.
  Span<MethodDelegate> delegates_;
  // By key; likewise. What may have data from outside, in the order of the keys.
  Span<MethodExternal> external_data_;
  Span<MethodExternalTensor> external_tensors_;
  // The map of the caller; null if there is none.
  const NamedDataMap* external_map_;
  // What backends see; null if there is no named data.
  const NamedDataMap* data_map_;

  // Where step() is.
  size_t chain_;
  size_t instruction_;
  bool stepping_;
};

// All of a Method: copied by its bytes when the Method moves.
struct MethodState : MethodLists {
  MethodState(const Program* program, const MethodView& declared, MemoryManager* memory_manager,
              EventTracer* event_tracer, const Limits& limits)
      : MethodLists{},
        program_(program),
        declared_(declared),
        memory_(memory_manager),
        event_tracer_(event_tracer),
        instructions_("max_instructions", limits.max_instructions),
        work_("max_element_operations", limits.max_element_operations),
        delegate_bytes_("max_delegate_bytes", limits.max_delegate_bytes) {}

  const Program* program_;
  // What the program says of it.
  MethodView declared_;
  MemoryManager* memory_;
  EventTracer* event_tracer_;
  // What is left of this execution.
  Budget instructions_;
  Budget work_;
  // What delegates may still take for as long as this lives.
  Budget delegate_bytes_;
};

class Method final : private MethodState {
 public:
  Method(Method&& other) noexcept;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  Method& operator=(Method&&) = delete;
  ~Method();

  size_t inputs_size() const;
  size_t outputs_size() const;
  size_t values_size() const { return values_.size(); }

  // Sets input `index`. Type, dtype, rank and dim order must be those of the
  // program; sizes within its bounds. A number, bool or string must equal the
  // one that the program was made with. InvalidArgument otherwise;
  // NotSupported for sizes that do not fit.
  Error set_input(const EValue& value, size_t index);
  // All of them.
  Error set_inputs(Span<const EValue> values);

  // Forgets the memory of the caller that inputs point at: an execution before
  // they are set again is an error that names them. Outputs that lie in such
  // memory have no data then.
  void unbind_inputs();
  // Whether there are such inputs.
  bool points_at_inputs() const { return !callers_inputs_.empty(); }

  // The current value of an input. None if `index` is out of range.
  const EValue& get_input(size_t index) const;
  Error get_inputs(EValue* out_values, size_t length) const;

  // Lets output `index` be written to `size` bytes at `buffer`. InvalidState
  // if the output is planned or constant: its memory is then not the caller's
  // to choose; or while the method is stepped through. InvalidArgument if the buffer is
  // too small. An output that the program makes a view of another value, or moves one to,
  // lies where that does; it has no data while that other one has new memory and the
  // method has not run.
  Error set_output_data_ptr(void* buffer, size_t size, size_t index);

  // Output `index` of the last execution. None if `index` is out of range.
  const EValue& get_output(size_t index) const;
  // Copies all outputs; None in the places after them.
  Error get_outputs(EValue* out_values, size_t length) const;

  // Runs the method. InvalidArgument if an input has not been set, InvalidState if
  // an output that the program does not plan has no memory, or the program did not come
  // to make one. After an error the method can be run again.
  Error execute();

  // Runs one instruction. EndOfMethod after the last one; then
  // reset_execution() before the next run.
  Error step();
  // Back to the first instruction. InvalidState unless step() said EndOfMethod.
  Error reset_execution();

  // A weight or state by the name that it has in the model: where it is now, for
  // reading, until the Method goes or its data is replaced. NotFound for others, and
  // for weights that only delegates have. InvalidState for what lies in memory of the caller
  // and is not bound.
  Result<Tensor> get_attribute(std::string_view name) const;

  MethodMeta method_meta() const { return MethodMeta(declared_); }
  EventTracer* event_tracer() const { return event_tracer_; }
  EventTracer* get_event_tracer() const { return event_tracer_; }

 private:
  friend class Program;
  friend class MethodBuilder;
  friend class DataSwap;

  Method(const Program* program, const MethodView& declared, MemoryManager* memory_manager,
         EventTracer* event_tracer, const Limits& limits)
      : MethodState(program, declared, memory_manager, event_tracer, limits) {}

  // The name of a value in the model; empty if the program does not say.
  std::string_view value_name(uint32_t value) const;
  // The key of one of external_tensors_.
  std::string_view external_key(uint32_t value) const;
  Span<MethodExternalTensor> tensors_of(const MethodExternal& external) const;
  size_t input_value(size_t index) const;
  size_t output_value(size_t index) const;
  Error set_tensor_input(const Tensor& from, size_t value_index, size_t index);
  // Refuses memory of the caller that the method has already, or an output, or if
  // it `is_written` an input.
  Error check_apart(const void* data, size_t nbytes, const TensorImpl* own, bool is_written,
                    const char* what, size_t index) const;
  // All that the caller must give is there.
  Error check_bound() const;
  // All that the program must make is there.
  Error check_late_outputs() const;
  static void forget(Span<TensorImpl*> views);
  Error run_step(const MethodStep& step, size_t* next);
  Error charge(const MethodStep& step);
  Error run_kernel(const MethodStep& step);
  Error run_delegate(const MethodStep& step);
  void restore_numbers();
  void rewind();
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_METHOD_H_
