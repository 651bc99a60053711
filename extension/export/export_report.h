// SPDX-License-Identifier: Apache-2.0
//
// The report of an export for people and as JSON, and its warnings.
#ifndef PETREL_EXTENSION_EXPORT_EXPORT_REPORT_H_
#define PETREL_EXTENSION_EXPORT_EXPORT_REPORT_H_

#include <string>
#include <vector>

#include "exir/driver/export.h"

namespace petrel::extension {

std::string format_report_text(const exir::ExportReport& report);
std::string format_report_json(const exir::ExportReport& report);

// What whoever exports should be told although it succeeded.
std::vector<std::string> export_warnings(const exir::ExportReport& report);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_EXPORT_REPORT_H_
