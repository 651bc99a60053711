// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/joined_norms.h"

#include "backends/xnnpack/format/norms.h"
#include "backends/xnnpack/runtime/constant_source.h"

namespace petrel::backends::xnnpack {

void join_norms(Graph* graph, const runtime::NamedDataMap* map, bool sizes_are_fixed) {
  ConstantSource constants(*graph, map);
  const ReadFloats read = [&constants](uint32_t id) -> const float* {
    const runtime::Result<const void*> data = constants.get_exact(id);
    return data.ok() ? static_cast<const float*>(*data) : nullptr;
  };
  join_norms(graph, read, sizes_are_fixed);
}

}  // namespace petrel::backends::xnnpack
