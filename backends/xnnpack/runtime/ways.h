// SPDX-License-Identifier: Apache-2.0
//
// In which of the ways that third_party/xnnpack has each node of a graph is computed: Winograd's,
// split floats, images row by row, weights as they are stored, attention by blocks. Others are
// XNNPACK's own.
//
//   choose_ways(&graph, constants, threads, {options.winograd, options.fast_math, true, {}});
//
// The choice depends on the graph, the processor's kernels and last cache, what is allowed and, for
// weights, on where the data map has them; results depend on split floats and Winograd's algorithm
// only.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_WAYS_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_WAYS_H_

#include <cstdint>
#include <optional>

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/runtime/constant_source.h"

namespace petrel::backends::xnnpack {

struct AllowedWays {
  bool winograd, split, unpacked;
  std::optional<uint64_t> cache_bytes;  // in place of the last cache of this machine
};

// Precondition: the graph passes check_graph, which it does afterwards, too; threads > 0; XNNPACK
// is initialised.
void choose_ways(Graph* graph, const ConstantSource& constants, uint32_t threads,
                 const AllowedWays& allowed);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_WAYS_H_
