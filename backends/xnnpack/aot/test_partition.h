// SPDX-License-Identifier: Apache-2.0
//
// Partitions for tests: from the IR's text to the payload's graph as text, one
// node per line:
//
//   StaticTranspose #0 -> #1[1,4,4,3]
//   Conv2d #1 constant[8,3,3,3] -> #4[1,4,4,8] [0,inf]

#ifndef PETREL_BACKENDS_XNNPACK_AOT_TEST_PARTITION_H_
#define PETREL_BACKENDS_XNNPACK_AOT_TEST_PARTITION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/xnnpack/format/graph.h"
#include "exir/backend/backend.h"
#include "exir/ir/graph.h"

namespace petrel::backends::xnnpack::aot {

// What element i of a constant is.
using Counting = std::function<int64_t(int64_t i)>;

// Constants hold 0, 1, 2, ... in the order of their elements, or what is asked for. Null
// after reporting a test failure.
std::unique_ptr<exir::Graph> parse_partition(
    const std::string& text, const Counting& element = [](int64_t i) { return i; });

struct LoweredPartition {
  Graph graph;
  exir::RoutedBlobStore store;
  exir::PreprocessResult result;

  // The bytes of a value, a constant.
  std::vector<float> constant(uint32_t value) const;
};

// Fails the test when it cannot be lowered.
LoweredPartition lower_partition(const exir::Graph& partition);

std::string to_text(const Graph& graph);

// All at once.
std::string lowered_text(const std::string& text);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_TEST_PARTITION_H_
