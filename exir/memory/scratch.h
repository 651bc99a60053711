// SPDX-License-Identifier: Apache-2.0
//
// Temporary memory of kernels in the plan of a method: a buffer that lives
// during one step. How much a step needs is told by the table that kernels
// use themselves (runtime/kernels/scratch/table.h).
//
//   step 4, a depthwise convolution
//
//   | input | output |  scratch  |  tensors that wait  |
//
// Scratch takes what tensors leave free at its step. It never makes an arena
// larger: a kernel whose scratch has no place there takes it from the temporary
// allocator of the application, as it does in programs without a plan for it.
#ifndef PETREL_EXIR_MEMORY_SCRATCH_H_
#define PETREL_EXIR_MEMORY_SCRATCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "exir/memory/storage.h"
#include "exir/plan/search/planner.h"

namespace petrel::exir {

struct StepScratch {
  size_t step = 0;  // index into Storage::steps()
  int64_t bytes = 0;
  int64_t offset = -1;  // in arena 0; -1 when there is no room
};

// Of all steps that need some, in order.
std::vector<StepScratch> find_scratch(const Storage& storage);

// Finds room for `scratch` and adds a buffer to the problem and the solution for
// each that has some. Other buffers may move, the peak stays. Step i runs at
// time i + 1.
absl::Status plan_scratch(const Storage& storage, const plan::Options& options,
                          std::vector<StepScratch>* scratch, plan::Problem* problem,
                          plan::Solution* solution);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_SCRATCH_H_
