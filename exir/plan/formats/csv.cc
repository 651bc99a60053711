// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/formats/csv.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "exir/plan/formats/csv_rows.h"
#include "exir/status_macros.h"

namespace petrel::exir::plan {
namespace {

enum Column {
  kId,
  kLower,
  kUpper,
  kStart,
  kEnd,
  kSize,
  kAlignment,
  kGaps,
  kHint,
  kOffset,
  kNumColumns
};

constexpr std::array<const char*, kNumColumns> kColumnNames = {
    "id", "lower", "upper", "start", "end", "size", "alignment", "gaps", "hint", "offset"};

// Cells by column; those of columns that the file does not have are empty.
struct Line {
  size_t number;
  std::array<absl::string_view, kNumColumns> cells;
};

template <typename... Args>
absl::Status bad_line(size_t number, const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", args...));
}

absl::StatusOr<int64_t> parse_number(absl::string_view text, size_t line, const char* what) {
  int64_t value = 0;
  if (!absl::SimpleAtoi(text, &value)) {
    return bad_line(line, what, " is \"", text, "\", must be a whole number of at most 64 bits");
  }
  return value;
}

// `end` as a file states it to the end exclusive.
absl::StatusOr<int64_t> past(int64_t end, size_t line) {
  if (end == std::numeric_limits<int64_t>::max()) {
    return bad_line(line, "end is ", end, ", must be smaller");
  }
  return end + 1;
}

absl::StatusOr<Gap> parse_gap(absl::string_view text, size_t line, int64_t size, bool inclusive) {
  const std::pair<absl::string_view, absl::string_view> time_and_window =
      absl::StrSplit(text, absl::MaxSplits('@', 1));
  // A leading minus belongs to the number.
  const size_t dash = time_and_window.first.find('-', 1);
  if (dash == absl::string_view::npos) {
    return bad_line(line, "gap is \"", text, "\", must be BEGIN-END");
  }
  Gap gap;
  PETREL_ASSIGN_OR_RETURN(
      gap.time.begin, parse_number(time_and_window.first.substr(0, dash), line, "begin of a gap"));
  PETREL_ASSIGN_OR_RETURN(
      gap.time.end, parse_number(time_and_window.first.substr(dash + 1), line, "end of a gap"));
  if (inclusive) {
    PETREL_ASSIGN_OR_RETURN(gap.time.end, past(gap.time.end, line));
  }
  if (time_and_window.first.size() == text.size()) return gap;
  const std::pair<absl::string_view, absl::string_view> window =
      absl::StrSplit(time_and_window.second, absl::MaxSplits(':', 1));
  PETREL_ASSIGN_OR_RETURN(gap.low, parse_number(window.first, line, "window of a gap"));
  PETREL_ASSIGN_OR_RETURN(gap.high, parse_number(window.second, line, "window of a gap"));
  if (gap.low < 0 || gap.low > gap.high || gap.high > size) {
    return bad_line(line, "gap keeps bytes [", gap.low, ", ", gap.high, "), must be within [0, ",
                    size, ")");
  }
  return gap;
}

absl::StatusOr<std::optional<int64_t>> parse_optional(const Line& line, Column column) {
  const absl::string_view cell = line.cells[column];
  if (cell.empty()) return std::optional<int64_t>();
  PETREL_ASSIGN_OR_RETURN(const int64_t value,
                          parse_number(cell, line.number, kColumnNames[column]));
  return std::optional<int64_t>(value);
}

absl::StatusOr<Buffer> parse_buffer(const Line& line, bool inclusive) {
  Buffer buffer;
  buffer.id = std::string(line.cells[kId]);
  if (buffer.id.empty()) return bad_line(line.number, "id is empty");
  PETREL_ASSIGN_OR_RETURN(buffer.size, parse_number(line.cells[kSize], line.number, "size"));
  const Column begin = inclusive ? kStart : kLower;
  const Column end = inclusive ? kEnd : kUpper;
  PETREL_ASSIGN_OR_RETURN(buffer.lifetime.begin,
                          parse_number(line.cells[begin], line.number, kColumnNames[begin]));
  PETREL_ASSIGN_OR_RETURN(buffer.lifetime.end,
                          parse_number(line.cells[end], line.number, kColumnNames[end]));
  if (inclusive) {
    PETREL_ASSIGN_OR_RETURN(buffer.lifetime.end, past(buffer.lifetime.end, line.number));
  }
  PETREL_ASSIGN_OR_RETURN(const std::optional<int64_t> alignment, parse_optional(line, kAlignment));
  buffer.alignment = alignment.value_or(1);
  PETREL_ASSIGN_OR_RETURN(buffer.hint, parse_optional(line, kHint));
  PETREL_ASSIGN_OR_RETURN(buffer.offset, parse_optional(line, kOffset));
  for (const absl::string_view text : absl::StrSplit(line.cells[kGaps], ' ', absl::SkipEmpty())) {
    PETREL_ASSIGN_OR_RETURN(const Gap gap, parse_gap(text, line.number, buffer.size, inclusive));
    buffer.gaps.push_back(gap);
  }
  return buffer;
}

// For every column its position in the file, or -1.
absl::StatusOr<std::array<int, kNumColumns>> parse_header(const CsvRow& row) {
  std::array<int, kNumColumns> position;
  position.fill(-1);
  int next = 0;
  for (const std::string& name : row.cells) {
    size_t column = 0;
    while (column < kNumColumns && name != kColumnNames[column]) ++column;
    if (column == kNumColumns) {
      return bad_line(row.line, "column \"", name, "\" is not one of ",
                      "id, lower, upper, start, end, size, alignment, gaps, "
                      "hint, offset");
    }
    if (position[column] >= 0) {
      return bad_line(row.line, "column \"", name, "\" comes twice");
    }
    position[column] = next++;
  }
  const bool half_open = position[kLower] >= 0 && position[kUpper] >= 0;
  const bool inclusive = position[kStart] >= 0 && position[kEnd] >= 0;
  if (position[kId] < 0 || position[kSize] < 0 || half_open == inclusive) {
    return bad_line(row.line, "columns must hold id, size, and either lower and ",
                    "upper or start and end");
  }
  return position;
}

// Short rows take far more memory as buffers: at most four times their file, and some more.
size_t most_buffers(size_t bytes) {
  constexpr size_t kMoreBytes = size_t{64} << 20;
  return (4 * bytes + kMoreBytes) / sizeof(Buffer);
}

void append_row(const std::array<bool, kNumColumns>& used,
                const std::array<std::string, kNumColumns>& cells, std::string* text) {
  bool first = true;
  for (size_t c = 0; c < kNumColumns; ++c) {
    if (!used[c]) continue;
    absl::StrAppend(text, first ? "" : ",", cells[c]);
    first = false;
  }
  *text += '\n';
}

std::string format_gaps(const Buffer& buffer) {
  std::string text;
  for (const Gap& gap : buffer.gaps) {
    absl::StrAppend(&text, text.empty() ? "" : " ", gap.time.begin, "-", gap.time.end);
    if (gap.low < gap.high) {
      absl::StrAppend(&text, "@", gap.low, ":", gap.high);
    }
  }
  return text;
}

std::string format(const Problem& problem, const Solution* solution) {
  std::array<bool, kNumColumns> used{};
  used[kId] = used[kLower] = used[kUpper] = used[kSize] = true;
  used[kOffset] = solution != nullptr;
  for (const Buffer& buffer : problem.buffers) {
    used[kAlignment] = used[kAlignment] || buffer.alignment != 1;
    used[kGaps] = used[kGaps] || !buffer.gaps.empty();
    used[kHint] = used[kHint] || buffer.hint.has_value();
    used[kOffset] = used[kOffset] || buffer.offset.has_value();
  }
  std::array<std::string, kNumColumns> cells;
  for (size_t c = 0; c < kNumColumns; ++c) cells[c] = kColumnNames[c];
  std::string text;
  append_row(used, cells, &text);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    std::optional<int64_t> offset = buffer.offset;
    if (solution != nullptr) offset = solution->placements[i].offset;
    cells[kId] = csv_cell(buffer.id);
    cells[kLower] = absl::StrCat(buffer.lifetime.begin);
    cells[kUpper] = absl::StrCat(buffer.lifetime.end);
    cells[kSize] = absl::StrCat(buffer.size);
    cells[kAlignment] = absl::StrCat(buffer.alignment);
    cells[kGaps] = format_gaps(buffer);
    cells[kHint] = buffer.hint ? absl::StrCat(*buffer.hint) : "";
    cells[kOffset] = offset ? absl::StrCat(*offset) : "";
    append_row(used, cells, &text);
  }
  return text;
}

}  // namespace

