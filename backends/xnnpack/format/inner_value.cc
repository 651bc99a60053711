// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/inner_value.h"

#include <utility>

namespace petrel::backends::xnnpack {

uint32_t add_inner_value(Graph* graph, uint32_t like, Dims dims) {
  Value value = graph->values[like];
  value.dims = std::move(dims);
  value.flags = 0;
  value.external_id = kNoId;
  graph->values.push_back(std::move(value));
  return static_cast<uint32_t>(graph->values.size() - 1);
}

}  // namespace petrel::backends::xnnpack
