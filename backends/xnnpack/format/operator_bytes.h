// SPDX-License-Identifier: Apache-2.0
//
// How much memory XNNPACK's operators need beyond values and packed weights, at most.
// A file of 1 KB can ask for gigabytes of it: a window of 45 x 45 over a million
// places is 2 billion pointers.
//
//   what                                     of which nodes                 lives
//   a pointer for each place of the window   convolutions, pools, resizing  with the operator
//   and each element of a plane
//   a row of zeros                           convolutions, average pools    with the operator
//   a constant, packed for each node         products with one, depthwise   with the operator
//                                            convolutions
//   the right side, packed                   products of two values, and    during a run
//                                            of halves
//   sums before they are scaled              reductions, large windows      during a run
//   a block of tiles for each thread         Winograd's convolutions        during a run
//   a band of rows for each thread           convolutions of images         during a run
//   a result before it is clamped            sums and other pairs           during a run
//   keys and values, packed, and scores of   attention                      during a run
//   some rows for each thread
//
// Never below what XNNPACK takes; above it by rounding and by what some machines
// do without.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_OPERATOR_BYTES_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_OPERATOR_BYTES_H_

#include <cstdint>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// What the operator of `node` keeps for its sizes. Saturates. Precondition, here and
// below: the graph passes check_graph.
uint64_t kept_bytes(const Graph& graph, const Node& node);

// Of all nodes.
uint64_t kept_bytes(const Graph& graph);

// Of it, what is there since an operator was made, however its sizes change: constants that each
// node packs for itself.
uint64_t own_packed_bytes(const Graph& graph, const Node& node);
uint64_t own_packed_bytes(const Graph& graph);

// Whether XNNPACK makes two operators of it, the second of which clamps.
bool is_pair_with_range(const Node& node);

// What it needs while it runs, which lies between the values. Saturates.
uint64_t scratch_bytes(const Graph& graph, const Node& node);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_OPERATOR_BYTES_H_
