// SPDX-License-Identifier: Apache-2.0
//
// The two control-flow macros of the host side. Every function that can fail
// returns absl::Status or absl::StatusOr<T>; nothing else may hide a return.
//
//   absl::StatusOr<Archive> open(const std::string& path) {
//     PETREL_RETURN_IF_ERROR(check_name(path));
//     PETREL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
//     ...
//   }
#ifndef PETREL_EXIR_STATUS_MACROS_H_
#define PETREL_EXIR_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace petrel::control_flow {

// What the macros ask; runtime/core/result.h has the same for Error and Result.
inline bool is_ok(const absl::Status& status) { return status.ok(); }
template <typename T>
absl::Status error_of(absl::StatusOr<T>&& result) {
  return std::move(result).status();
}

}  // namespace petrel::control_flow

// The text is that of runtime/core/result.h, so that both can be included.
#define PETREL_INTERNAL_CONCAT2(a, b) a##b
#define PETREL_INTERNAL_CONCAT(a, b) PETREL_INTERNAL_CONCAT2(a, b)
#define PETREL_RETURN_IF_ERROR(expr)                                           \
  do {                                                                         \
    auto petrel_status_ = (expr);                                              \
    if (!::petrel::control_flow::is_ok(petrel_status_)) return petrel_status_; \
  } while (false)
#define PETREL_ASSIGN_OR_RETURN(lhs, expr) \
  PETREL_INTERNAL_ASSIGN_OR_RETURN(PETREL_INTERNAL_CONCAT(petrel_result_, __LINE__), lhs, expr)
#define PETREL_INTERNAL_ASSIGN_OR_RETURN(result, lhs, expr)                     \
  auto result = (expr);                                                         \
  if (!result.ok()) return ::petrel::control_flow::error_of(std::move(result)); \
  lhs = *std::move(result)

#endif  // PETREL_EXIR_STATUS_MACROS_H_
