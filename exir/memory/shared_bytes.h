// SPDX-License-Identifier: Apache-2.0
//
// Results that may lie over operands which die at their step (exir/memory/step_kernels.h), in the
// terms of the planner: classes of buffers that begin at one address, and permitted overlaps.
//
// Invariant: check_sharing() looks at the finished plan anew, and asks those who write kernels
// about each pair that shares bytes; no plan is used that it refuses.
#ifndef PETREL_EXIR_MEMORY_SHARED_BYTES_H_
#define PETREL_EXIR_MEMORY_SHARED_BYTES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "exir/memory/step_kernels.h"
#include "exir/memory/storage.h"
#include "exir/plan/model/alias_classes.h"
#include "exir/plan/model/problem.h"

namespace petrel::exir {

// Of a tensor; nullopt where it has no buffer.
using BufferOf = std::function<std::optional<plan::BufferIdx>(const Value* root)>;

struct SharedPair {
  plan::BufferIdx result = 0, operand = 0;
  SharedBytes how;
};

// A step and its time.
using StepTimes = std::vector<std::pair<const Node*, int64_t>>;

// Of the steps that run alone in their time, those whose operand is not used after them.
std::vector<SharedPair> find_sharing(const StepTimes& steps, const Storage& storage,
                                     const StepKernels& kernels,
                                     const std::vector<plan::Buffer>& buffers,
                                     const BufferOf& buffer_of);

// Ties the exact ones; those whose pools differ share nothing.
absl::Status unite_exact(const std::vector<SharedPair>& pairs,
                         const std::vector<plan::Buffer>& buffers, plan::AliasClasses* classes);

// The others, for the problem that `classes` made.
void permit_overlaps(const std::vector<SharedPair>& pairs, const std::vector<plan::Buffer>& buffers,
                     const plan::AliasClasses& classes, plan::Problem* problem);

// Internal where a step would read what it has written over.
absl::Status check_sharing(const StepTimes& steps, const Storage& storage,
                           const StepKernels& kernels, const std::vector<plan::Buffer>& buffers,
                           const BufferOf& buffer_of,
                           const std::function<plan::Placement(plan::BufferIdx)>& place_of);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_SHARED_BYTES_H_
