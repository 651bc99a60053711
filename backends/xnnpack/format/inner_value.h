// SPDX-License-Identifier: Apache-2.0
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_INNER_VALUE_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_INNER_VALUE_H_

#include <cstdint>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Adds a value between nodes, of the type of the value `like` and of these dims. Returns its id.
uint32_t add_inner_value(Graph* graph, uint32_t like, Dims dims);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_INNER_VALUE_H_
