// SPDX-License-Identifier: Apache-2.0
#include "extension/project/calibrate.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "exir/status_macros.h"

namespace petrel::extension {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxLine = 200;

// A line, and when its end came.
struct Line {
  std::string text;
  Clock::time_point at;
};

class Lines {
 public:
  Lines(BoardStream& stream, int64_t timeout_ms)
      : stream_(stream), end_(Clock::now() + std::chrono::milliseconds(timeout_ms)) {}

  absl::StatusOr<Line> next() {
    for (;;) {
      const size_t end = pending_.find('\n');
      if (end != std::string::npos) {
        const Line line = {pending_.substr(0, end), came_};
        pending_.erase(0, end + 1);
        return line;
      }
      if (pending_.size() > kMaxLine) return absl::InternalError("the board sends no lines");
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
      PETREL_ASSIGN_OR_RETURN(const std::string bytes,
                              stream_.read(64, std::max<int64_t>(left, 0)));
      if (bytes.empty()) return absl::UnavailableError("the board ended before it was done");
      came_ = Clock::now();
      pending_ += bytes;
    }
  }

 private:
  BoardStream& stream_;
  const Clock::time_point end_;
  Clock::time_point came_;
  std::string pending_;
};

// The two numbers of "NAME 12, other 34".
bool read_pair(absl::string_view line, absl::string_view name, absl::string_view other, int64_t* a,
               int64_t* b) {
  if (!absl::ConsumePrefix(&line, name)) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(line, ", ");
  absl::string_view second = parts.size() == 2 ? parts[1] : "";
  return absl::ConsumePrefix(&second, other) && absl::SimpleAtoi(parts[0], a) &&
         absl::SimpleAtoi(second, b);
}

absl::Status no_sense(const std::string& line) {
  return absl::InternalError(absl::StrCat("the board says '", line.substr(0, 60),
                                          "', which its program for calibration does not"));
}

}  // namespace

absl::StatusOr<BoardCalibration> calibrate(BoardStream& stream, int64_t timeout_ms) {
  Lines lines(stream, timeout_ms);
  BoardCalibration found;
  PETREL_ASSIGN_OR_RETURN(const Line first, lines.next());
  int64_t bits = 0;
  if (!read_pair(first.text, "bits ", "hz ", &bits, &found.told_hz) || bits > 64) {
    return no_sense(first.text);
  }
  found.bits = static_cast<int>(bits);
  if (found.told_hz == 0) return absl::FailedPreconditionError("the board has no timer");
  std::vector<double> measured;
  Clock::time_point began;
  for (;;) {
    PETREL_ASSIGN_OR_RETURN(const Line line, lines.next());
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
