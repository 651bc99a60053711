// SPDX-License-Identifier: Apache-2.0
#include "extension/export/export_status.h"

#include <nlohmann/json.hpp>
#include <string>

#include "extension/export/export_report.h"
#include "runtime/core/version.h"

namespace petrel::extension {

using nlohmann::ordered_json;

bool is_of_machine(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnavailable:
      return true;
    default:
      return false;
  }
}

std::string format_status_json(const absl::StatusOr<exir::ExportReport>& report) {
  ordered_json json = {{"petrel", kVersion}, {"error", nullptr}};
  json["warnings"] = ordered_json::array();
  if (report.ok()) {
    json["warnings"] = export_warnings(*report);
    json["report"] = ordered_json::parse(format_report_json(*report));
  } else {
    json["error"] = std::string(report.status().message());
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace petrel::extension
