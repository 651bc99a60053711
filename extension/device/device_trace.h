// SPDX-License-Identifier: Apache-2.0
//
// What a method computes on a device, step by step, as `petrel diff` compares it with what the
// interpreter computes here.
//
//   PETREL_ASSIGN_OR_RETURN(ValueTrace trace, trace_device(*method));
//   diff_traces(std::move(here), std::move(trace), exact);
#ifndef PETREL_EXTENSION_DEVICE_DEVICE_TRACE_H_
#define PETREL_EXTENSION_DEVICE_DEVICE_TRACE_H_

#include "absl/status/statusor.h"
#include "extension/device/device_method.h"
#include "extension/diff/value_trace.h"

namespace petrel::extension {

// Runs the method on its inputs. Unimplemented without a plan, or where sizes vary.
absl::StatusOr<ValueTrace> trace_device(DeviceMethod& method);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_DEVICE_TRACE_H_
