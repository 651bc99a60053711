// SPDX-License-Identifier: Apache-2.0
//
// Which products of a graph read their weights as they are stored (third_party/xnnpack/unpacked)
// and not packed, such as the last layers of classifiers.
//
//   floats, weights [outputs, inputs] of       possible: bytes stay where they are, in a mapped
//   the data map, in place there               file or in memory that somebody keeps
//   one row, 2 MB of weights or more,        worth it: weights that are read once a run come from
//   which no other node reads                  memory, and packing them takes as long as some runs
//
// Smaller ones are packed: where a cache keeps them from run to run, packed ones take half as long.
// So are larger ones where the last cache keeps the weights of the graph, and most of a run is
// reading them.
// A convolution of single pixels over one pixel is such a product, too, and becomes one. A call may
// have more rows: results are the same bits, and take longer.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_UNPACKED_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_UNPACKED_H_

#include <cstdint>
#include <functional>
#include <string>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Whether the bytes of a key of the data map stay where they are.
using IsInPlace = std::function<bool(const std::string& key)>;

// Sets `is_unpacked` of the chosen nodes. `cache_bytes`: of the last cache. Precondition: the graph
// passes check_graph, which it does afterwards, too; other ways to compute convolutions are chosen.
void choose_unpacked(Graph* graph, uint64_t cache_bytes, const IsInPlace& is_in_place);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_UNPACKED_H_
