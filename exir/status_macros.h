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

#define PETREL_STATUS_CONCAT_INNER_(a, b) a##b
#define PETREL_STATUS_CONCAT_(a, b) PETREL_STATUS_CONCAT_INNER_(a, b)

#undef PETREL_RETURN_IF_ERROR
#define PETREL_RETURN_IF_ERROR(expr)                 \
  do {                                               \
    ::absl::Status petrel_status_ = (expr);          \
    if (!petrel_status_.ok()) return petrel_status_; \
  } while (false)

#undef PETREL_ASSIGN_OR_RETURN
#define PETREL_ASSIGN_OR_RETURN(lhs, expr) \
  PETREL_ASSIGN_OR_RETURN_IMPL_(PETREL_STATUS_CONCAT_(petrel_status_or_, __LINE__), lhs, expr)

#define PETREL_ASSIGN_OR_RETURN_IMPL_(result, lhs, expr) \
  auto result = (expr);                                  \
  if (!result.ok()) return std::move(result).status();   \
  lhs = *std::move(result)

#endif  // PETREL_EXIR_STATUS_MACROS_H_
