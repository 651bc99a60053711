// SPDX-License-Identifier: Apache-2.0

#include "exir/json/json_text.h"

#include <algorithm>
#include <cstddef>
#include <set>
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
// Of a key in a message.
constexpr size_t kMostShown = 80;

// Json::parse with its callback, without exceptions: the library throws for wrong syntax, and for
// numbers that no double holds.
template <typename Json, typename See>
absl::StatusOr<Json> parse_with(absl::string_view text, const See& see) {
  size_t byte = 0;
  bool is_deep = false;
  const auto bounded = [&](int depth, typename Json::parse_event_t event, Json& parsed) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    is_deep = is_deep || (opens && depth >= kMaxDepth);
    return !is_deep && see(event, parsed);
  };
  try {
    Json json = Json::parse(text.begin(), text.end(), bounded);
    if (!is_deep) return json;
    return absl::InvalidArgumentError(
        absl::StrCat("more than ", kMaxDepth, " arrays and objects are inside each other"));
  } catch (const typename Json::parse_error& error) {
    byte = error.byte;
  } catch (const typename Json::out_of_range& error) {
    return absl::InvalidArgumentError(absl::StrCat("is not JSON: ", error.what()));
  }
  const size_t at = std::min(byte, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + at, '\n');
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": is not JSON at byte ", byte));
}

}  // namespace

absl::StatusOr<ordered_json> parse_json(absl::string_view text) {
  std::vector<size_t> keys;  // of the objects around the place that is read
  bool is_wide = false;
  auto json = parse_with<ordered_json>(text, [&](auto event, const ordered_json&) {
    if (event == ordered_json::parse_event_t::object_start) keys.push_back(0);
    if (event == ordered_json::parse_event_t::object_end) keys.pop_back();
    if (event == ordered_json::parse_event_t::key) is_wide = is_wide || ++keys.back() > kMaxKeys;
    return !is_wide;
  });
  if (!json.ok() || !is_wide) return json;
  return absl::InvalidArgumentError(absl::StrCat("an object has more than ", kMaxKeys, " keys"));
}

absl::StatusOr<nlohmann::json> parse_unique_json(absl::string_view text) {
  std::vector<std::set<std::string>> keys;  // of the objects around the place that is read
  std::string twice;
  auto json = parse_with<nlohmann::json>(text, [&](auto event, const nlohmann::json& parsed) {
    if (event == nlohmann::json::parse_event_t::object_start) keys.emplace_back();
    if (event == nlohmann::json::parse_event_t::object_end) keys.pop_back();
    if (event == nlohmann::json::parse_event_t::key && twice.empty()) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second) twice = key;
    }
    return true;
  });
  if (!json.ok() || twice.empty()) return json;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", twice.substr(0, kMostShown), "\" stands in one object twice"));
}

std::string json_text(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace petrel::exir
