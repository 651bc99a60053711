// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/crowd.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "exir/plan/model/timeline.h"

namespace petrel::exir::plan {

Crowd largest_crowd(const Problem& problem) {
  const std::vector<Stretch> stretches = stretches_by_begin(problem);
  // Deaths before births: lifetimes are half-open.
  std::vector<std::tuple<int64_t, int, int64_t>> events;
  for (const Stretch& s : stretches) {
    events.emplace_back(s.time.begin, 1, s.high - s.low);
    events.emplace_back(s.time.end, 0, s.low - s.high);
  }
  std::sort(events.begin(), events.end());
  Crowd crowd;
  int64_t alive = 0;
  for (const auto& [time, birth, bytes] : events) {
    alive += bytes;
    if (alive <= crowd.bytes) continue;
    crowd.bytes = alive;
    crowd.time = time;
  }
  for (const Stretch& s : stretches) {
    if (s.time.begin <= crowd.time && crowd.time < s.time.end) {
      crowd.members.emplace_back(s.buffer, s.high - s.low);
    }
  }
  std::stable_sort(crowd.members.begin(), crowd.members.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return crowd;
}

std::string describe(const Problem& problem, const Crowd& crowd, size_t limit) {
  std::string text = absl::StrCat("at time ", crowd.time, " are alive:");
  int64_t rest = crowd.bytes;
  const size_t named = std::min(limit, crowd.members.size());
  for (size_t i = 0; i < named; ++i) {
    const auto& [buffer, bytes] = crowd.members[i];
    // On one line, whatever a file calls its buffers.
    absl::StrAppend(&text, i == 0 ? " " : ", ",
                    absl::Utf8SafeCHexEscape(label(problem.buffers[buffer])), " ", bytes);
    rest -= bytes;
  }
  if (named < crowd.members.size()) {
    absl::StrAppend(&text, ", ", crowd.members.size() - named, " more ", rest);
  }
  return text;
}

}  // namespace petrel::exir::plan
