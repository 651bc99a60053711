// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/ordering.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "exir/plan/model/timeline.h"

namespace petrel::exir::plan {
namespace {

int64_t width_of(const Buffer& buffer) { return buffer.lifetime.end - buffer.lifetime.begin; }

// Doubles: an area may exceed 64 bits, and only the order matters.
double value_of(const Problem& problem, EdgesOf edges_of, const std::vector<double>& crowd,
                bool mirrored, Key key, BufferIdx index) {
  const Buffer& buffer = problem.buffers[index];
  switch (key) {
    case Key::kSize:
      return static_cast<double>(buffer.size);
    case Key::kWidth:
      return static_cast<double>(width_of(buffer));
    case Key::kArea:
      return static_cast<double>(buffer.size) * static_cast<double>(width_of(buffer));
    case Key::kDegree:
      return static_cast<double>(edges_of(index).size());
    case Key::kPressure: {
      double bytes = 0;
      for (const Edge& edge : edges_of(index)) {
        bytes += static_cast<double>(problem.buffers[edge.other].size);
      }
      return bytes;
    }
    case Key::kCrowd:
      return crowd[index];
    case Key::kBegin:
      return static_cast<double>(mirrored ? buffer.lifetime.end : -buffer.lifetime.begin);
    case Key::kHint:
      return buffer.hint.has_value() ? -static_cast<double>(*buffer.hint)
                                     : -std::numeric_limits<double>::infinity();
  }
  return 0;
}

std::vector<double> crowds(const Problem& problem) {
  std::vector<double> crowd(problem.buffers.size(), 0);
  const std::vector<Stretch> stretches = stretches_by_begin(problem);
  for (const std::vector<int32_t>& section : maximal_sections(stretches)) {
    double bytes = 0;
    for (const int32_t s : section) {
      bytes += static_cast<double>(stretches[s].high - stretches[s].low);
    }
    for (const int32_t s : section) {
      double& most = crowd[stretches[s].buffer];
      most = std::max(most, bytes);
    }
  }
  return crowd;
}

}  // namespace

std::vector<Ordering> all_orderings(const Problem& problem) {
  const std::vector<std::vector<Key>> keys = {
      {Key::kSize},
      {Key::kSize, Key::kDegree},
      {Key::kWidth, Key::kSize},
      {Key::kArea},
      {Key::kBegin, Key::kSize},
      {Key::kDegree, Key::kSize},
      {Key::kPressure},
      {Key::kCrowd, Key::kWidth, Key::kArea},
      {Key::kCrowd, Key::kArea, Key::kWidth},
      {Key::kWidth, Key::kArea, Key::kCrowd},
      {Key::kCrowd, Key::kSize},
  };
  std::vector<Ordering> orderings;
  const bool hinted = std::any_of(problem.buffers.begin(), problem.buffers.end(),
                                  [](const Buffer& buffer) { return buffer.hint.has_value(); });
  if (hinted) orderings.push_back({{Key::kHint, Key::kSize}, false});
  for (const bool mirrored : {false, true}) {
    for (const std::vector<Key>& k : keys) orderings.push_back({k, mirrored});
  }
  return orderings;
}

std::vector<BufferIdx> ordered(const Problem& problem, EdgesOf edges_of,
                               std::vector<BufferIdx> buffers, const Ordering& ordering) {
  std::vector<double> crowd;
  if (std::count(ordering.keys.begin(), ordering.keys.end(), Key::kCrowd)) {
    crowd = crowds(problem);
  }
  constexpr size_t kMaxKeys = 5;
  struct Ranked {
    std::array<double, kMaxKeys> values;
    BufferIdx buffer;
  };
  std::vector<Ranked> ranked;
  ranked.reserve(buffers.size());
  for (const BufferIdx b : buffers) {
    Ranked entry{};
    size_t n = 0;
    entry.values[n++] = problem.buffers[b].offset.has_value() ? 1 : 0;
    for (const Key key : ordering.keys) {
      entry.values[n++] = value_of(problem, edges_of, crowd, ordering.mirrored, key, b);
    }
    entry.values[n] = value_of(problem, edges_of, crowd, ordering.mirrored, Key::kBegin, b);
    entry.buffer = b;
    ranked.push_back(entry);
  }
  std::sort(ranked.begin(), ranked.end(), [](const Ranked& x, const Ranked& y) {
    if (x.values != y.values) return x.values > y.values;
    return x.buffer < y.buffer;
  });
  for (size_t i = 0; i < ranked.size(); ++i) buffers[i] = ranked[i].buffer;
  return buffers;
}

std::string name_of(const Ordering& ordering) {
  static constexpr const char* kNames[] = {"size",     "width", "area",  "degree",
                                           "pressure", "crowd", "begin", "hint"};
  std::string name;
  for (const Key key : ordering.keys) {
    if (!name.empty()) name += '-';
    name += kNames[static_cast<int>(key)];
  }
  return ordering.mirrored ? name + " mirrored" : name;
}

}  // namespace petrel::exir::plan
