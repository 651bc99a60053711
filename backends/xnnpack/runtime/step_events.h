// SPDX-License-Identifier: Apache-2.0
//
// Tells an EventTracer of the steps of a delegate's runs: one event for each operator that XNNPACK
// runs, with its kind, how it is computed and its sizes as the name.
//
//   "Convolution (NHWC, F32), IGEMM 14 x 32, [1,56,56,64] to [1,56,56,64]"
//
//   StepEvents events;
//   status = events.invoke(runtime, context.event_tracer());
//
// Names live as long as it, whatever sizes come later. Without a tracer it costs nothing.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_STEP_EVENTS_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_STEP_EVENTS_H_

#include <xnnpack.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "runtime/core/event_tracer.h"

namespace petrel::backends::xnnpack {

class StepEvents {
 public:
  // Runs it once. `tracer` may be null. Precondition: the runtime is set up.
  xnn_status invoke(xnn_runtime_t runtime, runtime::EventTracer* tracer);

  // Sizes have changed.
  void forget_names() { names_.clear(); }

 private:
  static void begin(void* context, size_t step);
  static void end(void* context, size_t step);

  void find_names(xnn_runtime_t runtime);

  std::set<std::string> texts_;
  std::vector<const char*> names_;  // by step, in texts_
  runtime::EventTracer* tracer_ = nullptr;
  runtime::EventTracerEntry entry_;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_STEP_EVENTS_H_
