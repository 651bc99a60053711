// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/cells.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/random_steps.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

using Floats = std::vector<float>;
using Values = std::map<uint32_t, Floats>;

float single(petrel_cell_function function, float x) {
  switch (function) {
    case petrel_cell_abs:
      return std::fabs(x);
    case petrel_cell_exp:
      return std::exp(x);
    case petrel_cell_negate:
      return -x;
    case petrel_cell_sigmoid:
      return 1 / (1 + std::exp(-x));
    case petrel_cell_square:
      return x * x;
    default:
      return std::tanh(x);
  }
}

float pair(petrel_cell_function function, float a, float b) {
  switch (function) {
    case petrel_cell_add:
      return a + b;
    case petrel_cell_subtract:
      return a - b;
    case petrel_cell_multiply:
      return a * b;
    case petrel_cell_divide:
      return a / (b + 3);
    case petrel_cell_maximum:
      return std::fmax(a, b);
    default:
      return std::fmin(a, b);
  }
}

const std::map<NodeKind, petrel_cell_function> kFunctions = {
    {NodeKind::Add, petrel_cell_add},           {NodeKind::Subtract, petrel_cell_subtract},
    {NodeKind::Multiply, petrel_cell_multiply}, {NodeKind::Div, petrel_cell_divide},
    {NodeKind::Maximum, petrel_cell_maximum},   {NodeKind::Minimum, petrel_cell_minimum},
    {NodeKind::Abs, petrel_cell_abs},           {NodeKind::Exp, petrel_cell_exp},
    {NodeKind::Negate, petrel_cell_negate},     {NodeKind::Sigmoid, petrel_cell_sigmoid},
    {NodeKind::Square, petrel_cell_square},     {NodeKind::Tanh, petrel_cell_tanh}};

Floats slice(const Graph& graph, const Node& node, const Floats& x) {
  const Dims& in = graph.values[node.inputs[0]].dims;
  const Dims& out = graph.values[node.outputs[0]].dims;
  Floats y(count_elements(out));
  for (size_t i = 0; i < y.size(); ++i) {
    size_t rest = i, place = 0, stride = 1;
    for (size_t d = in.size(); d-- > 0;) {
      place += (rest % out[d] + node.list[d]) * stride;
      rest /= out[d];
      stride *= in[d];
    }
    y[i] = x[place];
  }
  return y;
}

// A softmax stands for what is no cell's: half of each element.
Floats evaluate(const Graph& graph, const Node& node, const Values& values) {
  const Floats& x = values.at(node.inputs[0]);
  if (node.kind == NodeKind::StaticSlice) return slice(graph, node, x);
  if (node.kind == NodeKind::StaticReshape) return x;
  Floats y(x.size());
  for (size_t i = 0; i < y.size(); ++i) {
    if (node.kind == NodeKind::Softmax) {
      y[i] = x[i] / 2;
    } else if (node.inputs.size() == 1) {
      y[i] = single(kFunctions.at(node.kind), x[i]);
    } else {
      y[i] = pair(kFunctions.at(node.kind), x[i], values.at(node.inputs[1])[i]);
    }
  }
  return y;
}

// That nothing was written.
constexpr float kUnwritten = 12345;

class Memory {
 public:
  Memory(const Cell& cell, const petrel_cell& program, const Values& values)
      : scratch_(program.scratch_bytes / sizeof(float), kUnwritten) {
    for (const uint32_t id : cell.inputs()) inputs_.push_back(values.at(id));
    for (size_t i = 0; i < cell.outputs().size(); ++i) {
      outputs_.emplace_back(program.output_bytes[i] / sizeof(float), kUnwritten);
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      EXPECT_EQ(program.input_bytes[i], inputs_[i].size() * sizeof(float));
    }
  }

  float* at(const petrel_cell_run& run, size_t bytes) {
    Floats& of = run.place == petrel_cell_input    ? inputs_.at(run.index)
                 : run.place == petrel_cell_output ? outputs_.at(run.index)
                                                   : scratch_;
    EXPECT_LE(run.offset + bytes, of.size() * sizeof(float));
    EXPECT_EQ(run.offset % sizeof(float), 0u);
    return of.data() + run.offset / sizeof(float);
  }

  const Floats& output(size_t i) const { return outputs_[i]; }

 private:
  std::vector<Floats> inputs_, outputs_;
  Floats scratch_;
};

