// SPDX-License-Identifier: Apache-2.0
//
// What a program lacks that does not fit in the memory that there is: the pools are raised until
// the program is planned, as little as is possible, and their bytes are compared.
//
//   const std::optional<MemoryPools> least = least_pools(pools, plan);
//   shortage_texts(pools, *least, *plan(*least));
//   // "pool 'sram' has 3400 bytes, 168 more are needed: in method 'forward' at time 2 are ..."
#ifndef PETREL_EXIR_MEMORY_SHORTAGE_H_
#define PETREL_EXIR_MEMORY_SHORTAGE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/memory/planned_program.h"
#include "exir/memory/pools.h"

namespace petrel::exir {

using PlanFn = std::function<absl::StatusOr<PlannedProgram>(const MemoryPools& pools)>;

// Whether an error of the planner may be one of limits.
bool is_shortage(const absl::Status& status);

// Pools are kept to by the planner; most_bytes it can only aim at.
bool fits(const PlannedProgram& planned, const MemoryPools& pools);

// `pools`, which are too small, with the limits with which `plan` fits; nullopt when limits are
// not what is wrong.
std::optional<MemoryPools> least_pools(const MemoryPools& pools, const PlanFn& plan);

// A text for each pool that has less in `pools` than in `least`, which `planned` lies in.
std::vector<std::string> shortage_texts(const MemoryPools& pools, const MemoryPools& least,
                                        const PlannedProgram& planned);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_SHORTAGE_H_
