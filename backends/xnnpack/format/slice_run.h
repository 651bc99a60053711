// SPDX-License-Identifier: Apache-2.0
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_SLICE_RUN_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_SLICE_RUN_H_

#include <cstdint>
#include <optional>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Where in its input the first element of a slice is, if those behind it follow each other there:
// before the last dim that is cut there is one element of each. Nothing for other nodes. The node
// may be one that check_graph refuses.
std::optional<uint64_t> first_of_run(const Graph& graph, const Node& node);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_SLICE_RUN_H_
