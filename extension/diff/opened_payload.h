// SPDX-License-Identifier: Apache-2.0
//
// A payload of XNNPACK that shows the values between its nodes: a copy of its graph in
// which each of them is an output.
//
//   PETREL_ASSIGN_OR_RETURN(auto opened, OpenedPayload::open(bytes, size, map));
//   PETREL_ASSIGN_OR_RETURN(auto inner, opened->run(context, args));
//   inner[id]          of value `id` in opened->graph()
//
// Nodes compute what they compute in the payload itself, one by one: XNNPACK cannot merge
// nodes whose values are outputs. What the delegate hands on comes from the payload.
#ifndef PETREL_EXTENSION_DIFF_OPENED_PAYLOAD_H_
#define PETREL_EXTENSION_DIFF_OPENED_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "extension/npy/npy.h"
#include "runtime/backend/interface.h"

namespace petrel::extension {

class OpenedPayload {
 public:
  // `map` and the bytes are needed during the call only.
  static runtime::Result<std::unique_ptr<OpenedPayload>> open(const void* payload, size_t size,
                                                              const runtime::NamedDataMap* map);

  // The graph of the payload, without nodes that nothing reads. Constants have no bytes.
  const backends::xnnpack::Graph& graph() const { return graph_; }
  // Values by their external ids, as arguments have them.
  const std::vector<uint32_t>& inputs() const { return inputs_; }
  const std::vector<uint32_t>& outputs() const { return outputs_; }

  // `args` are those of the delegate, whose outputs are left alone. By value: what XNNPACK
  // shows of those between nodes.
  runtime::Result<std::map<uint32_t, NpyArray>> run(const runtime::BackendExecutionContext& context,
                                                    runtime::Span<runtime::EValue*> args);

 private:
  OpenedPayload() = default;
  runtime::Result<std::vector<backends::xnnpack::Dims>> dims_of(
      runtime::Span<runtime::EValue*> args) const;

  backends::xnnpack::Graph graph_;
  std::vector<uint32_t> inputs_;
  std::vector<uint32_t> outputs_;
  std::vector<uint32_t> shown_;
  std::unique_ptr<backends::xnnpack::Delegate> delegate_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DIFF_OPENED_PAYLOAD_H_
