// SPDX-License-Identifier: Apache-2.0
//
// How much memory the values between nodes need at the same time.
//
//   node        0    1    2    3
//   value a     [=========]              made by 0, last read by 2
//   value b          [=========]
//   value c               [====]
//   peak                  ^              a, b and c
//
// What is joined from channels, or cut into them, counts as if it were there as long as its parts,
// which may lie in it.
//
// Constants, inputs and outputs have memory of their own and do not count.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_LIVE_BYTES_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_LIVE_BYTES_H_

#include <cstdint>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Saturates. Precondition: ids exist, every value passes check_dims.
uint64_t peak_live_bytes(const Graph& graph);

// The same with scratch_bytes of operator_bytes.h; the graph passes check_graph.
uint64_t peak_workspace_bytes(const Graph& graph);

// About how many steps XNNPACK takes to find places for them (third_party/xnnpack/timeline).
// Precondition: ids exist.
uint64_t count_planning_steps(const Graph& graph);
// A second or less of one core.
inline constexpr uint64_t kMaxPlanningSteps = uint64_t{1} << 30;

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_LIVE_BYTES_H_
