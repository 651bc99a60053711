// SPDX-License-Identifier: Apache-2.0
//
// Which nodes XNNPACK takes, and why not the others: what the operator table
// asks of each, and what XNNPACK asks of all: fp32, one result, rank 1 to 6, no
// empty tensors, something to compute at run time.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_PARTITIONER_H_
#define PETREL_BACKENDS_XNNPACK_AOT_PARTITIONER_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "exir/backend/backend.h"

namespace petrel::backends::xnnpack::aot {

class XnnpackPartitioner final : public exir::Partitioner {
 public:
  exir::Support supports(const exir::Node& node) const override;
  bool keeps(const exir::OpInfo& op) const override;
  bool takes_varying_sizes() const override { return true; }
  // False for nodes that only move elements.
  bool worthwhile(const std::vector<const exir::Node*>& nodes) const override;
  // By the measured table (costs.h).
  std::optional<exir::GroupCosts> costs(const exir::Graph& partition) const override;
  // The external values of one graph.
  size_t most_inputs_and_outputs() const override;
};

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_PARTITIONER_H_
