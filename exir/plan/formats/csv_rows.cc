// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/formats/csv_rows.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "exir/status_macros.h"

namespace petrel::exir::plan {
namespace {

template <typename... Args>
absl::Status bad_line(size_t line, const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", args...));
}

// A cell takes far more memory than the comma that makes it, and no format has so many columns.
constexpr size_t kMaxCells = 100;

// As much of a cell as a message shows.
absl::string_view shown(absl::string_view text) {
  return text.substr(0, text.find_first_of("\r\n")).substr(0, 40);
}

}  // namespace

absl::StatusOr<bool> CsvReader::next(CsvRow* row) {
  while (!rest_.empty() && skip_empty_line()) {
  }
  if (rest_.empty()) return false;
  row->line = line_;
  row->cells.clear();
  do {
    if (row->cells.size() == kMaxCells) {
      return bad_line(row->line, "has more than ", kMaxCells, " cells");
    }
    skip_spaces();
    PETREL_ASSIGN_OR_RETURN(std::string cell, absl::StartsWith(rest_, "\"") ? quoted() : plain());
    row->cells.push_back(std::move(cell));
  } while (absl::ConsumePrefix(&rest_, ","));
  if (absl::ConsumePrefix(&rest_, "\n")) ++line_;
  return true;
}

// Up to a comma, the end of the line or that of the text.
absl::StatusOr<std::string> CsvReader::plain() {
  const absl::string_view cell = absl::StripAsciiWhitespace(take_to(",\n"));
  if (absl::StrContains(cell, '"')) {
    return bad_line(line_, "cell \"", shown(cell),
                    "\" has a quote inside; such a cell must stand in "
                    "quotes, each of its own doubled");
  }
  return std::string(cell);
}

absl::StatusOr<std::string> CsvReader::quoted() {
  const size_t first_line = line_;
  rest_.remove_prefix(1);
  std::string cell;
  for (;;) {
    const absl::string_view piece = take_to("\"");
    for (const char c : piece) line_ += c == '\n' ? 1 : 0;
    cell.append(piece.data(), piece.size());
    if (rest_.empty()) {
      return bad_line(first_line, "cell \"", shown(cell), "\" has no closing quote");
    }
    rest_.remove_prefix(1);
    if (!absl::ConsumePrefix(&rest_, "\"")) break;
    cell += '"';
  }
  const absl::string_view behind = absl::StripAsciiWhitespace(take_to(",\n"));
  if (!behind.empty()) {
    return bad_line(line_, "\"", shown(behind),
                    "\" follows a closing quote, must be a comma or the end "
                    "of the line");
  }
  return cell;
}

void CsvReader::skip_spaces() {
  while (!rest_.empty() && rest_[0] != '\n' &&
         absl::ascii_isspace(static_cast<unsigned char>(rest_[0]))) {
    rest_.remove_prefix(1);
  }
}

bool CsvReader::skip_empty_line() {
  skip_spaces();
  if (!absl::ConsumePrefix(&rest_, "\n")) return rest_.empty();
  ++line_;
  return true;
}

// What stands before the first of `ends`, which stays.
absl::string_view CsvReader::take_to(const char* ends) {
  const absl::string_view taken = rest_.substr(0, rest_.find_first_of(ends));
  rest_.remove_prefix(taken.size());
  return taken;
}

std::string csv_cell(absl::string_view text) {
  if (text.find_first_of(",\"\n") == absl::string_view::npos &&
      absl::StripAsciiWhitespace(text).size() == text.size()) {
    return std::string(text);
  }
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

}  // namespace petrel::exir::plan
