// SPDX-License-Identifier: Apache-2.0
//
// The macros of runtime and host in one file, in this order (control_flow_test.cc).
#include "runtime/core/result.h"
// Not sorted: the order is what is tested.
#include "exir/status_macros.h"

namespace petrel::test {

absl::StatusOr<int> host_other_way(absl::StatusOr<int> value, absl::Status status) {
  PETREL_RETURN_IF_ERROR(status);
  PETREL_ASSIGN_OR_RETURN(const int number, std::move(value));
  return number + 1;
}

runtime::Result<int> runtime_other_way(runtime::Result<int> value, runtime::Error error) {
  PETREL_RETURN_IF_ERROR(error);
  PETREL_ASSIGN_OR_RETURN(const int number, std::move(value));
  return number + 1;
}

}  // namespace petrel::test
