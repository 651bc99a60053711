// SPDX-License-Identifier: Apache-2.0
//
// Starts XNNPACK, which chooses its kernels then, once for the process, under
// the cap of runtime/platform/isa_level.h. Whatever uses XNNPACK comes after it.
//
//   PETREL_RETURN_IF_ERROR(report("start", start_xnnpack()));
//
// May be called by several threads, as often as anyone likes.
#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_START_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_START_H_

#include <xnnpack.h>

namespace petrel::backends::xnnpack {

xnn_status start_xnnpack();

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_START_H_
