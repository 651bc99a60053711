// SPDX-License-Identifier: Apache-2.0
//
// What a method computes on a device, step by step, as `petrel diff` compares it with what the
// interpreter computes here.
//
//   PETREL_ASSIGN_OR_RETURN(ValueTrace trace, trace_device(*method, here));
//   diff_traces(std::move(here), std::move(trace), exact);
#ifndef PETREL_EXTENSION_DEVICE_DEVICE_TRACE_H_
#define PETREL_EXTENSION_DEVICE_DEVICE_TRACE_H_

#include "absl/status/statusor.h"
#include "extension/device/device_method.h"
#include "extension/diff/value_trace.h"

namespace petrel::extension {

// Runs the method on its inputs. Where sizes vary, which a device tells of inputs alone, values
// have those of `here`, what the interpreter computes of the same inputs. Unimplemented without a
// plan, ResourceExhausted for more values than a trace has (TraceRoom).
absl::StatusOr<ValueTrace> trace_device(DeviceMethod& method, const ValueTrace& here);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_DEVICE_TRACE_H_
