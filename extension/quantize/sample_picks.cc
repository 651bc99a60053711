// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/sample_picks.h"

#include <algorithm>
#include <set>

namespace petrel::extension {
namespace {

// `count` of these places, evenly, with the same weight.
void add_evenly(const std::vector<size_t>& places, size_t count, SamplePicks* picks) {
  const double weight = static_cast<double>(places.size()) / static_cast<double>(count);
  for (size_t i = 0; i < count; ++i) picks->push_back({places[i * places.size() / count], weight});
}

}  // namespace

SamplePicks pick_samples(const std::vector<size_t>& ends, size_t most) {
  std::vector<size_t> by_ends(ends.size());
  for (size_t i = 0; i < ends.size(); ++i) by_ends[i] = i;
  std::stable_sort(by_ends.begin(), by_ends.end(),
                   [&](size_t a, size_t b) { return ends[a] > ends[b]; });
  size_t held = std::min(ends.size(), ends.size() <= most ? most : most / 2);
  while (ends.size() > most && held > 0 && ends[by_ends[held - 1]] == 0) --held;
  SamplePicks picks;
  for (size_t i = 0; i < held; ++i) picks.push_back({by_ends[i], 1});
  std::vector<size_t> others(by_ends.begin() + static_cast<ptrdiff_t>(held), by_ends.end());
  std::sort(others.begin(), others.end());
  if (!others.empty()) add_evenly(others, most - held, &picks);
  std::sort(picks.begin(), picks.end(),
            [](const SamplePick& a, const SamplePick& b) { return a.place < b.place; });
  return picks;
}

SamplePicks spread_samples(size_t count, size_t most) {
  return pick_samples(std::vector<size_t>(count), most);
}

WantsSample those_of(const SamplePicks& picks) {
  std::set<size_t> places;
  for (const SamplePick& pick : picks) places.insert(pick.place);
  return [places](size_t place) { return places.count(place) != 0; };
}

}  // namespace petrel::extension
