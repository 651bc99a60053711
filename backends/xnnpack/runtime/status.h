// SPDX-License-Identifier: Apache-2.0
#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_STATUS_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_STATUS_H_

#include <xnnpack.h>

#include "runtime/core/error.h"

namespace petrel::backends::xnnpack {

// What a status of XNNPACK means to who loads or runs a method; `otherwise` is for those that it
// should not have.
runtime::Error error_of(xnn_status status, runtime::Error otherwise);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_STATUS_H_
