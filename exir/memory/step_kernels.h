// SPDX-License-Identifier: Apache-2.0
//
// What the memory plan asks of those who write kernels: what a step needs beside its tensors,
// which bytes its result may share with an operand that dies there, and which nodes can run
// together as one step.
//
//   depthwise, channels innermost            a convolution of more filters than channels
//
//   |<----- operand ----->|                            |<-- operand -->|
//   |<----- result ------>|  exact          |<------- result ------->|
//                                           |<- lead ->|
//
// Both answers say how far writes stay behind reads: a result that begins at least `lead` bytes
// before the operand never reaches bytes that are still to be read.
//
// Of a step the nodes are given, in their order; one, or those of a block (block_search.h).
#ifndef PETREL_EXIR_MEMORY_STEP_KERNELS_H_
#define PETREL_EXIR_MEMORY_STEP_KERNELS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

struct PlannedMethod;

using StepNodes = std::vector<const Node*>;

struct SharedBytes {
  int64_t lead = 0;
  bool is_exact = false;  // both begin at one address, or they share nothing
};

class StepKernels {
 public:
  virtual ~StepKernels() = default;

  // Called before the memory of a method is planned: values get the order that they lie in.
  virtual absl::Status lay_out(PlannedMethod* method) = 0;
  // Memory that the step must have while it runs.
  virtual int64_t scratch_bytes(const StepNodes& nodes) const = 0;
  // nullopt: the result must lie apart from `operand`.
  virtual std::optional<SharedBytes> shared_bytes(const StepNodes& nodes,
                                                  const Value* operand) const = 0;
  // Error when the step, whose result begins `lead` bytes before `operand`, would read a byte that
  // it has written. Shares no code with shared_bytes() but what tells the order of accesses.
  virtual absl::Status check_shared(const StepNodes& nodes, const Value* operand,
                                    int64_t lead) const = 0;
  // Nodes that can run together and end with `last`, smallest first; none: it runs alone.
  virtual std::vector<StepNodes> blocks_of(const Node& last) const = 0;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_STEP_KERNELS_H_
