// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/formats/json_text.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace petrel::exir::plan {

using nlohmann::ordered_json;

absl::StatusOr<ordered_json> parse_json(absl::string_view text) {
  // The library throws for wrong syntax, and for numbers that no double holds.
  size_t byte = 0;
  try {
    return ordered_json::parse(text.begin(), text.end());
  } catch (const ordered_json::parse_error& error) {
    byte = error.byte;
  } catch (const ordered_json::out_of_range& error) {
    return absl::InvalidArgumentError(absl::StrCat("is not JSON: ", error.what()));
  }
  const size_t at = std::min(byte, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + at, '\n');
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": is not JSON at byte ", byte));
}

std::string json_text(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace petrel::exir::plan
