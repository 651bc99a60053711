// SPDX-License-Identifier: Apache-2.0
#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_JOINED_NORMS_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_JOINED_NORMS_H_

#include "backends/xnnpack/format/graph.h"
#include "runtime/core/named_data_map.h"

namespace petrel::backends::xnnpack {

// format/norms.h with constants of the payload and of the map, which may be null. What cannot be
// had stays as it is.
void join_norms(Graph* graph, const runtime::NamedDataMap* map, bool sizes_are_fixed);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_JOINED_NORMS_H_
