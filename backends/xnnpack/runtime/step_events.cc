// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/step_events.h"

#include <cstdint>

#include "third_party/xnnpack/steps/steps.h"

namespace petrel::backends::xnnpack {
namespace {

std::string text_of(const petrel_shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.rank; ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(shape.sizes[i]);
  }
  return text + "]";
}

std::string text_of(const petrel_step& step) {
  std::string text = step.name;
  if (step.kernel[0] != '\0') text += std::string(", ") + step.kernel;
  if (step.tile_rows != 0) {
    text += " " + std::to_string(step.tile_rows) + " x " + std::to_string(step.tile_columns);
  }
  return text + ", " + text_of(step.input) + " to " + text_of(step.output);
}

}  // namespace

void StepEvents::find_names(xnn_runtime_t runtime) {
  names_.assign(petrel_num_steps(runtime), "");
  for (size_t i = 0; i < names_.size(); ++i) {
    petrel_step step;
    if (!petrel_describe_step(runtime, i, &step)) continue;
    names_[i] = texts_.insert(text_of(step)).first->c_str();
  }
}

void StepEvents::begin(void* context, size_t step) {
  StepEvents& events = *static_cast<StepEvents*>(context);
  events.entry_ =
      events.tracer_->start_profiling_delegate(events.names_[step], static_cast<uint32_t>(step));
}

void StepEvents::end(void* context, size_t) {
  StepEvents& events = *static_cast<StepEvents*>(context);
  events.tracer_->end_profiling_delegate(events.entry_, nullptr, 0);
}

xnn_status StepEvents::invoke(xnn_runtime_t runtime, runtime::EventTracer* tracer) {
  if (tracer == nullptr) return xnn_invoke_runtime(runtime);
  if (names_.empty()) find_names(runtime);
  tracer_ = tracer;
  const petrel_observer observer = {this, &begin, &end};
  petrel_observe(&observer);
  const xnn_status status = xnn_invoke_runtime(runtime);
  petrel_observe(nullptr);
  return status;
}

}  // namespace petrel::backends::xnnpack
