// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/timeline.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

namespace petrel::exir::plan {

std::vector<Stretch> stretches_by_begin(const Problem& problem) {
  std::vector<Stretch> stretches;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const auto append = [&](int64_t begin, int64_t end, int64_t low, int64_t high) {
      if (begin < end && low < high) {
        stretches.push_back({static_cast<BufferIdx>(i), {begin, end}, low, high});
      }
    };
    std::vector<Gap> gaps = buffer.gaps;
    std::sort(gaps.begin(), gaps.end(),
              [](const Gap& a, const Gap& b) { return a.time.begin < b.time.begin; });
    int64_t time = buffer.lifetime.begin;
    for (const Gap& gap : gaps) {
      append(time, gap.time.begin, 0, buffer.size);
      append(gap.time.begin, gap.time.end, gap.low, gap.high);
      time = gap.time.end;
    }
    append(time, buffer.lifetime.end, 0, buffer.size);
  }
  std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
    return std::tie(a.time.begin, a.buffer) < std::tie(b.time.begin, b.buffer);
  });
  return stretches;
}

std::vector<std::vector<int32_t>> maximal_sections(const std::vector<Stretch>& stretches) {
  std::vector<std::vector<int32_t>> sections;
  std::vector<int32_t> alive;
  const auto close = [&] {
    if (!alive.empty()) sections.push_back(alive);
  };
  bool born = false;  // since the last section was closed
  for (size_t i = 0; i < stretches.size(); ++i) {
    const int64_t now = stretches[i].time.begin;
    const auto dead = [&](int32_t s) { return stretches[s].time.end <= now; };
    if (born && std::any_of(alive.begin(), alive.end(), dead)) {
      close();
      born = false;
    }
    alive.erase(std::remove_if(alive.begin(), alive.end(), dead), alive.end());
    alive.push_back(static_cast<int32_t>(i));
    born = true;
  }
  if (born) close();
  return sections;
}

}  // namespace petrel::exir::plan