void evaluate(const Cell& cell, const petrel_cell& program, Values* values) {
  Memory memory(cell, program, *values);
  ASSERT_EQ(program.num_steps, cell.steps().size());
  for (size_t k = 0; k < program.num_steps; ++k) {
    const petrel_cell_step& step = program.steps[k];
    const float* const a = memory.at(step.a, step.bytes);
    float* const y = memory.at(step.y, step.bytes);
    if (step.function >= petrel_cell_abs) {
      for (size_t i = 0; i < step.bytes / sizeof(float); ++i) y[i] = single(step.function, a[i]);
      continue;
    }
    const float* const b = memory.at(step.b, step.bytes);
    for (size_t i = 0; i < step.bytes / sizeof(float); ++i) y[i] = pair(step.function, a[i], b[i]);
  }
  for (size_t i = 0; i < cell.outputs().size(); ++i) {
    (*values)[cell.outputs()[i]] = memory.output(i);
  }
}

Values inputs_of(const Graph& graph) {
  Values values;
  for (uint32_t id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    if (!value.is_input() && !value.is_constant()) continue;
    Floats& list = values[id];
    list.resize(count_elements(value.dims));
    for (size_t i = 0; i < list.size(); ++i) list[i] = std::sin(static_cast<float>(i + id));
  }
  return values;
}

Values run_nodes(const Graph& graph) {
  Values values = inputs_of(graph);
  for (const Node& node : graph.nodes) values[node.outputs[0]] = evaluate(graph, node, values);
  return values;
}

Values run_cells(const Graph& graph, const Cells& cells) {
  Values values = inputs_of(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const uint32_t cell = cells.of_node[i];
    if (cell == kNoNode) continue;
    if (cell == kStaysNode) {
      const Node& node = graph.nodes[i];
      values[node.outputs[0]] = evaluate(graph, node, values);
    } else {
      evaluate(cells.cells.at(cell), cells.programs.at(cell), &values);
    }
  }
  return values;
}

void expect_equal(const Graph& graph, const Cells& cells) {
  const Values right = run_nodes(graph), values = run_cells(graph, cells);
  for (uint32_t id = 0; id < graph.values.size(); ++id) {
    EXPECT_TRUE(!graph.values[id].is_output() || values.count(id) == 1) << id;
  }
  for (const auto& [id, list] : values) {
    ASSERT_EQ(list.size(), right.at(id).size()) << id;
    // Some are not numbers.
    EXPECT_EQ(std::memcmp(list.data(), right.at(id).data(), list.size() * sizeof(float)), 0) << id;
  }
}

// One step of a GRU: xs [2,1,12] and hg [1,12] have the parts of three gates, h [1,4].
Graph gru_step() {
  GraphBuilder b;
  const uint32_t xs = b.input({2, 1, 12}), hg = b.input({1, 12}), h = b.input({1, 4});
  const uint32_t out = b.output({1, 4});
  const uint32_t x = b.inner({1, 1, 12}), xg = b.inner({1, 12});
  slice_node(&b, xs, x, {1, 0, 0});
  reshape_node(&b, x, xg);
  const uint32_t x_gates = b.inner({1, 8}), h_gates = b.inner({1, 8}), sum = b.inner({1, 8}),
                 open = b.inner({1, 8}), reset = b.inner({1, 4}), update = b.inner({1, 4}),
                 h_new = b.inner({1, 4}), x_new = b.inner({1, 4}), part = b.inner({1, 4}),
                 before = b.inner({1, 4}), n = b.inner({1, 4}), d = b.inner({1, 4}),
                 e = b.inner({1, 4});
  slice_node(&b, xg, x_gates, {0, 0});
  slice_node(&b, hg, h_gates, {0, 0});
  b.node(NodeKind::Add, {x_gates, h_gates}, {sum});
  b.node(NodeKind::Sigmoid, {sum}, {open});
  slice_node(&b, open, reset, {0, 0});
  slice_node(&b, open, update, {0, 4});
  slice_node(&b, hg, h_new, {0, 8});
  b.node(NodeKind::Multiply, {reset, h_new}, {part});
  slice_node(&b, xg, x_new, {0, 8});
  b.node(NodeKind::Add, {x_new, part}, {before});
  b.node(NodeKind::Tanh, {before}, {n});
  b.node(NodeKind::Subtract, {h, n}, {d});
  b.node(NodeKind::Multiply, {update, d}, {e});
  b.node(NodeKind::Add, {n, e}, {out});
  return b.graph;
}