absl::StatusOr<Problem> parse_csv(absl::string_view text) {
  Problem problem;
  problem.pools.resize(1);
  problem.pools[0].name = "arena";
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");  // what spreadsheets write
  CsvReader reader(text);
  CsvRow header;
  PETREL_ASSIGN_OR_RETURN(const bool has_header, reader.next(&header));
  if (!has_header) return bad_line(1, "the file is empty, must begin with the columns");
  PETREL_ASSIGN_OR_RETURN(const auto position, parse_header(header));
  const size_t most = most_buffers(text.size());
  problem.buffers.reserve(std::min<size_t>(most, std::count(text.begin(), text.end(), '\n')));
  for (CsvRow row;;) {
    PETREL_ASSIGN_OR_RETURN(const bool is_row, reader.next(&row));
    if (!is_row) break;
    if (row.cells.size() != header.cells.size()) {
      return bad_line(row.line, "has ", row.cells.size(), " columns, must have ",
                      header.cells.size());
    }
    if (problem.buffers.size() == most) {
      return bad_line(row.line, "is of more than ", most, " buffers, the most that a file of ",
                      text.size(), " bytes may have");
    }
    Line line{row.line, {}};
    for (size_t c = 0; c < kNumColumns; ++c) {
      if (position[c] >= 0) line.cells[c] = row.cells[position[c]];
    }
    PETREL_ASSIGN_OR_RETURN(Buffer buffer, parse_buffer(line, position[kStart] >= 0));
    buffer.origin = absl::StrCat("line ", row.line);
    problem.buffers.push_back(std::move(buffer));
  }
  PETREL_RETURN_IF_ERROR(check_names(problem));
  PETREL_RETURN_IF_ERROR(check_problem(problem));
  return problem;
}

std::string format_csv(const Problem& problem) { return format(problem, nullptr); }

std::string format_csv(const Problem& problem, const Solution& solution) {
  return format(problem, &solution);
}

}  // namespace petrel::exir::plan
