// SPDX-License-Identifier: Apache-2.0
//
// Records what a method computes while it runs: the tracer of a program that was loaded
// with tapped_registry(), whose kernels and backends are those of the binary and tell the
// tap of every call.
//
//   Tap tap;
//   Module::Options options;
//   options.registry = &tapped_registry();
//   options.event_tracer = &tap;
//   ...
//   tap.watch(method, inputs);            once it is loaded
//   module->execute("forward", values);
//   ValueTrace trace = tap.take(outputs);
//
// The runtime knows nothing of it: a program that nobody watches pays nothing.
#ifndef PETREL_EXTENSION_DIFF_TAP_H_
#define PETREL_EXTENSION_DIFF_TAP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "extension/diff/opened_payload.h"
#include "extension/diff/value_trace.h"
#include "extension/diff/written_memory.h"
#include "runtime/core/event_tracer.h"
#include "runtime/core/evalue.h"
#include "runtime/executor/registry.h"
#include "runtime/kernel/kernel.h"

namespace petrel::extension {

class Tap final : public runtime::EventTracer {
 public:
  // What the method has as inputs now; those that are not tensors are passed over. They
  // are looked at when the method begins to run.
  void watch(std::vector<runtime::EValue> inputs);

  // All since watch(). `outputs` are those of the run.
  ValueTrace take(const std::vector<runtime::EValue>& outputs);

  // Whether a limit was reached: what came later is not in the trace.
  bool is_full() const { return room_.is_full(); }

  // For kernels and backends of tapped_registry().
  void record_kernel(const runtime::Kernel& kernel, runtime::Span<runtime::EValue*> args);
  void record_payload(const OpenedPayload& payload, std::map<uint32_t, NpyArray> inner,
                      runtime::Span<runtime::EValue*> args);
  void record_delegate(const std::string& backend, size_t num_outputs,
                       runtime::Span<runtime::EValue*> args);
  void note_closed(const std::string& why);

  void create_event_block(const char* name) override;
  runtime::EventTracerEntry start_profiling(const char* name, uint32_t chain,
                                            uint32_t instruction) override;
  void end_profiling(runtime::EventTracerEntry) override {}
  runtime::EventTracerEntry start_profiling_delegate(const char*, uint32_t) override { return {}; }
  void end_profiling_delegate(runtime::EventTracerEntry, const void*, size_t) override {}

 private:
  TraceValue begin_value(const std::string& op) const;
  // Sets what follows from its inputs; its place in the trace. Precondition: room is taken.
  size_t append(TraceValue value);
  void append_tensor(TraceValue value, const runtime::Tensor& tensor);
  // Adds what the argument is read from, but what is `known` already.
  void read_values(const runtime::EValue& value, std::vector<size_t>* out, std::set<size_t>* known);
  // The value `from`, or the part of it that the tensor is.
  size_t part_of(size_t from, const runtime::Tensor& tensor);

  std::vector<runtime::EValue> inputs_;
  std::string place_;  // of the instruction that runs
  WrittenMemory memory_;
  // Parts by the value that they are of, their address and type.
  std::map<std::tuple<size_t, const void*, std::string>, size_t> parts_;
  ValueTrace trace_;
  TraceRoom room_;
};

// The kernels and backends of default_registry(). A method loaded with it must have a Tap
// as its tracer.
const runtime::Registry& tapped_registry();
// The same with the portable kernels alone.
const runtime::Registry& tapped_reference_registry();

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DIFF_TAP_H_
