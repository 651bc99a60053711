// SPDX-License-Identifier: Apache-2.0
//
// Which convolutions of a graph are computed by Winograd's algorithm
// (third_party/xnnpack/winograd) and not directly, and which products split their floats
// (third_party/xnnpack/split).
//
//   3 x 3, stride 1, one group, floats     possible
//   16 channels or more in and out, 48     worth it: fewer have more to transform than
//   together, 16 tiles of 2 x 2 pixels     to multiply, smaller planes more to read
//
// Packed filters are 16 / 9 as large. Those of the largest planes come first, until all
// filters of the graph are 1.3 times as large as before. Those that do not fit are kept as
// they are and transformed in each run, where a plane has 49 tiles or more and the
// transformed filter fits beside what the node reads and writes, which together may take
// 1.1 times what the largest node of the graph does. The choice depends on the graph alone,
// so that every process makes the same.
//
//   convolution of one group, linear,      possible: weights are constant
//   floats
//   8 rows or more, 48 weights in 64       worth it: fewer rows are read as fast, and rows and
//   that are packed                        columns are filled up to 32 and 64

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_ALGORITHMS_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_ALGORITHMS_H_

#include <cstdint>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Sets `winograd_threads` of the chosen nodes to `threads`, and `transforms_each_run`.
// Precondition: the graph passes check_graph, threads > 0.
void choose_algorithms(Graph* graph, uint32_t threads);

// By how many bytes the packed filters of chosen nodes are larger than others would be.
uint64_t count_winograd_bytes(const Graph& graph);

// Sets `is_split` of products that are not computed by Winograd's algorithm. Same precondition.
void choose_split_products(Graph* graph);

// By how many bytes their packed weights are larger than others would be.
uint64_t count_split_bytes(const Graph& graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_ALGORITHMS_H_
