// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/joined_norms.h"

#include "backends/xnnpack/format/norms.h"
#include "backends/xnnpack/runtime/constant_source.h"

namespace petrel::backends::xnnpack {

void join_norms(Graph* graph, const runtime::NamedDataMap* map) {
  ConstantSource constants(*graph, map);
  join_norms(graph, [&constants](uint32_t id) -> const float* {
    const runtime::Result<const void*> data = constants.get_exact(id);
    return data.ok() ? static_cast<const float*>(*data) : nullptr;
  });
}

}  // namespace petrel::backends::xnnpack
