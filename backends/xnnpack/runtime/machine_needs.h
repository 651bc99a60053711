// SPDX-License-Identifier: Apache-2.0
//
// What graphs ask of the machine. Below some instruction sets XNNPACK has no kernels for an
// element type, or such as read outside of what they are given.
//
//   PETREL_RETURN_IF_ERROR(check_machine(graph));     // NotSupported, and a message
#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_MACHINE_NEEDS_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_MACHINE_NEEDS_H_

#include "backends/xnnpack/format/graph.h"
#include "runtime/core/error.h"

namespace petrel::backends::xnnpack {

// By the level of instruction sets, which is fixed from here.
runtime::Error check_machine(const Graph& graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_MACHINE_NEEDS_H_
