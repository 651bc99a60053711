// SPDX-License-Identifier: Apache-2.0
//
// Where a dim of a value was made, before views and permutations moved it:
//
//   %c = aten.linear.default(%x, %w, %b)      : f32[2,196,256]
//   %v = aten.view.default(%c, [392, 256])    : f32[392,256]
//
//   channel_source(v, 1)                      the node of %c, and its dim 2
//
// What is done to each index of the dim alone may be done there instead.
#ifndef PETREL_EXIR_PASS_PASSES_CHANNEL_SOURCE_H_
#define PETREL_EXIR_PASS_PASSES_CHANNEL_SOURCE_H_

#include <cstddef>

#include "exir/ir/graph.h"

namespace petrel::exir {

struct ChannelSource {
  Node* node;  // null where the dim is not one of what a node made, or others see it, too
  size_t dim;  // of the result of `node`
};

// Nothing but the moves on the way, and whoever asks, may use the result of `node`.
ChannelSource channel_source(Value* value, size_t dim);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_CHANNEL_SOURCE_H_
