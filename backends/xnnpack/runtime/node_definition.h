// SPDX-License-Identifier: Apache-2.0
//
// Nodes of a payload as nodes of an XNNPACK subgraph: one function per kind.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_NODE_DEFINITION_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_NODE_DEFINITION_H_

#include <xnnpack.h>

#include <vector>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// `inputs` and `outputs` are XNNPACK's ids of the node's values, kNoId for a
// missing bias. Precondition: check_graph and check_implemented found nothing.
xnn_status define_node(xnn_subgraph_t subgraph, const Node& node,
                       const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_NODE_DEFINITION_H_
