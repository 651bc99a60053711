// SPDX-License-Identifier: Apache-2.0
//
// Two products with a softmax between them become one node, whoever wrote them, which computes some
// rows of scores at a time instead of writing all of them to memory and reading them again.
//
//   Multiply q, 0.125 -> a             ScaledDotProductAttention q, k, v, 0.125, mask -> y
//   BatchMatrixMultiply a, k -> b        queries   multiply by input 3
//   Add b, mask -> c                     scores    add input 4
//   Softmax c -> d
//   BatchMatrixMultiply d, v -> y
//
// What is between is read by nothing else. Scores and shares may have sums, products and quotients
// with operands of fewer dims and, where sizes never vary, reshapes of all dims but the last two.
// Keys and values are no constants. Results are the same bits. Where sizes vary, an operand with
// more elements than the scores along a dim is refused, for which nodes would have repeated scores.
// Products of few rows and matrices with many columns stay nodes, and those of few scores that
// threads would have to share.
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_JOINED_ATTENTION_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_JOINED_ATTENTION_H_

#include <cstddef>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// For so many threads, at most. Precondition: check_graph, which the graph passes afterwards, too.
void join_attention(Graph* graph, bool sizes_are_fixed, size_t threads);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_JOINED_ATTENTION_H_
