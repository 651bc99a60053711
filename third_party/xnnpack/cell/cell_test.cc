// SPDX-License-Identifier: Apache-2.0

// Cells against the operators that XNNPACK makes of the same functions.
#include "third_party/xnnpack/cell/cell.h"

#include <gtest/gtest.h>
#include <pthreadpool.h>
#include <xnnpack.h>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace petrel::third_party::xnnpack {
namespace {

struct Function {
  const char* name;
  petrel_cell_function in_cell;
  bool is_pair;
  xnn_binary_operator pair;
  xnn_unary_operator single;
};

Function pair(const char* name, petrel_cell_function in_cell, xnn_binary_operator of) {
  return {name, in_cell, true, of, xnn_unary_invalid};
}
Function single(const char* name, petrel_cell_function in_cell, xnn_unary_operator of) {
  return {name, in_cell, false, xnn_binary_invalid, of};
}

const Function kFunctions[] = {
    pair("add", petrel_cell_add, xnn_binary_add),
    pair("subtract", petrel_cell_subtract, xnn_binary_subtract),
    pair("multiply", petrel_cell_multiply, xnn_binary_multiply),
    pair("divide", petrel_cell_divide, xnn_binary_divide),
    pair("maximum", petrel_cell_maximum, xnn_binary_maximum),
    pair("minimum", petrel_cell_minimum, xnn_binary_minimum),
    single("abs", petrel_cell_abs, xnn_unary_abs),
    single("exp", petrel_cell_exp, xnn_unary_exp),
    single("negate", petrel_cell_negate, xnn_unary_negate),
    single("sigmoid", petrel_cell_sigmoid, xnn_unary_sigmoid),
    single("square", petrel_cell_square, xnn_unary_square),
    single("tanh", petrel_cell_tanh, xnn_unary_tanh),
};

// A graph of two inputs and one output of `size` floats each.
class Graph {
 public:
  Graph(size_t size, pthreadpool_t pool) : size_(size), pool_(pool) {
    EXPECT_EQ(xnn_create_subgraph(3, 0, &graph_), xnn_status_success);
    a_ = value(0, XNN_VALUE_FLAG_EXTERNAL_INPUT);
    b_ = value(1, XNN_VALUE_FLAG_EXTERNAL_INPUT);
    y_ = value(2, XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
  }
  ~Graph() {
    xnn_delete_subgraph(graph_);
    if (runtime_ != nullptr) xnn_delete_runtime(runtime_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  uint32_t inner() { return value(XNN_INVALID_VALUE_ID, 0); }
  uint32_t a() const { return a_; }
  uint32_t b() const { return b_; }
  uint32_t y() const { return y_; }
  xnn_subgraph_t get() const { return graph_; }

  void add_node(const Function& function, uint32_t a, uint32_t b, uint32_t y) {
    EXPECT_EQ(function.is_pair ? xnn_define_binary(graph_, function.pair, nullptr, a, b, y, 0)
                               : xnn_define_unary(graph_, function.single, nullptr, a, y, 0),
              xnn_status_success);
  }

  void make() {
    EXPECT_EQ(xnn_create_runtime_v4(graph_, nullptr, nullptr, pool_, 0, &runtime_),
              xnn_status_success);
  }

  xnn_status reshape(size_t size) {
    const size_t dims[] = {1, size};
    EXPECT_EQ(xnn_reshape_external_value(runtime_, 0, 2, dims), xnn_status_success);
    EXPECT_EQ(xnn_reshape_external_value(runtime_, 1, 2, dims), xnn_status_success);
    return xnn_reshape_runtime(runtime_);
  }

  std::vector<float> run(const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<float> y(size_ + XNN_EXTRA_BYTES, 7);
    const xnn_external_value ends[] = {
        {0, const_cast<float*>(a.data())}, {1, const_cast<float*>(b.data())}, {2, y.data()}};
    EXPECT_EQ(reshape(size_), xnn_status_success);
    EXPECT_EQ(xnn_setup_runtime_v2(runtime_, 3, ends), xnn_status_success);
    EXPECT_EQ(xnn_invoke_runtime(runtime_), xnn_status_success);
    return y;
  }

 private:
  uint32_t value(uint32_t external_id, uint32_t flags) {
    const size_t dims[] = {1, size_};
    uint32_t id = 0;
    EXPECT_EQ(xnn_define_tensor_value(graph_, xnn_datatype_fp32, 2, dims, nullptr, external_id,
                                      flags, &id),
              xnn_status_success);
    return id;
  }

  const size_t size_;
  const pthreadpool_t pool_;
  xnn_subgraph_t graph_ = nullptr;
  xnn_runtime_t runtime_ = nullptr;
  uint32_t a_ = 0, b_ = 0, y_ = 0;
};

petrel_cell cell_of(const std::vector<petrel_cell_step>& steps, size_t size,
                    size_t scratch_bytes = 0) {
  petrel_cell cell = {};
  cell.steps = steps.data();
  cell.num_steps = steps.size();
  cell.scratch_bytes = scratch_bytes;
  cell.num_inputs = 2;
  cell.num_outputs = 1;
  for (size_t& bytes : cell.input_bytes) bytes = size * sizeof(float);
  for (size_t& bytes : cell.output_bytes) bytes = size * sizeof(float);
  return cell;
}

void add_cell(Graph* graph, const petrel_cell& cell) {
  const uint32_t inputs[] = {graph->a(), graph->b()};
  const uint32_t outputs[] = {graph->y()};
  EXPECT_EQ(petrel_define_cell(graph->get(), &cell, inputs, outputs), xnn_status_success);
}

constexpr petrel_cell_run kA = {petrel_cell_input, 0, 0};
constexpr petrel_cell_run kB = {petrel_cell_input, 1, 0};
constexpr petrel_cell_run kY = {petrel_cell_output, 0, 0};

std::vector<float> numbers(size_t size, float scale) {
  std::vector<float> list(size + XNN_EXTRA_BYTES);
  for (size_t i = 0; i < size; ++i) list[i] = scale * std::sin(static_cast<float>(3 * i + 1));
  if (size > 5) {
    list[3] = INFINITY;
    list[4] = NAN;
    list[5] = -0.0f;
  }
  return list;
}

class CellTest : public ::testing::Test {
 protected:
  CellTest() { EXPECT_EQ(xnn_initialize(nullptr), xnn_status_success); }
};

TEST_F(CellTest, EachFunctionHasTheBitsOfItsOperator) {
  for (const Function& function : kFunctions) {
    for (const size_t size : {1, 7, 16, 100, 1031}) {
      SCOPED_TRACE(std::string(function.name) + " of " + std::to_string(size));
      const std::vector<float> a = numbers(size, 9), b = numbers(size, -0.3f);
      Graph nodes(size, nullptr);
      nodes.add_node(function, nodes.a(), nodes.b(), nodes.y());
      if (!function.is_pair) {
        // So that the second input is one of the graph.
        nodes.add_node(kFunctions[0], nodes.a(), nodes.b(), nodes.inner());
      }
      nodes.make();
      Graph cells(size, nullptr);
      const std::vector<petrel_cell_step> steps = {
          {function.in_cell, size * sizeof(float), kA, kB, kY}};
      const petrel_cell cell = cell_of(steps, size);
      add_cell(&cells, cell);
      cells.make();
      const std::vector<float> of_nodes = nodes.run(a, b), of_cells = cells.run(a, b);
      EXPECT_EQ(std::memcmp(of_nodes.data(), of_cells.data(), size * sizeof(float)), 0);
    }
  }
}

TEST_F(CellTest, StepsGoThroughScratchAndRunsOfInputs) {
  constexpr size_t kSize = 96, kHalf = kSize / 2, kBytes = kHalf * sizeof(float);
  // y[48:] = tanh(a[48:] + b[:48]); y[:48] = y[48:] * a[:48].
  const std::vector<petrel_cell_step> steps = {
      {petrel_cell_add, kBytes, {petrel_cell_input, 0, kBytes}, kB, {petrel_cell_scratch, 0, 64}},
      {petrel_cell_tanh, kBytes, {petrel_cell_scratch, 0, 64}, {}, {petrel_cell_output, 0, kBytes}},
      {petrel_cell_multiply, kBytes, {petrel_cell_output, 0, kBytes}, kA, kY}};
  const petrel_cell cell = cell_of(steps, kSize, 64 + kBytes + 128);
  Graph graph(kSize, nullptr);
  add_cell(&graph, cell);
  graph.make();
  const std::vector<float> a = numbers(kSize, 2), b = numbers(kSize, 0.5f);
  for (int turn = 0; turn < 2; ++turn) {
    const std::vector<float> y = graph.run(a, b);
    for (size_t i = 6; i < kHalf; ++i) {
      const float right = std::tanh(a[kHalf + i] + b[i]);
      EXPECT_NEAR(y[kHalf + i], right, 1e-6) << i;
      EXPECT_NEAR(y[i], right * a[i], 2e-6) << i;
    }
  }
}

TEST_F(CellTest, ValuesBetweenCellsHaveMemory) {
  constexpr size_t kSize = 40;
  const std::vector<petrel_cell_step> first = {
      {petrel_cell_add, kSize * sizeof(float), kA, kB, kY}};
  const std::vector<petrel_cell_step> last = {
      {petrel_cell_multiply, kSize * sizeof(float), kA, kB, kY}};
  const petrel_cell sum = cell_of(first, kSize), product = cell_of(last, kSize);
  Graph graph(kSize, nullptr);
  const uint32_t inner = graph.inner(), more = graph.inner();
  const uint32_t inputs[] = {graph.a(), graph.b()}, of_more[] = {inner, graph.b()},
                 of_last[] = {inner, more}, outputs[] = {graph.y()};
  EXPECT_EQ(petrel_define_cell(graph.get(), &sum, inputs, &inner), xnn_status_success);
  EXPECT_EQ(petrel_define_cell(graph.get(), &product, of_more, &more), xnn_status_success);
  EXPECT_EQ(petrel_define_cell(graph.get(), &product, of_last, outputs), xnn_status_success);
  graph.make();
  const std::vector<float> a = numbers(kSize, 2), b = numbers(kSize, 0.5f);
  const std::vector<float> y = graph.run(a, b);
  for (size_t i = 6; i < kSize; ++i) EXPECT_EQ(y[i], (a[i] + b[i]) * ((a[i] + b[i]) * b[i])) << i;
}

TEST_F(CellTest, OtherSizesAreRefused) {
  const std::vector<petrel_cell_step> steps = {{petrel_cell_add, 40, kA, kB, kY}};
  const petrel_cell cell = cell_of(steps, 10);
  Graph graph(10, nullptr);
  add_cell(&graph, cell);
  graph.make();
  EXPECT_EQ(graph.reshape(11), xnn_status_unsupported_parameter);
  EXPECT_EQ(graph.reshape(10), xnn_status_success);
}

TEST_F(CellTest, IsRefusedWithMoreInputsThanANodeHas) {
  const std::vector<petrel_cell_step> steps = {{petrel_cell_add, 40, kA, kB, kY}};
  petrel_cell cell = cell_of(steps, 10);
  Graph graph(10, nullptr);
  const uint32_t ids[PETREL_CELL_MAX_INPUTS + 1] = {};
  cell.num_inputs = PETREL_CELL_MAX_INPUTS + 1;
  EXPECT_EQ(petrel_define_cell(graph.get(), &cell, ids, ids), xnn_status_invalid_parameter);
  cell.num_inputs = 2;
  cell.num_outputs = 0;
  EXPECT_EQ(petrel_define_cell(graph.get(), &cell, ids, ids), xnn_status_invalid_parameter);
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
