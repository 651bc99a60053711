// SPDX-License-Identifier: Apache-2.0
//
// Which nodes run together, row by row, so that a method fits in the memory that there is:
//
//   %a = conv(%x)       16,384 bytes        one step: rows of %a are in a ring of three,
//   %b = conv(%a)       16,384 bytes        those of %b are added to %x where it lies
//   %c = add(%b, %x)
//
// Nothing runs together as long as the method fits without: a block takes more instructions.
// Blocks are taken one by one, the one that lowers the most bytes in use at a time the most.
#ifndef PETREL_EXIR_MEMORY_BLOCK_SEARCH_H_
#define PETREL_EXIR_MEMORY_BLOCK_SEARCH_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/memory/memory.h"
#include "exir/memory/pools.h"
#include "exir/memory/storage.h"
#include "exir/plan/search/planner.h"

namespace petrel::exir {

// Steps of methods that are gone through to try blocks, some microseconds each: networks of a
// hundred layers need a tenth of it, of one with a thousand all would be tried for days.
inline constexpr int64_t kMostSearchedSteps = int64_t{1} << 23;

// Plans the memory of a method, with blocks in `storage` where pools.list or pools.most_bytes ask
// for them. Where nothing fits: the plan with the fewest bytes, or the error of the pools.
absl::StatusOr<MemoryPlan> plan_within(const Graph& graph, Storage* storage,
                                       const plan::Options& options, const MemoryPools& pools,
                                       int64_t most_steps = kMostSearchedSteps);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_BLOCK_SEARCH_H_
