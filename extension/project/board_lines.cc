// SPDX-License-Identifier: Apache-2.0
#include "extension/project/board_lines.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "exir/status_macros.h"

namespace petrel::extension {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxLine = 200;

}  // namespace

BoardLines::BoardLines(BoardStream& stream, int64_t timeout_ms)
    : stream_(stream), end_(Clock::now() + std::chrono::milliseconds(timeout_ms)) {}

absl::StatusOr<BoardLine> BoardLines::next() {
  for (;;) {
    const size_t end = pending_.find('\n');
    if (end != std::string::npos) {
      const BoardLine line = {pending_.substr(0, end), came_};
      pending_.erase(0, end + 1);
      return line;
    }
    if (pending_.size() > kMaxLine) return absl::InternalError("the board sends no lines");
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    // One that never stops talking has something to read at any time.
    if (left <= 0) return absl::DeadlineExceededError("the board was not done in time");
    PETREL_ASSIGN_OR_RETURN(const std::string bytes, stream_.read(64, left));
    if (bytes.empty()) return absl::UnavailableError("the board ended before it was done");
    came_ = Clock::now();
    pending_ += bytes;
  }
}

bool split_line(absl::string_view line, absl::string_view name, absl::string_view other,
                std::string* first, int64_t* second) {
  if (!absl::ConsumePrefix(&line, name)) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(line, ", ");
  if (parts.size() != 2) return false;
  absl::string_view number = parts[1];
  *first = std::string(parts[0]);
  return absl::ConsumePrefix(&number, other) && absl::SimpleAtoi(number, second);
}

}  // namespace petrel::extension
