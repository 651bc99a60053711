// SPDX-License-Identifier: Apache-2.0
//
// A payload's graph as an XNNPACK subgraph: values, then nodes.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_SUBGRAPH_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_SUBGRAPH_H_

#include <xnnpack.h>

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backends/xnnpack/format/cells.h"
#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/runtime/constant_source.h"
#include "backends/xnnpack/runtime/over_read.h"
#include "backends/xnnpack/runtime/weight_feed.h"
#include "runtime/core/budget.h"
#include "runtime/core/freeable_buffer.h"
#include "third_party/xnnpack/attention/program.h"

namespace petrel::backends::xnnpack {

struct DeleteSubgraph {
  void operator()(xnn_subgraph_t subgraph) const { xnn_delete_subgraph(subgraph); }
};
using Subgraph = std::unique_ptr<xnn_subgraph, DeleteSubgraph>;

// Pays for the forms of a graph's constants: the bytes of a payload, and those of
// each key once, are free; what else a small file asks for by naming them again is
// paid for with twice its bytes, those of a copy and of the packed form.
class ConstantForms {
 public:
  // `memory` may be null: then nothing limits them.
  ConstantForms(runtime::Budget* memory, size_t payload_bytes)
      : memory_(memory), payload_left_(payload_bytes) {}
  runtime::Error add(const ConstantData& constant, uint64_t bytes);

 private:
  runtime::Budget* memory_;
  uint64_t payload_left_;
  std::set<std::string> keys_;
};

// Constants that must outlive the subgraph and what is made of it.
struct KeptConstants {
  std::vector<PaddedBuffer> copies;
  std::vector<runtime::FreeableBuffer> in_place;  // of nodes that are unpacked
  std::deque<petrel_attention> attentions;        // which point to constants, and are pointed to
};

// Puts into `feed` the filters and biases that are packed, which have no data yet. Precondition:
// check_graph and check_implemented found nothing in `graph`, XNNPACK is initialised. The cells,
// which may be none, outlive what is made of the subgraph.
runtime::Result<Subgraph> make_subgraph(const Graph& graph, const Cells& cells,
                                        ConstantSource& constants, ConstantForms* forms,
                                        KeptConstants* kept, WeightFeed* feed);

// How many bytes of filters the nodes of a graph pack.
size_t count_filter_bytes(const Graph& graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_SUBGRAPH_H_
