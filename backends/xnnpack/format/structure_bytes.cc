// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/structure_bytes.h"

namespace petrel::backends::xnnpack {
namespace {

// Of XNNPACK and of lists of dims and ids, rounded up: a value is 176 bytes there, a node
// with its operator 2768.
constexpr uint64_t kOtherBytesOfValue = 256;
constexpr uint64_t kOtherBytesOfNode = 3072;

}  // namespace

uint64_t structure_bytes(uint64_t values, uint64_t nodes, uint64_t constants) {
  return values * (sizeof(Value) + kOtherBytesOfValue) +
         nodes * (sizeof(Node) + kOtherBytesOfNode) + constants * sizeof(ConstantData);
}

uint64_t structure_bytes(const Graph& graph) {
  return structure_bytes(graph.values.size(), graph.nodes.size(), graph.constants.size());
}

}  // namespace petrel::backends::xnnpack
