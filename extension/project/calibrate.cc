// SPDX-License-Identifier: Apache-2.0
#include "extension/project/calibrate.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "exir/status_macros.h"
#include "extension/project/board_lines.h"

namespace petrel::extension {
namespace {

using Clock = std::chrono::steady_clock;

// The two numbers of "NAME 12, OTHER 34".
bool read_pair(const std::string& line, absl::string_view name, absl::string_view other, int64_t* a,
               int64_t* b) {
  std::string first;
  return split_line(line, name, other, &first, b) && absl::SimpleAtoi(first, a);
}

absl::Status no_sense(const std::string& line) {
  return absl::InternalError(absl::StrCat("the board says '", line.substr(0, 60),
                                          "', which its program for calibration does not"));
}

}  // namespace

absl::StatusOr<BoardCalibration> calibrate(BoardStream& stream, int64_t timeout_ms) {
  BoardLines lines(stream, timeout_ms);
  BoardCalibration found;
  PETREL_ASSIGN_OR_RETURN(const BoardLine first, lines.next());
  int64_t bits = 0;
  if (!read_pair(first.text, "bits ", "hz ", &bits, &found.told_hz) || bits > 64) {
    return no_sense(first.text);
  }
  found.bits = static_cast<int>(bits);
  if (found.told_hz == 0) return absl::FailedPreconditionError("the board has no timer");
  std::vector<double> measured;
  Clock::time_point began;
  for (;;) {
    PETREL_ASSIGN_OR_RETURN(const BoardLine line, lines.next());
    if (line.text == "done") break;
    if (line.text == "begin") {
      began = line.at;
      continue;
    }
    int64_t ticks = 0, status = 0;
    if (!read_pair(line.text, "end ", "status ", &ticks, &status)) return no_sense(line.text);
    if (status != 0 || ticks <= 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("the timer of the board counted ", ticks, " ticks and says -", status));
    }
    const double seconds = std::chrono::duration<double>(line.at - began).count();
    if (seconds <= 0) return no_sense(line.text);
    found.seconds += seconds;
    measured.push_back(static_cast<double>(ticks) / seconds);
  }
  if (measured.empty())
    return absl::FailedPreconditionError("the timer of the board does not count");
  std::sort(measured.begin(), measured.end());
  found.hz = measured[measured.size() / 2];
  found.spread = (measured.back() - measured.front()) / found.hz;
  return found;
}

}  // namespace petrel::extension
