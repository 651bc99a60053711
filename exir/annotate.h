// SPDX-License-Identifier: Apache-2.0
//
// Puts a place in front of an error, the one way in which errors get theirs:
// annotate(status, "value 'x'") turns "rank is 17, must be at most 16" into
// "value 'x': rank is 17, ...". A status that is ok stays as it is.
#ifndef PETREL_EXIR_ANNOTATE_H_
#define PETREL_EXIR_ANNOTATE_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace petrel::exir {

inline absl::Status annotate(const absl::Status& status, absl::string_view place) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(place, ": ", status.message()));
}

}  // namespace petrel::exir

#endif  // PETREL_EXIR_ANNOTATE_H_
