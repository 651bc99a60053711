// SPDX-License-Identifier: Apache-2.0
//
// Which products of a graph split their floats (third_party/xnnpack/split).
//
//   convolution of one group, linear,      possible: weights are constant
//   floats
//   8 rows or more, 48 weights in 64       worth it: fewer rows are read as fast, and rows and
//   that are packed                        columns are filled up to 32 and 64
//
// The choice depends on the graph alone, so that every process makes the same.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_SPLIT_PRODUCTS_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_SPLIT_PRODUCTS_H_

#include <cstdint>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Sets `is_split` of products that are not computed by Winograd's algorithm (winograd.h).
// Precondition: the graph passes check_graph.
void choose_split_products(Graph* graph);

// By how many bytes their packed weights are larger than others would be.
uint64_t count_split_bytes(const Graph& graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_SPLIT_PRODUCTS_H_
