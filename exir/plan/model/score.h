// SPDX-License-Identifier: Apache-2.0
//
// How good a set of placements is; the smaller score is the better plan. The
// fields in order of weight are those listed in planner.h.

#ifndef PETREL_EXIR_PLAN_MODEL_SCORE_H_
#define PETREL_EXIR_PLAN_MODEL_SCORE_H_

#include <cstdint>
#include <tuple>
#include <vector>

#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"

namespace petrel::exir::plan {

struct Score {
  int64_t excess = 0;          // bytes of peaks beyond preferred capacities
  int64_t cost = 0;            // accesses times cost per access
  int64_t unlimited_peak = 0;  // sum of peaks of pools without hard capacity
  int64_t displaced = 0;       // bytes of buffers away from their first choice
  int64_t peak = 0;            // sum of all peaks

  bool operator<(const Score& other) const { return key() < other.key(); }
  bool operator==(const Score& other) const { return key() == other.key(); }

 private:
  std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t> key() const {
    return {excess, cost, unlimited_peak, displaced, peak};
  }
};

// Peak of every pool.
std::vector<int64_t> peaks(const Problem& problem, const std::vector<Placement>& placements);

Score score(const Problem& problem, const std::vector<Placement>& placements);

// With peaks given instead of those that the offsets make.
Score score(const Problem& problem, const std::vector<Placement>& placements,
            const std::vector<int64_t>& peaks);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_MODEL_SCORE_H_
