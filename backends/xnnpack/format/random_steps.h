// SPDX-License-Identifier: Apache-2.0
//
// For tests: graphs of small nodes at random, each of one element for one, with slices and reshapes
// between them, and softmax, which is neither.
//
//   const Graph graph = RandomSteps(seed).graph();   // passes check_graph
//
// Inputs are [4,1,24], [1,24] and [1,8], the constant "c" is [1,8].
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_RANDOM_STEPS_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_RANDOM_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {

inline Node& slice_node(GraphBuilder* b, uint32_t from, uint32_t to,
                        std::vector<uint32_t> offsets) {
  Node& node = b->node(NodeKind::StaticSlice, {from}, {to});
  node.list = std::move(offsets);
  node.list2 = b->graph.values[to].dims;
  return node;
}

inline Node& reshape_node(GraphBuilder* b, uint32_t from, uint32_t to) {
  Node& node = b->node(NodeKind::StaticReshape, {from}, {to});
  node.list = b->graph.values[to].dims;
  return node;
}

class RandomSteps {
 public:
  explicit RandomSteps(uint32_t seed) : random_(seed) {
    values_ = {b_.input({4, 1, 24}), b_.input({1, 24}), b_.input({1, 8})};
    values_.push_back(b_.constant({1, 8}, "c"));
    for (int i = 0; i < 60; ++i) add_node();
    // What nobody reads is an output, and some of the others.
    std::vector<bool> is_read(b_.graph.values.size());
    for (const Node& node : b_.graph.nodes) {
      for (const uint32_t id : node.inputs) is_read[id] = true;
    }
    for (const Node& node : b_.graph.nodes) {
      const uint32_t id = node.outputs[0];
      if (is_read[id] && below(12) != 0) continue;
      b_.graph.values[id].flags = kExternalOutput;
      b_.graph.values[id].external_id = b_.graph.num_externs++;
    }
  }

  const Graph& graph() const { return b_.graph; }

 private:
  uint32_t below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }
  const Dims& dims(uint32_t id) const { return b_.graph.values[id].dims; }

  void add_node() {
    const uint32_t x = values_[below(static_cast<uint32_t>(values_.size()))];
    if (below(8) == 0) {
      values_.push_back(b_.inner(dims(x)));
      b_.node(NodeKind::Softmax, {x}, {values_.back()});
    } else if (below(3) == 0 && !b_.graph.values[x].is_constant()) {
      add_view(x);
    } else {
      add_step(x);
    }
  }

  void add_view(uint32_t x) {
    Dims out = dims(x);
    if (out.size() == 3 && out[0] == 1) {
      values_.push_back(b_.inner({1, out[2]}));
      reshape_node(&b_, x, values_.back());
      return;
    }
    std::vector<uint32_t> offsets(out.size(), 0);
    const size_t dim = out.size() == 3 && below(3) != 0 ? 0 : out.size() - 1;
    const uint32_t unit = dim == 0 ? 1 : 8;
    const uint32_t parts = out[dim] / unit;
    const uint32_t first = below(parts);
    offsets[dim] = first * unit;
    out[dim] = (1 + below(parts - first)) * unit;
    values_.push_back(b_.inner(out));
    slice_node(&b_, x, values_.back(), offsets);
  }

  void add_step(uint32_t x) {
    constexpr size_t kPairs = 6;
    constexpr NodeKind kKinds[] = {NodeKind::Add,     NodeKind::Subtract, NodeKind::Multiply,
                                   NodeKind::Div,     NodeKind::Maximum,  NodeKind::Minimum,
                                   NodeKind::Abs,     NodeKind::Exp,      NodeKind::Negate,
                                   NodeKind::Sigmoid, NodeKind::Square,   NodeKind::Tanh};
    const uint32_t kind = below(static_cast<uint32_t>(std::size(kKinds)));
    std::vector<uint32_t> inputs = {x};
    if (kind < kPairs) {
      std::vector<uint32_t> others;
      for (const uint32_t id : values_) {
        if (dims(id) == dims(x)) others.push_back(id);
      }
      inputs.push_back(others[below(static_cast<uint32_t>(others.size()))]);
    }
    values_.push_back(b_.inner(dims(x)));
    b_.node(kKinds[kind], std::move(inputs), {values_.back()});
  }

  std::mt19937 random_;
  GraphBuilder b_;
  std::vector<uint32_t> values_;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_RANDOM_STEPS_H_
