// SPDX-License-Identifier: Apache-2.0
//
// Gives every tensor of a method that is neither constant nor elsewhere a place
// in the method's arena. Views share the place of their root.
//
//   time 0            inputs are filled
//   time i + 1        step i runs
//   after the steps   state is written back, one write per time
//   last time         outputs are read
//
//   inputs  [0, last use]   outputs [made, last]   state [0, last]
//   others  [made, last use]                        all half-open in the plan
//
// Tensors that lie inside others (exir/memory/parts.h) are one buffer with them,
// of which only the bytes in use at a time are kept.
//
// Invariant: offsets are multiples of at least kArenaAlignment. In a method that
// calls a backend every tensor ends at least kArenaSlack bytes before the arena
// does, because its vector code may read (not use) that far past the end of a
// tensor.
//
// State of a program with several methods lies apart, in a second arena that
// all methods see alike, so that a runtime can give them one memory for it:
//
//   arena 1 of prefill  [ activations      ]
//   arena 1 of decode   [ activations ]
//   arena 2 of both     [ layer 0 keys | layer 0 values | layer 1 keys | ... ]
//
// Their first arenas may be one memory too: nothing in them outlives a call.
#ifndef PETREL_EXIR_MEMORY_MEMORY_H_
#define PETREL_EXIR_MEMORY_MEMORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/memory/pools.h"
#include "exir/memory/scratch.h"
#include "exir/memory/storage.h"
#include "exir/plan/search/planner.h"
#include "schema/formats.h"

namespace petrel::exir {

inline constexpr int64_t kArenaAlignment = schema::kDataAlignment;
inline constexpr int64_t kArenaSlack = schema::kArenaSlack;

// The places of all states of a program in its second arena, by name.
struct StatePlan {
  std::map<std::string, int64_t> offsets;
  int64_t arena_bytes = 0;  // with slack; 0 when there is no state
};

// One entry per name: share_state() has made equal names one state. Error when
// sizes cannot be summed.
absl::StatusOr<StatePlan> plan_state(const std::vector<const Constant*>& states);

// In the arena, or in a pool.
struct KernelScratch {
  plan::PoolIdx pool = 0;
  int64_t offset = 0;
};

struct MemoryPlan {
  std::unordered_map<const Value*, int64_t> offsets;  // of roots
  int64_t arena_bytes = 0;  // with slack; 0 when nothing is planned; of all pools together
  // With pools: where the offsets count from, and the bytes of each pool.
  std::unordered_map<const Value*, plan::PoolIdx> pools;
  std::vector<int64_t> pool_bytes;
  int64_t lower_bound_bytes = 0;  // with slack, like arena_bytes
  bool proven_optimal = false;
  // Temporary memory of kernels, by step.
  std::vector<StepScratch> scratch;
  // What MemoryPools::kernels asked for.
  std::unordered_map<const Node*, KernelScratch> scratch_places;
  // What was planned and how, for pictures and reports; no buffers when nothing
  // is planned.
  plan::Problem problem;
  plan::Solution solution;
};

// With `pools.state_apart` state gets no place here. With pools, kernels get no scratch but what
// `pools.kernels` ask for.
absl::StatusOr<MemoryPlan> plan_memory(const Graph& graph, const Storage& storage,
                                       const plan::Options& options,
                                       const MemoryPools& pools = MemoryPools());

// What plan_memory asks the planner; no buffers when nothing is planned.
absl::StatusOr<plan::Problem> memory_problem(const Graph& graph, const Storage& storage,
                                             const MemoryPools& pools);

// What no plan of a method without parts has less of: the most bytes that are
// in use at a time, with slack. 0 where plan_memory fails.
int64_t least_arena_bytes(const Graph& graph, const Storage& storage,
                          const MemoryPools& pools = MemoryPools());

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_MEMORY_H_
