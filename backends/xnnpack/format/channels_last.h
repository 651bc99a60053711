// SPDX-License-Identifier: Apache-2.0
//
// Images that are turned to channels first, cut, joined or shuffled there, and turned back: the
// same is done with channels last, where XNNPACK joins and cuts in place.
//
//   [n,h,w,c] --transpose--> [n,c,h,w] --slice, concatenate, shuffle--> --transpose--> [n,h,w,d]
//   [n,h,w,c] --slice, concatenate, shuffle-------------------------------------------> [n,h,w,d]
//
// A shuffle of channels is a reshape to groups of channels, a transpose of the two, and a reshape
// back. No element is computed otherwise, so results are the same bits.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_CHANNELS_LAST_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_CHANNELS_LAST_H_

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Adds at most three values and nodes for each node. Precondition: check_graph, which the graph
// passes afterwards, too.
void keep_channels_last(Graph* graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_CHANNELS_LAST_H_
