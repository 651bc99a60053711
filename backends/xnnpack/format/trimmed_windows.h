// SPDX-License-Identifier: Apache-2.0
//
// Slices of rows and columns behind a convolution, which then computes no more than they keep. A
// causal convolution of a sequence has padding on both sides, and what looks ahead is cut off:
//
//   [1,1,600,96] --padding 8, 8--> [1,1,608,96] --slice--> [1,1,600,96]
//   [1,1,600,96] --padding 8, 0----------------------------> [1,1,600,96]
//
// Of a transposed convolution padding cuts off outputs, so that its padding grows.
//
// Of floats; results are the same bits.
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_TRIMMED_WINDOWS_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_TRIMMED_WINDOWS_H_

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Returns whether any is. The graph is right for the sizes that it states alone then: of another
// number of rows a slice keeps as many as before. Precondition: check_graph, which the graph passes
// afterwards, too.
bool trim_windows(Graph* graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_TRIMMED_WINDOWS_H_
