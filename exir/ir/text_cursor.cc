// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/text_cursor.h"

#include <limits>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || c == '/' || c == '@';
}

}  // namespace

absl::Status TextCursor::error(const std::string& what) const {
  size_t line = 1;
  size_t column = 1;
  for (size_t i = 0; i < place_; ++i) {
    column = text_[i] == '\n' ? 1 : column + 1;
    line += text_[i] == '\n' ? 1 : 0;
  }
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ", column ", column, ": ", what));
}

void TextCursor::skip_space() {
  while (place_ < text_.size()) {
    const char c = text_[place_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++place_;
    } else if (absl::StartsWith(text_.substr(place_), "//")) {
      while (place_ < text_.size() && text_[place_] != '\n') ++place_;
    } else {
      return;
    }
  }
}

bool TextCursor::at(absl::string_view token) {
  skip_space();
  if (!absl::StartsWith(text_.substr(place_), token)) return false;
  const size_t end = place_ + token.size();
  // A keyword ends where the word does; a sigil does not.
  const bool keyword = token.back() >= 'a' && token.back() <= 'z';
  return !keyword || end == text_.size() || !is_word_char(text_[end]);
}

bool TextCursor::accept(absl::string_view token) {
  if (!at(token)) return false;
  place_ += token.size();
  return true;
}

absl::Status TextCursor::expect(absl::string_view token) {
  if (accept(token)) return absl::OkStatus();
  return error(absl::StrCat("expected '", token, "'"));
}

absl::string_view TextCursor::word() {
  skip_space();
  const size_t begin = place_;
  while (place_ < text_.size() && is_word_char(text_[place_])) ++place_;
  return text_.substr(begin, place_ - begin);
}

absl::StatusOr<std::string> TextCursor::string_literal() {
  PETREL_RETURN_IF_ERROR(expect("\""));
  const size_t begin = place_;
  while (place_ < text_.size() && text_[place_] != '"') {
    place_ += text_[place_] == '\\' ? 2 : 1;
  }
  if (place_ >= text_.size()) {
    place_ = text_.size();
    return error("the string has no closing quote");
  }
  std::string text;
  std::string why;
  if (!absl::CUnescape(text_.substr(begin, place_ - begin), &text, &why)) {
    return error(absl::StrCat("bad escape in a string: ", why));
  }
  ++place_;
  return text;
}

absl::StatusOr<std::string> TextCursor::name(char sigil) {
  PETREL_RETURN_IF_ERROR(expect(std::string(1, sigil)));
  if (place_ < text_.size() && text_[place_] == '"') return string_literal();
  const size_t begin = place_;
  const std::string found(word());
  if (found.empty() || text_[begin] != found[0]) {
    place_ = begin;
    return error(absl::StrCat("expected a name after '", std::string(1, sigil), "'"));
  }
  return found;
}

absl::StatusOr<int64_t> TextCursor::integer() {
  skip_space();
  const size_t begin = place_;
  if (place_ < text_.size() && text_[place_] == '-') ++place_;
  while (place_ < text_.size() && is_word_char(text_[place_])) ++place_;
  int64_t number = 0;
  const absl::string_view digits = text_.substr(begin, place_ - begin);
  if (absl::SimpleAtoi(digits, &number)) return number;
  place_ = begin;
  return error(absl::StrCat("expected an integer, found '", digits, "'"));
}

absl::StatusOr<int64_t> TextCursor::digits() {
  skip_space();
  size_t end = place_;
  if (end < text_.size() && text_[end] == '-') ++end;
  while (end < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[end]))) ++end;
  int64_t number = 0;
  const absl::string_view found = text_.substr(place_, end - place_);
  if (!absl::SimpleAtoi(found, &number)) {
    return error(absl::StrCat("expected an integer, found '", found, "'"));
  }
  place_ = end;
  return number;
}

absl::string_view TextCursor::identifier() {
  skip_space();
  const size_t begin = place_;
  while (place_ < text_.size() &&
         (absl::ascii_isalpha(static_cast<unsigned char>(text_[place_])) || text_[place_] == '_' ||
          (place_ > begin && absl::ascii_isdigit(static_cast<unsigned char>(text_[place_]))))) {
    ++place_;
  }
  return text_.substr(begin, place_ - begin);
}

bool TextCursor::follows(absl::string_view token) {
  if (text_.substr(place_, token.size()) != token) return false;
  place_ += token.size();
  return true;
}

absl::StatusOr<Argument> TextCursor::literal() {
  skip_space();
  const size_t begin = place_;
  if (place_ < text_.size() && text_[place_] == '-') ++place_;
  while (place_ < text_.size() && is_word_char(text_[place_])) {
    const bool exponent = text_[place_] == 'e';
    ++place_;
    // The sign inside 1e-05 is not a word character.
    if (exponent && place_ < text_.size() && (text_[place_] == '-' || text_[place_] == '+') &&
        begin < place_ - 1 && text_[place_ - 2] >= '.' && text_[place_ - 2] <= '9') {
      ++place_;
    }
  }
  const std::string token(text_.substr(begin, place_ - begin));
  if (token == "none") return Argument();
  if (token == "true") return Argument(true);
  if (token == "false") return Argument(false);
  if (token == "inf") return Argument(std::numeric_limits<double>::infinity());
  if (token == "-inf") {
    return Argument(-std::numeric_limits<double>::infinity());
  }
  if (token == "nan") {
    return Argument(std::numeric_limits<double>::quiet_NaN());
  }
  if (token == "contiguous_format") return Argument(MemoryFormat::kContiguous);
  if (token == "preserve_format") return Argument(MemoryFormat::kPreserve);
  if (token == "channels_last") return Argument(MemoryFormat::kChannelsLast);
  if (token == "channels_last_3d") {
    return Argument(MemoryFormat::kChannelsLast3d);
  }
  if (const std::optional<ScalarType> dtype = parse_scalar_type(token)) {
    return Argument(*dtype);
  }
  int64_t number = 0;
  if (absl::SimpleAtoi(token, &number)) return Argument(number);
  double real = 0;
  const bool starts_number =
      !token.empty() && (token[0] == '-' || (token[0] >= '0' && token[0] <= '9'));
  const bool is_real = token.find('.') != std::string::npos || token.find('e') != std::string::npos;
  if (starts_number && is_real && absl::SimpleAtod(token, &real)) {
    return Argument(real);
  }
  place_ = begin;
  return error(absl::StrCat("expected an argument, found '", token, "'"));
}

}  // namespace petrel::exir
