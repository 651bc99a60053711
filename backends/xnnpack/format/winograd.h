// SPDX-License-Identifier: Apache-2.0
//
// Which convolutions of a graph are computed by Winograd's algorithm (third_party/xnnpack/winograd)
// and not directly, in tiles of which size, and whether their filters are packed for it.
//
//   3 x 3, stride 1 or 2, floats, constant weights,  possible
//   16 channels or more in and out of each group,
//   dilated by no more than the output's sides at a stride of 1
//
//   way          multiply-adds for each tile    floats read and written      bytes beside
//                                               for each pair of channels    the filter's
//   direct       9 of a pixel                   9                            0
//   2 x 2        16, and its transforms         16                           7 / 9
//     each run   the same                       9, 16 and 16                 0
//   4 x 4        36, and its transforms         36                           27 / 9
//     each run   the same                       9, 36 and 36                 0
//
// At a stride of 2 a tile of 2 x 2 has 25 multiply-adds in place of 36, one of 4 x 4 81 in place of
// 144.
//
// What a way costs is estimated from the sizes. A filter that is transformed in each run must fit,
// transformed, beside what the node reads and writes, which together may take 1.1 times what the
// largest node of the graph does, and 1 MB more. Filters of the graph may become 1.1 times as
// large: those are packed that save the most for each further byte, which are those of small
// planes.
//
// The choice depends on the graph alone, so that every process makes the same.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_WINOGRAD_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_WINOGRAD_H_

#include <cstdint>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Tiles of `tile` x `tile` outputs of a convolution. With a dilated window, pixels that lie so far
// apart are a plane of their own, and each plane has as many tiles as the largest one.
uint64_t count_winograd_tiles(const Graph& graph, const Node& node, uint64_t tile);

// Sets `winograd` of each node, with `threads` for those that are chosen.
// Precondition: the graph passes check_graph, threads > 0.
void choose_winograd(Graph* graph, uint32_t threads);

// By how many bytes the packed filters of chosen nodes are larger than others would be.
uint64_t count_winograd_bytes(const Graph& graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_WINOGRAD_H_
