// SPDX-License-Identifier: Apache-2.0
//
// EventTracer: told when parts of a method begin and end. The runtime calls
// it, when one was given to load_method, around every instruction, delegate
// and execution; the tracer takes the time itself.
//
//   EventTracerEntry e = tracer->start_profiling("aten::add.out", 0, 17);
//   ...
//   tracer->end_profiling(e);
//
// A tracer belongs to the application and outlives the Method. It is called
// from the thread that runs the method.

#ifndef PETREL_RUNTIME_CORE_EVENT_TRACER_H_
#define PETREL_RUNTIME_CORE_EVENT_TRACER_H_

#include <cstddef>
#include <cstdint>

namespace petrel::runtime {

// Identifies an event that has begun; the meaning is the tracer's.
struct EventTracerEntry {
  uint64_t id = 0;
  uint64_t start = 0;
};

class EventTracer {
 public:
  // Place of an event that belongs to no instruction.
  static constexpr uint32_t kNoInstruction = UINT32_MAX;

  virtual ~EventTracer() = default;

  // A group of events begins: "load" or "execute". `name` is a literal.
  virtual void create_event_block(const char* name) = 0;

  // `name`: a kernel or backend, or "method"; valid as long as the Method.
  virtual EventTracerEntry start_profiling(const char* name, uint32_t chain,
                                           uint32_t instruction) = 0;
  virtual void end_profiling(EventTracerEntry entry) = 0;

  // Called by backends for parts of their own; `metadata` is theirs.
  virtual EventTracerEntry start_profiling_delegate(const char* name, uint32_t debug_index) = 0;
  virtual void end_profiling_delegate(EventTracerEntry entry, const void* metadata,
                                      size_t metadata_size) = 0;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_EVENT_TRACER_H_
