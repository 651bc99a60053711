// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/structure_bytes.h"

namespace petrel::backends::xnnpack {
namespace {

// Of XNNPACK and of lists of dims and ids, rounded up: a value is 176 bytes there, a node
// with its operator 2768.
constexpr uint64_t kOtherBytesOfValue = 256;
constexpr uint64_t kOtherBytesOfNode = 3072;

}  // namespace

uint64_t structure_bytes(const Graph& graph) {
  // A payload has fewer than 2^30 of each.
  return graph.values.size() * (sizeof(Value) + kOtherBytesOfValue) +
         graph.nodes.size() * (sizeof(Node) + kOtherBytesOfNode);
}

}  // namespace petrel::backends::xnnpack
