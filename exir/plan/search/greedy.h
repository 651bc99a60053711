// SPDX-License-Identifier: Apache-2.0
//
// Places buffers one after another, each among those already placed:
//
//   kFirst   at the lowest address at which it fits;
//   kBest    in the tightest hole between two placed buffers, else on top;
//   kLowest  not in the given order, but always next the buffer that can go
//            lowest on top of the placed ones; the order only breaks ties.
//
// A buffer that does not fit under the limit of its first pool goes to the
// next one that it allows. Preferred capacities are limits as long as some
// pool of the buffer stays below its own.

#ifndef PETREL_EXIR_PLAN_SEARCH_GREEDY_H_
#define PETREL_EXIR_PLAN_SEARCH_GREEDY_H_

#include <cstdint>
#include <vector>

#include "exir/plan/model/edge.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"
#include "exir/plan/search/effort.h"

namespace petrel::exir::plan {

enum class Fit { kFirst, kBest, kLowest };

// Conflicts that orderings look at whatever the time is, some ten milliseconds:
// a short budget must not make small problems worse than the best ordering.
inline constexpr int64_t kSureVisits = 2'000'000;

// The pools that each buffer may take, best first, never empty.
using PoolChoices = std::vector<std::vector<PoolIdx>>;

// As the problem states them.
PoolChoices pool_choices(const Problem& problem);

// Fills (*placements)[b] for every b in `order` and returns true, or returns
// false when some buffer fits nowhere, and says which, or when the time of
// `effort` is over, unless that is null. Buffers that are not in `order` are
// taken as absent. kLowest needs one pool and no fixed offsets.
bool place_in_order(const Problem& problem, EdgesOf edges_of, const PoolChoices& choices,
                    const std::vector<BufferIdx>& order, Fit fit, Effort* effort,
                    std::vector<Placement>* placements, BufferIdx* failed = nullptr);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_GREEDY_H_
