// SPDX-License-Identifier: Apache-2.0
//
// What a board says, line by line, until a time that is the same for all of them.
//
//   BoardLines lines(*stream, 60000);
//   PETREL_ASSIGN_OR_RETURN(const BoardLine line, lines.next());
//   std::string step;
//   split_line(line.text, "step ", "ticks ", &step, &ticks);
//
// Refers to the stream.
#ifndef PETREL_EXTENSION_PROJECT_BOARD_LINES_H_
#define PETREL_EXTENSION_PROJECT_BOARD_LINES_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "extension/project/board_stream.h"

namespace petrel::extension {

struct BoardLine {
  std::string text;                          // without its end
  std::chrono::steady_clock::time_point at;  // when its end came
};

class BoardLines {
 public:
  BoardLines(BoardStream& stream, int64_t timeout_ms);

  // Unavailable when the stream ends; DeadlineExceeded when nothing comes in time; Internal for a
  // line that is too long.
  absl::StatusOr<BoardLine> next();

 private:
  BoardStream& stream_;
  const std::chrono::steady_clock::time_point end_;
  std::chrono::steady_clock::time_point came_;
  std::string pending_;
};

// The two parts of "NAME 12, OTHER 34", the second a number; false for another line.
bool split_line(absl::string_view line, absl::string_view name, absl::string_view other,
                std::string* first, int64_t* second);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_BOARD_LINES_H_
