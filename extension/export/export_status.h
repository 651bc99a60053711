// SPDX-License-Identifier: Apache-2.0
//
// What became of an export, for whoever exports many models and goes on when one fails:
//
//   {"petrel": "0.1.0", "error": null, "warnings": [], "report": {...}}
//   {"petrel": "0.1.0", "error": "aten.foo: the operator is not supported", "warnings": []}
//
// The report is that of `petrel export --json`.
#ifndef PETREL_EXTENSION_EXPORT_EXPORT_STATUS_H_
#define PETREL_EXTENSION_EXPORT_EXPORT_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/driver/export.h"

namespace petrel::extension {

// Whether another try, or another machine, may succeed: a file cannot be written, a process did
// not start, time ran out. Such a failure says nothing about the model and must not be kept.
bool is_of_machine(const absl::Status& status);

std::string format_status_json(const absl::StatusOr<exir::ExportReport>& report);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_EXPORT_STATUS_H_
