// SPDX-License-Identifier: Apache-2.0
//
// Joins of channels that begin as an earlier one does, as in densenets: each takes the earlier one
// and what is new, so that in place (third_party/xnnpack/in_place.patch) only what is new is
// written.
//
//   ab = a, b           ab = a, b
//   abc = a, b, c  ->   abc = ab, c
//   abcd = abc, d       abcd = abc, d
//
// Between two joins stands a batch norm, which has to read a part of the later one. A product with
// a constant for each channel and the sum with another are one depthwise convolution of 1 x 1 then:
// it steps over channels. It rounds the product and the sum on x86, as two nodes do; on other
// processors it may round once.
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_CHAINED_JOINS_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_CHAINED_JOINS_H_

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Adds at most two values for each node, and no node. Precondition: check_graph, which the
// graph passes afterwards, too.
void chain_joins(Graph* graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_CHAINED_JOINS_H_
