// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/neighbours.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exir/plan/benchmarks/instances.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

// By the definition of an edge: from each two stretches that are there at the same time.
std::vector<Edge> edges_by_definition(const Problem& problem, BufferIdx buffer) {
  const std::vector<Stretch> stretches = stretches_by_begin(problem);
  std::vector<Edge> edges;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const auto other = static_cast<BufferIdx>(i);
    if (other == buffer) continue;
    bool meet = false;
    Edge edge{other, 0, 0};
    const auto forbid = [&](int64_t low, int64_t high) {
      edge.low = meet ? std::min(edge.low, low) : low;
      edge.high = meet ? std::max(edge.high, high) : high;
      meet = true;
    };
    for (const Stretch& a : stretches) {
      for (const Stretch& b : stretches) {
        if (a.buffer == buffer && b.buffer == other && a.time.begin < b.time.end &&
            b.time.begin < a.time.end) {
          forbid(a.low - b.high, a.high - b.low);
        }
      }
    }
    const int64_t size = problem.buffers[buffer].size, others = problem.buffers[i].size;
    const auto is_pair = [&](const Pair& pair) {
      return (pair.first == buffer && pair.second == other) ||
             (pair.second == buffer && pair.first == other);
    };
    for (const Pair& pair : problem.conflicts) {
      if (is_pair(pair) && size != 0 && others != 0) forbid(-others, size);
    }
    for (const PermittedOverlap& overlap : problem.overlaps) {
      const int64_t distance = problem.buffers[overlap.lower].size - overlap.bytes;
      if (overlap.lower == buffer && overlap.upper == other) {
        edge.high = std::min(edge.high, distance);
      }
      if (overlap.upper == buffer && overlap.lower == other) {
        edge.low = std::max(edge.low, -distance);
      }
    }
    const bool may_meet =
        std::any_of(problem.non_conflicts.begin(), problem.non_conflicts.end(), is_pair);
    if (meet && !may_meet && edge.low < edge.high) edges.push_back(edge);
  }
  return edges;
}

TEST(NeighboursTest, AreThoseOfTheDefinition) {
  int64_t num_edges = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Problem problem =
        random_problem(1 + static_cast<int>(seed % 23), 1 + static_cast<int>(seed % 4), seed);
    const Neighbours neighbours(problem);
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const auto buffer = static_cast<BufferIdx>(i);
      const std::vector<Edge> want = edges_by_definition(problem, buffer);
      const absl::Span<const Edge> got = neighbours(buffer);
      ASSERT_EQ(got.size(), want.size()) << seed << " " << i;
      for (size_t k = 0; k < want.size(); ++k) {
        EXPECT_EQ(got[k].other, want[k].other) << seed << " " << i;
        EXPECT_EQ(got[k].low, want[k].low) << seed << " " << i;
        EXPECT_EQ(got[k].high, want[k].high) << seed << " " << i;
      }
      num_edges += static_cast<int64_t>(want.size());
    }
  }
  EXPECT_GT(num_edges, 10'000);
}

}  // namespace
}  // namespace petrel::exir::plan
