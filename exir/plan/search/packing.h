// SPDX-License-Identifier: Apache-2.0
//
// Packs buffers that were assigned to one pool. Buffers that are not connected
// by conflicts form independent components: each starts at address 0, and the peak
// is the largest of theirs, so that only components above the common bound need
// any search.
//
//   address
//     ^   1             2
//     |   +--+          +----+        component 2 sets the peak; 1 is good
//     |   |  +---+      |    +--+     enough as soon as it is not higher
//     +---+--+---+------+----+--+--> time

#ifndef PETREL_EXIR_PLAN_SEARCH_PACKING_H_
#define PETREL_EXIR_PLAN_SEARCH_PACKING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "exir/plan/model/conflict_graph.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/search/effort.h"

namespace petrel::exir::plan {

struct Packing {
  std::vector<int64_t> offsets;  // parallel to the members given
  int64_t peak = 0;
  int64_t lower_bound = 0;  // equal to the peak when that is proven best
  std::string method;       // of the component that sets the peak
};

// `members` in ascending order; `target`: the peak to reach, no less and no
// more being of use (0: as low as possible). Always returns a packing, which may
// exceed any capacity: limits are the caller's to compare. Fixed offsets of
// members must not collide.
Packing pack(const Problem& problem, const ConflictGraph& graph,
             const std::vector<BufferIdx>& members, int64_t target, Effort* effort);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_PACKING_H_
