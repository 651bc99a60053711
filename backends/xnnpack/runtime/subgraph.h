// SPDX-License-Identifier: Apache-2.0
//
// A payload's graph as an XNNPACK subgraph: values, then nodes.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_SUBGRAPH_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_SUBGRAPH_H_

#include <xnnpack.h>

#include <memory>
#include <vector>

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/runtime/constant_source.h"
#include "backends/xnnpack/runtime/over_read.h"
#include "backends/xnnpack/runtime/weight_session.h"

namespace petrel::backends::xnnpack {

struct DeleteSubgraph {
  void operator()(xnn_subgraph_t subgraph) const { xnn_delete_subgraph(subgraph); }
};
using Subgraph = std::unique_ptr<xnn_subgraph, DeleteSubgraph>;

// Puts into `kept` the constants that must outlive the subgraph, and into `sources` where filters
// and biases lie. Precondition: check_graph and check_implemented found nothing in `graph`, XNNPACK
// is initialised.
runtime::Result<Subgraph> make_subgraph(const Graph& graph, ConstantSource& constants,
                                        std::vector<PaddedBuffer>* kept, WeightSources* sources);

// How many bytes of filters the nodes of a graph pack.
size_t count_filter_bytes(const Graph& graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_SUBGRAPH_H_
