// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/crowd.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "exir/plan/model/timeline.h"

namespace petrel::exir::plan {

namespace {

// What buffers that are alive share.
int64_t shared_of(const Problem& problem, const std::vector<int>& alive) {
  int64_t shared = 0;
  for (const PermittedOverlap& overlap : problem.overlaps) {
    if (alive[static_cast<size_t>(overlap.lower)] > 0 &&
        alive[static_cast<size_t>(overlap.upper)] > 0) {
      shared += overlap.bytes;
    }
  }
  return shared;
}

}  // namespace

Crowd largest_crowd(const Problem& problem) {
  const std::vector<Stretch> stretches = stretches_by_begin(problem);
  // Deaths before births: lifetimes are half-open.
  std::vector<std::tuple<int64_t, int, int64_t, BufferIdx>> events;
  for (const Stretch& s : stretches) {
    events.emplace_back(s.time.begin, 1, s.high - s.low, s.buffer);
    events.emplace_back(s.time.end, 0, s.low - s.high, s.buffer);
  }
  std::sort(events.begin(), events.end());
  Crowd crowd;
  int64_t sum = 0;
  std::vector<int> alive(problem.buffers.size(), 0);
  for (size_t i = 0; i < events.size(); ++i) {
    const auto& [time, birth, bytes, buffer] = events[i];
    sum += bytes;
    alive[static_cast<size_t>(buffer)] += birth == 1 ? 1 : -1;
    // What is born together is shared only when all of it is there.
    const bool is_last = i + 1 == events.size() || std::get<0>(events[i + 1]) != time;
    if (!is_last || sum <= crowd.bytes) continue;
    const int64_t shared = shared_of(problem, alive);
    if (sum - shared <= crowd.bytes) continue;
    crowd.bytes = sum - shared;
    crowd.shared = shared;
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
  int64_t rest = crowd.bytes + crowd.shared;
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
  if (crowd.shared > 0) absl::StrAppend(&text, ", which share ", crowd.shared);
  return text;
}

}  // namespace petrel::exir::plan
