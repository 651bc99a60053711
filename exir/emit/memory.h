// SPDX-License-Identifier: Apache-2.0
//
// Gives every tensor of a method that is neither constant nor elsewhere a place
// in the method's one arena. Views share the place of their root.
//
//   time 0            inputs are filled
//   time i + 1        step i runs
//   after the steps   state is written back, one write per time
//   last time         outputs are read
//
//   inputs  [0, last use]   outputs [made, last]   state [0, last]
//   others  [made, last use]                        all half-open in the plan
//
// Invariant: offsets are multiples of at least kArenaAlignment and every tensor
// ends at least kArenaSlack bytes before the arena does, because vector code
// may read (not use) that far past the end of a tensor.
#ifndef PETREL_EXIR_EMIT_MEMORY_H_
#define PETREL_EXIR_EMIT_MEMORY_H_

#include <cstdint>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "exir/emit/storage.h"
#include "exir/ir/graph.h"
#include "exir/plan/planner.h"

namespace petrel::exir {

inline constexpr int64_t kArenaAlignment = 16;
inline constexpr int64_t kArenaSlack = 64;

struct MemoryPlan {
  std::unordered_map<const Value*, int64_t> offsets;  // of roots
  int64_t arena_bytes = 0;        // with slack; 0 when nothing is planned
  int64_t lower_bound_bytes = 0;  // with slack, like arena_bytes
  bool proven_optimal = false;
  // What was planned and how, for pictures and reports; no buffers when nothing
  // is planned.
  plan::Problem problem;
  plan::Solution solution;
};

absl::StatusOr<MemoryPlan> plan_memory(const Graph& graph,
                                       const Storage& storage,
                                       const plan::Options& options);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_MEMORY_H_
