// SPDX-License-Identifier: Apache-2.0

#include "exir/json/json_text.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace petrel::exir {

using nlohmann::ordered_json;

namespace {

// The library looks for each key among those before it, and writes nested values by
// recursion.
constexpr size_t kMaxKeys = 1000;
constexpr int kMaxDepth = 100;

}  // namespace

absl::StatusOr<ordered_json> parse_json(absl::string_view text) {
  // The library throws for wrong syntax, and for numbers that no double holds.
  size_t byte = 0;
  try {
    std::vector<size_t> keys;
    bool is_wide = false, is_deep = false;
    const auto count = [&](int depth, ordered_json::parse_event_t event, const ordered_json&) {
      const bool is_object = event == ordered_json::parse_event_t::object_start;
      const bool opens = is_object || event == ordered_json::parse_event_t::array_start;
      is_deep = is_deep || (opens && depth >= kMaxDepth);
      if (is_object) keys.push_back(0);
      if (event == ordered_json::parse_event_t::object_end) keys.pop_back();
      if (event == ordered_json::parse_event_t::key) {
        is_wide = is_wide || ++keys.back() > kMaxKeys;
      }
      return !is_wide && !is_deep;
    };
    ordered_json json = ordered_json::parse(text.begin(), text.end(), count);
    if (is_wide) {
      return absl::InvalidArgumentError(
          absl::StrCat("an object has more than ", kMaxKeys, " keys"));
    }
    if (is_deep) {
      return absl::InvalidArgumentError(
          absl::StrCat("more than ", kMaxDepth, " arrays and objects are inside each other"));
    }
    return json;
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

}  // namespace petrel::exir