TEST(Cells, AStepOfAGruIsOne) {
  const Graph graph = gru_step();
  ASSERT_TRUE(check_graph(graph).ok()) << check_graph(graph).text();
  const Cells cells = find_cells(graph);
  ASSERT_EQ(cells.cells.size(), 1u);
  EXPECT_EQ(cells.cells[0].steps().size(), 8u);
  EXPECT_EQ(cells.cells[0].inputs(), (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(cells.cells[0].outputs(), (std::vector<uint32_t>{3}));
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const bool begins = graph.nodes[i].kind == NodeKind::Add && cells.of_node[i] == 0;
    EXPECT_TRUE(begins || cells.of_node[i] == kNoNode) << i;
  }
  // Four runs of at most 64 bytes are there at once, and what is read behind them.
  EXPECT_LE(cells.cells[0].scratch_bytes(), 4 * 64u + 128u);
  expect_equal(graph, cells);
}

TEST(Cells, WhatOthersReadIsMade) {
  Graph graph = gru_step();
  GraphBuilder b;
  b.graph = graph;
  // The update gate goes through a slice to a node that is no cell's.
  const uint32_t soft = b.output({1, 4});
  b.node(NodeKind::Softmax, {graph.nodes[6].outputs[0]}, {soft});
  graph = b.graph;
  ASSERT_TRUE(check_graph(graph).ok()) << check_graph(graph).text();
  const Cells cells = find_cells(graph);
  ASSERT_EQ(cells.cells.size(), 1u);
  EXPECT_EQ(cells.of_node[6], kStaysNode);
  EXPECT_EQ(cells.cells[0].outputs().size(), 2u);
  expect_equal(graph, cells);
}

TEST(Cells, FewNodesAndLargeOnesStay) {
  GraphBuilder b;
  const uint32_t x = b.input({1, 8}), big = b.input({1, 5000});
  const uint32_t y = b.output({1, 8}), big_y = b.output({1, 5000});
  const uint32_t u = b.inner({1, 8}), v = b.inner({1, 5000}), w = b.inner({1, 5000});
  b.node(NodeKind::Tanh, {x}, {u});
  b.node(NodeKind::Abs, {u}, {y});
  b.node(NodeKind::Tanh, {big}, {v});
  b.node(NodeKind::Abs, {v}, {w});
  b.node(NodeKind::Add, {w, big}, {big_y});
  EXPECT_TRUE(find_cells(b.graph).of_node.empty());
}

TEST(Cells, WithARangeANodeStays) {
  GraphBuilder b;
  const uint32_t x = b.input({1, 8}), y = b.output({1, 8});
  const uint32_t u = b.inner({1, 8}), v = b.inner({1, 8});
  b.node(NodeKind::Tanh, {x}, {u});
  b.node(NodeKind::Add, {u, x}, {v}).output_max = 1;
  b.node(NodeKind::Abs, {v}, {y});
  EXPECT_TRUE(find_cells(b.graph).of_node.empty());
}

TEST(Cells, OneHasAsManyOutputsAsANode) {
  GraphBuilder b;
  uint32_t state = b.input({1, 8});
  const uint32_t a = b.input({1, 8});
  std::vector<uint32_t> outputs;
  for (int i = 0; i < 10; ++i) outputs.push_back(b.output({1, 8}));
  for (const uint32_t out : outputs) {
    const uint32_t product = b.inner({1, 8});
    b.node(NodeKind::Multiply, {state, a}, {product});
    b.node(NodeKind::Add, {product, a}, {out});
    state = out;
  }
  const Cells cells = find_cells(b.graph);
  ASSERT_EQ(cells.cells.size(), 3u);
  for (const Cell& cell : cells.cells) EXPECT_LE(cell.outputs().size(), 4u);
  expect_equal(b.graph, cells);
}

// What is read where it is, in another cell's time, is there for longer.
TEST(Cells, TheirMemoryIsTold) {
  const Graph graph = gru_step();
  const Cells cells = find_cells(graph);
  EXPECT_EQ(cells.more_bytes, cells.cells[0].scratch_bytes() + 16);
}

TEST(Cells, RandomGraphsComputeTheSame) {
  size_t count = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomSteps(seed).graph();
    ASSERT_TRUE(check_graph(graph).ok()) << check_graph(graph).text();
    const Cells cells = find_cells(graph);
    if (cells.of_node.empty()) continue;
    count += cells.cells.size();
    for (const Cell& cell : cells.cells) {
      EXPECT_LE(cell.inputs().size(), size_t{PETREL_CELL_MAX_INPUTS});
      EXPECT_LE(cell.outputs().size(), size_t{PETREL_CELL_MAX_OUTPUTS});
      EXPECT_GE(cell.steps().size(), 3u);
    }
    expect_equal(graph, cells);
    if (HasFailure()) return;
  }
  EXPECT_GT(count, 4000u);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
