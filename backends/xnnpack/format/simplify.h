// SPDX-License-Identifier: Apache-2.0
//
// All that is changed in a graph when it is loaded, so that less of it is moved or multiplied:
//
//   channels_last.h       images are joined, cut and shuffled with channels last
//   joined_transposes.h   transposes behind each other are one, or none
//   chained_joins.h       joins of joins write each part once
//   single_pixels.h       transposed convolutions of one pixel meet each tap once
//   trimmed_windows.h     convolutions compute what slices keep, where sizes are fixed
//   joined_attention.h    products with a softmax between them are one node
//
// Results are the same bits, but for what chained_joins.h says of other processors than x86 and
// single_pixels.h of numbers that are not finite.
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_SIMPLIFY_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_SIMPLIFY_H_

#include <cstddef>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// For so many threads, at most. Where `sizes_are_fixed`, the graph is right for the sizes that it
// states alone. Precondition: check_graph, which the graph passes afterwards, too.
void simplify(Graph* graph, bool sizes_are_fixed, size_t threads);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_SIMPLIFY_H_
