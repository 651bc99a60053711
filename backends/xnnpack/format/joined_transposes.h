// SPDX-License-Identifier: Apache-2.0
//
// Transposes behind each other, with reshapes between them, are one transpose, or none where all
// elements are back in their places. Transformers turn rows into images for a convolution:
//
//   [1,49,256] --transpose--> [1,256,49] --reshape--> [1,256,7,7] --transpose--> [1,7,7,256]
//   [1,49,256] ----------------------------reshape-----------------------------> [1,7,7,256]
//
// What is left of the first ones stays where others read it. No element is computed otherwise, so
// results are the same bits.
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_JOINED_TRANSPOSES_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_JOINED_TRANSPOSES_H_

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Adds at most two values and nodes for each transpose. Where there is a reshape, it must have said
// all sizes but the first one; a new reshape then has the sizes of its input in `list2`, and a run
// with others fails. Precondition: check_graph, which the graph passes afterwards, too.
void join_transposes(Graph* graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_JOINED_TRANSPOSES_H_
