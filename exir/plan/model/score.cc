// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/score.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace petrel::exir::plan {

std::vector<int64_t> peaks(const Problem& problem, const std::vector<Placement>& placements) {
  std::vector<int64_t> result(problem.pools.size(), 0);
  for (size_t i = 0; i < placements.size(); ++i) {
    int64_t& peak = result[placements[i].pool];
    peak = std::max(peak, placements[i].offset + problem.buffers[i].size);
  }
  return result;
}

Score score(const Problem& problem, const std::vector<Placement>& placements) {
  return score(problem, placements, peaks(problem, placements));
}

Score score(const Problem& problem, const std::vector<Placement>& placements,
            const std::vector<int64_t>& peak) {
  Score score;
  for (size_t p = 0; p < peak.size(); ++p) {
    const Pool& pool = problem.pools[p];
    score.peak += peak[p];
    if (!pool.capacity.has_value()) score.unlimited_peak += peak[p];
    if (pool.preferred_capacity.has_value()) {
      score.excess += std::max<int64_t>(0, peak[p] - *pool.preferred_capacity);
    }
  }
  for (size_t i = 0; i < placements.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const PoolIdx pool = placements[i].pool;
    score.cost += buffer.access_count * problem.pools[pool].cost_per_access;
    if (pool != (buffer.pools.empty() ? 0 : buffer.pools[0])) {
      score.displaced += buffer.size;
    }
  }
  return score;
}

}  // namespace petrel::exir::plan
