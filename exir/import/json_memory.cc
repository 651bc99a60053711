// SPDX-License-Identifier: Apache-2.0
#include "exir/import/json_memory.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"

namespace petrel::exir {
namespace {

using rapidjson::SizeType;

// At most so many times the text, and some more.
constexpr size_t kMaxTimes = 4;
constexpr size_t kMoreBytes = size_t{16} << 20;
// Of an item, and of a member with its name.
constexpr size_t kItemBytes = 16;
constexpr size_t kMemberBytes = 2 * 16;
// Long lists and objects are also held on the library's stack, and by Json::items() or
// Json::members(), for each of their items and members.
constexpr SizeType kLong = 64;
constexpr size_t kHeldItemBytes = 24 + 56;
constexpr size_t kHeldMemberBytes = 2 * 24 + 88;
// Shorter texts lie in their value.
constexpr SizeType kLongText = 14;
// Characters of a number that is zero; torch writes at most four.
constexpr SizeType kLongZero = 16;
// Of one that is too large or too small for a double.
constexpr SizeType kLongNumber = 300;

// Counts what the library's Document would keep.
class Counter : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Counter> {
 public:
  Counter(size_t max_depth, size_t max_bytes) : max_depth_(max_depth), max_bytes_(max_bytes) {}

  bool is_deep() const { return depth_ > max_depth_; }
  bool has_odd_zero() const { return has_odd_zero_; }
  bool has_no_double() const { return has_no_double_; }

  bool Default() { return true; }
  // RapidJSON looks for the first bit of a zero whose point it has to move far.
  bool RawNumber(const char* digits, SizeType length, bool) {
    const std::string_view text(digits, length);
    const bool is_zero = text.substr(0, text.find_first_of("eE")).find_first_of("123456789") ==
                         std::string_view::npos;
    const bool has_exponent = text.find_first_of("eE") != text.npos;
    has_odd_zero_ = is_zero && (length > kLongZero || has_exponent);
    // Without an exponent, what is shorter has a double.
    const bool may_have_none = !is_zero && (has_exponent || length > kLongNumber);
    has_no_double_ = may_have_none && is_lost(std::string(text));
    return !has_odd_zero_ && !has_no_double_;
  }
  bool Key(const char*, SizeType length, bool) { return take(text_bytes(length)); }
  bool String(const char*, SizeType length, bool) { return take(text_bytes(length)); }
  bool StartObject() { return open(); }
  bool StartArray() { return open(); }
  bool EndObject(SizeType members) { return close(members, kMemberBytes, kHeldMemberBytes); }
  bool EndArray(SizeType items) { return close(items, kItemBytes, kHeldItemBytes); }

 private:
  // RapidJSON gives others instead: -2e307 for 1e-325.
  static bool is_lost(const std::string& digits) {
    const double value = std::strtod(digits.c_str(), nullptr);
    return value == 0 || std::isinf(value);
  }
  static size_t text_bytes(SizeType length) { return length < kLongText ? 0 : length + size_t{8}; }
  bool take(size_t bytes) {
    bytes_ += bytes;
    return bytes_ <= max_bytes_;
  }
  bool open() {
    ++depth_;
    return !is_deep();
  }
  bool close(SizeType count, size_t bytes, size_t held_bytes) {
    --depth_;
    return take(count * (bytes + (count > kLong ? held_bytes : 0)));
  }

  const size_t max_depth_;
  const size_t max_bytes_;
  bool has_odd_zero_ = false;
  bool has_no_double_ = false;
  size_t depth_ = 0;
  size_t bytes_ = 0;
};

}  // namespace

absl::Status check_json_memory(std::string_view text, size_t max_depth, const std::string& name) {
  const size_t most = kMaxTimes * text.size() + kMoreBytes;
  Counter counter(max_depth, most);
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> input(stream);
  rapidjson::Reader reader;
  constexpr unsigned kHow = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
                            rapidjson::kParseNumbersAsStringsFlag;
  const rapidjson::ParseResult result = reader.Parse<kHow>(input, counter);
  if (!result.IsError()) return absl::OkStatus();
  if (counter.is_deep()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": is not JSON of an archive: nests deeper than ", max_depth));
  }
  if (counter.has_odd_zero()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": is not JSON of an archive: a zero has an exponent or more than ",
                     kLongZero, " characters, before byte ", result.Offset() + 1));
  }
  if (counter.has_no_double()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": is not JSON of an archive: a number is too large or too small for a ",
                     "double, before byte ", result.Offset() + 1));
  }
  if (result.Code() == rapidjson::kParseErrorTermination) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": its values take more than ", most,
                                                   " bytes of memory, the most for a text of ",
                                                   text.size(), " bytes"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": is not JSON: ", rapidjson::GetParseError_En(result.Code()), " Byte ",
                   result.Offset() + 1, "."));
}

}  // namespace petrel::exir
