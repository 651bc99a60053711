// SPDX-License-Identifier: Apache-2.0

#include "exir/json/json_text.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace petrel::exir {

using nlohmann::ordered_json;

namespace {

// The library looks for each key among those before it, and writes nested values by
// recursion.
constexpr size_t kMaxKeys = 1000;
constexpr size_t kMaxDepth = 100;
// The library's values take up to thirty times their text: at most four times, and some more.
constexpr size_t kMaxTimes = 4;
constexpr size_t kMoreBytes = size_t{64} << 20;
// Upper bounds, with what a list or object keeps free to grow.
constexpr size_t kContainerBytes = 64;
constexpr size_t kElementBytes = 48;
constexpr size_t kMemberBytes = 112;
constexpr size_t kTextBytes = 48;
// Of a key in a message.
constexpr size_t kMostShown = 80;

// Makes a Json of what the library reads and stops at the first of its bounds: with its
// callback, the library would read on, and look through a list again after each object in it.
template <typename Json>
class Reader {
 public:
  using number_integer_t = typename Json::number_integer_t;
  using number_unsigned_t = typename Json::number_unsigned_t;
  using number_float_t = typename Json::number_float_t;
  using string_t = typename Json::string_t;
  using binary_t = typename Json::binary_t;

  Reader(size_t text_bytes, bool keys_are_unique)
      : most_(kMaxTimes * text_bytes + kMoreBytes),
        text_bytes_(text_bytes),
        keys_are_unique_(keys_are_unique) {}

  bool null() { return take(kElementBytes) && maker_.null(); }
  bool boolean(bool value) { return take(kElementBytes) && maker_.boolean(value); }
  bool number_integer(number_integer_t value) {
    return take(kElementBytes) && maker_.number_integer(value);
  }
  bool number_unsigned(number_unsigned_t value) {
    return take(kElementBytes) && maker_.number_unsigned(value);
  }
  bool number_float(number_float_t value, const string_t& text) {
    return take(kElementBytes) && maker_.number_float(value, text);
  }
  bool string(string_t& value) {
    return take(kElementBytes + kTextBytes + value.size()) && maker_.string(value);
  }
  bool binary(binary_t& value) { return maker_.binary(value); }  // text has none
  bool start_object(size_t size) { return open() && maker_.start_object(size); }
  bool start_array(size_t size) { return open() && maker_.start_array(size); }
  bool end_object() {
    keys_.pop_back();
    return maker_.end_object();
  }
  bool end_array() {
    keys_.pop_back();
    return maker_.end_array();
  }
  bool key(string_t& value) {
    Keys& keys = keys_.back();
    if (keys_are_unique_ && !keys.seen.insert(value).second) {
      return stop(absl::StrCat("\"", value.substr(0, kMostShown), "\" stands in one object twice"));
    }
    if (!keys_are_unique_ && ++keys.count > kMaxKeys) {
      return stop(absl::StrCat("an object has more than ", kMaxKeys, " keys"));
    }
    return take(kMemberBytes + value.size()) && maker_.key(value);
  }
  bool parse_error(size_t byte, const std::string&, const nlohmann::detail::exception& error) {
    // Also numbers that no double holds.
    if (dynamic_cast<const typename Json::parse_error*>(&error) == nullptr) {
      return stop(absl::StrCat("is not JSON: ", error.what()));
    }
    wrong_byte_ = byte;
    return false;
  }

  // Of what stopped the reader.
  absl::Status why(absl::string_view text) const {
    if (!why_.empty()) return absl::InvalidArgumentError(why_);
    const size_t at = std::min(wrong_byte_, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + at, '\n');
    return absl::InvalidArgumentError(
        absl::StrCat("line ", line, ": is not JSON at byte ", wrong_byte_));
  }
  Json& made() { return json_; }

 private:
  struct Keys {
    size_t count = 0;
    std::set<std::string> seen;
  };

  bool stop(std::string why) {
    why_ = std::move(why);
    return false;
  }
  bool take(size_t bytes) {
    taken_ += bytes;
    if (taken_ <= most_) return true;
    return stop(absl::StrCat("its values take more than ", most_,
                             " bytes of memory, the most for a text of ", text_bytes_, " bytes"));
  }
  bool open() {
    if (keys_.size() == kMaxDepth) {
      return stop(
          absl::StrCat("more than ", kMaxDepth, " arrays and objects are inside each other"));
    }
    keys_.emplace_back();
    return take(kElementBytes + kContainerBytes);
  }

  Json json_;
  nlohmann::detail::json_sax_dom_parser<Json> maker_{json_, /*allow_exceptions=*/false};
  std::vector<Keys> keys_;  // of the lists and objects around the place that is read
  size_t taken_ = 0;
  const size_t most_;
  const size_t text_bytes_;
  const bool keys_are_unique_;
  size_t wrong_byte_ = 0;
  std::string why_;
};

template <typename Json>
absl::StatusOr<Json> parse(absl::string_view text, bool keys_are_unique) {
  Reader<Json> reader(text.size(), keys_are_unique);
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) return reader.why(text);
  return std::move(reader.made());
}

}  // namespace

absl::StatusOr<ordered_json> parse_json(absl::string_view text) {
  return parse<ordered_json>(text, /*keys_are_unique=*/false);
}

absl::StatusOr<nlohmann::json> parse_unique_json(absl::string_view text) {
  return parse<nlohmann::json>(text, /*keys_are_unique=*/true);
}

std::string json_text(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace petrel::exir
