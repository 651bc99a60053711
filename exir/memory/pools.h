// SPDX-License-Identifier: Apache-2.0
//
// The memories that a plan may use, as the user describes them, in the terms of the planner:
//
//   MemoryPools pools;
//   pools.list = {sram, dram};               preferred ones first
//   pools.allowed = [](const auto& names) {  "conv1" must lie in sram
//     return names.count("conv1") > 0 ? std::vector<plan::PoolIdx>{0} : ...;
//   };
//
// Without any there is one arena without a limit.
//
// Invariant: the bytes of a pool are a multiple of its alignment, and within what there is
// of it; so is every place in it.
#ifndef PETREL_EXIR_MEMORY_POOLS_H_
#define PETREL_EXIR_MEMORY_POOLS_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/ir/graph.h"
#include "exir/memory/step_kernels.h"
#include "exir/plan/formats/memory_pool.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"

namespace petrel::exir {

struct MemoryPools {
  std::vector<plan::MemoryPool> list;  // all read-write
  // Where a tensor may lie that users know by `names`, best first; empty: everywhere.
  // (optional)
  std::function<std::vector<plan::PoolIdx>(const std::set<std::string>& names)> allowed;
  // State that outlives a call lies apart from all of these.
  bool state_apart = false;
  // Inputs and outputs lie in memory of the caller.
  bool io_apart = false;
  // What runs the steps, in place of the kernels of the runtime. (optional)
  StepKernels* kernels = nullptr;
  // Nodes run together, row by row, where a method needs more than this without; 0: no limit.
  int64_t most_bytes = 0;
};

// What its begin is aligned to.
int64_t alignment_of(const plan::MemoryPool& pool);

// For the planner: one for each, or the arena.
std::vector<plan::Pool> planner_pools(const MemoryPools& pools);

// What decides where a buffer may lie.
struct BufferUse {
  std::set<std::string> names;    // that users know it by
  std::set<std::string> targets;  // that must reach it (exir/memory/reach.h)
};

// Says where buffer i may lie, used as uses[i] says, and aligns it as its pools ask.
// InvalidArgument where no pool that it may lie in is reached by all of its targets.
absl::Status restrict_buffers(const MemoryPools& pools, const std::vector<BufferUse>& uses,
                              std::vector<plan::Buffer>* buffers);

// The bytes that a solution takes of each pool; 0 of those that it does not use.
std::vector<int64_t> pool_bytes(const MemoryPools& pools, const plan::Problem& problem,
                                const plan::Solution& solution);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_POOLS_H_
