// SPDX-License-Identifier: Apache-2.0
//
// Puts a place in front of an error: annotate(status, "value 'x'") turns
// "rank is 17, must be at most 16" into "value 'x': rank is 17, ...".
#ifndef PETREL_EXIR_IMPORT_ANNOTATE_H_
#define PETREL_EXIR_IMPORT_ANNOTATE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace petrel::exir {

inline absl::Status annotate(const absl::Status& status, const std::string& place) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(place, ": ", status.message()));
}

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_ANNOTATE_H_
