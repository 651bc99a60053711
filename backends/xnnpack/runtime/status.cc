// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/status.h"

namespace petrel::backends::xnnpack {

using runtime::Error;

Error error_of(xnn_status status, Error otherwise) {
  switch (status) {
    case xnn_status_success:
      return Error::Ok;
    case xnn_status_out_of_memory:
      return Error::DelegateMemoryAllocationFailed;
    case xnn_status_unsupported_parameter:
    case xnn_status_unsupported_hardware:
      return Error::NotSupported;
    case xnn_status_invalid_parameter:
      return Error::InvalidProgram;
    default:
      return otherwise;
  }
}

}  // namespace petrel::backends::xnnpack
