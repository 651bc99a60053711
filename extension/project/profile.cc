// SPDX-License-Identifier: Apache-2.0
#include "extension/project/profile.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "exir/status_macros.h"
#include "extension/project/board_lines.h"

namespace petrel::extension {
namespace {

void note(const std::string& name, uint64_t ticks, MethodTicks* method) {
  const auto found = std::find_if(method->steps.begin(), method->steps.end(),
                                  [&](const StepTicks& step) { return step.name == name; });
  if (found == method->steps.end()) {
    method->steps.push_back({name, ticks});
  } else {
    found->ticks = std::min(found->ticks, ticks);
  }
}

absl::Status no_sense(const std::string& line) {
  return absl::InternalError(absl::StrCat("the board says '", line.substr(0, 60),
                                          "', which its program for measuring does not"));
}

// "failed 5", or "timer 4" after a step.
absl::Status stopped(absl::string_view line, const BoardProfile& profile) {
  const std::string after =
      profile.methods.empty() || profile.methods.back().steps.empty()
          ? ""
          : absl::StrCat(" after step ", profile.methods.back().steps.back().name);
  if (absl::ConsumePrefix(&line, "failed ")) {
    return absl::FailedPreconditionError(
        absl::StrCat("the model ends with status -", line, " on the board", after));
  }
  if (absl::ConsumePrefix(&line, "timer ")) {
    return absl::FailedPreconditionError(
        absl::StrCat(line == "4"   ? "the timer of the board ran over"
                     : line == "5" ? "the timer of the board does not count"
                                   : absl::StrCat("the timer of the board says -", line),
                     after));
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t BoardProfile::ticks() const {
  uint64_t all = 0;
  for (const MethodTicks& method : methods) {
    for (const StepTicks& step : method.steps) all += step.ticks;
  }
  return all;
}

absl::StatusOr<BoardProfile> read_profile(BoardStream& stream, int64_t timeout_ms) {
  BoardLines lines(stream, timeout_ms);
  BoardProfile profile;
  PETREL_ASSIGN_OR_RETURN(const BoardLine first, lines.next());
  std::string bits;
  if (!split_line(first.text, "bits ", "hz ", &bits, &profile.hz)) return no_sense(first.text);
  if (profile.hz <= 0) return absl::FailedPreconditionError("the board has no timer");
  for (;;) {
    PETREL_ASSIGN_OR_RETURN(const BoardLine line, lines.next());
    if (line.text == "done") break;
    PETREL_RETURN_IF_ERROR(stopped(line.text, profile));
    absl::string_view method = line.text;
    std::string step;
    int64_t ticks = 0;
    if (absl::ConsumePrefix(&method, "method ")) {
      profile.methods.push_back({std::string(method), {}});
    } else if (!profile.methods.empty() &&
               split_line(line.text, "step ", "ticks ", &step, &ticks) && ticks >= 0) {
      note(step, static_cast<uint64_t>(ticks), &profile.methods.back());
    } else {
      return no_sense(line.text);
    }
  }
  if (profile.ticks() == 0) {
    return absl::FailedPreconditionError(
        "the timer of the board says 0 ticks for all steps: it does not count, or is too coarse");
  }
  return profile;
}

}  // namespace petrel::extension
