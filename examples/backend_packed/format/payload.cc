// SPDX-License-Identifier: Apache-2.0
#include "examples/backend_packed/format/payload.h"

#include <charconv>
#include <system_error>

namespace petrel::backends::packed {
namespace {

std::string_view take_word(std::string_view* line) {
  const size_t end = line->find(' ');
  const std::string_view word = line->substr(0, end);
  line->remove_prefix(end == std::string_view::npos ? line->size() : end + 1);
  return word;
}

bool take_number(std::string_view* line, size_t* number) {
  const std::string_view word = take_word(line);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *number);
  return error == std::errc() && end == word.data() + word.size();
}

bool kind_of(std::string_view word, Line::Kind* kind) {
  if (word == "input") return *kind = Line::Kind::kInput, true;
  if (word == "part") return *kind = Line::Kind::kPart, true;
  if (word == "add") return *kind = Line::Kind::kAdd, true;
  if (word == "mul") return *kind = Line::Kind::kMul, true;
  if (word == "output") return *kind = Line::Kind::kOutput, true;
  return false;
}

bool parse(std::string_view text, Line* line) {
  *line = Line();
  if (!kind_of(take_word(&text), &line->kind) || !take_number(&text, &line->first)) {
    return false;
  }
  switch (line->kind) {
    case Line::Kind::kPart:
      if (!take_number(&text, &line->second) || !take_number(&text, &line->of)) return false;
      line->key = text;
      return !line->key.empty();
    case Line::Kind::kAdd:
    case Line::Kind::kMul:
      if (!take_number(&text, &line->second)) return false;
      break;
    default:
      break;
  }
  return text.empty();
}

}  // namespace

std::string_view PayloadReader::take_line() {
  const size_t end = rest_.find('\n');
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  return line;
}

bool PayloadReader::read_first_line() { return take_line() == kFirstLine; }

bool PayloadReader::next(Line* line) {
  if (rest_.empty() || malformed_) return false;
  malformed_ = !parse(take_line(), line);
  return !malformed_;
}

}  // namespace petrel::backends::packed
