// SPDX-License-Identifier: Apache-2.0
//
// Starts XNNPACK with memory of ours: large blocks, which workspaces are, lie
// in huge pages, so that their first use takes a few faults instead of
// thousands.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_INITIALIZE_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_INITIALIZE_H_

#include <xnnpack.h>

namespace petrel::backends::xnnpack {

// May be called any number of times, by any thread.
xnn_status initialize();

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_INITIALIZE_H_
