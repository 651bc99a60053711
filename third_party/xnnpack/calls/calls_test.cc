// SPDX-License-Identifier: Apache-2.0

// Plain calls against XNNPACK's own loop over operators, which it takes when it is asked for its
// profile.
#include <gtest/gtest.h>
#include <pthreadpool.h>
#include <xnnpack.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "third_party/xnnpack/steps/steps.h"

namespace petrel::third_party::xnnpack {
namespace {

using Pool = std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)>;

// What a cell of a recurrent network does with `rows` rows of `width` columns, and then what is
// no single call: a softmax, a transposition, a slice of several rows, a sum over columns.
//
//   gates = x w            [rows, 2 width]
//   h = sigmoid(gates[:, :width]) * tanh(gates[:, width:]) + x
class Cell {
 public:
  Cell(size_t width, pthreadpool_t pool, xnn_workspace_t workspace, uint32_t flags)
      : width_(width), filter_(2 * width * width), bias_(2 * width, 0.125f) {
    for (size_t i = 0; i < filter_.size(); ++i) filter_[i] = std::sin(static_cast<float>(i));
    xnn_subgraph_t graph = nullptr;
    EXPECT_EQ(xnn_create_subgraph(2, 0, &graph), xnn_status_success);
    const uint32_t x = value(graph, {1, width}, nullptr, 0, XNN_VALUE_FLAG_EXTERNAL_INPUT);
    const uint32_t out = value(graph, {width, 1}, nullptr, 1, XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
    const uint32_t w = value(graph, {2 * width, width}, filter_.data());
    const uint32_t bias = value(graph, {2 * width}, bias_.data());
    const uint32_t gates = value(graph, {1, 2 * width}), left = value(graph, {1, width}),
                   right = value(graph, {1, width}), open = value(graph, {1, width}),
                   new_state = value(graph, {1, width}), part = value(graph, {1, width}),
                   state = value(graph, {1, width}), soft = value(graph, {1, width});
    check(xnn_define_fully_connected(graph, -INFINITY, INFINITY, x, w, bias, gates, 0));
    slice(graph, 0, gates, left);
    slice(graph, width, gates, right);
    check(xnn_define_unary(graph, xnn_unary_sigmoid, nullptr, left, open, 0));
    check(xnn_define_unary(graph, xnn_unary_tanh, nullptr, right, new_state, 0));
    check(xnn_define_binary(graph, xnn_binary_multiply, nullptr, open, new_state, part, 0));
    check(xnn_define_binary(graph, xnn_binary_add, nullptr, part, x, state, 0));
    check(xnn_define_softmax(graph, state, soft, 0));
    const size_t turned[] = {1, 0};
    check(xnn_define_static_transpose(graph, 2, turned, soft, out, 0));
    check(xnn_create_runtime_v4(graph, nullptr, workspace, pool, flags, &runtime_));
    xnn_delete_subgraph(graph);
  }
  ~Cell() { xnn_delete_runtime(runtime_); }

  xnn_runtime_t runtime() { return runtime_; }

  xnn_status reshape(size_t rows) {
    const size_t dims[] = {rows, width_};
    check(xnn_reshape_external_value(runtime_, 0, 2, dims));
    x_.assign(rows * width_ + XNN_EXTRA_BYTES, 0);
    out_.assign(rows * width_, 7);
    return xnn_reshape_runtime(runtime_);
  }

  void set_up() {
    const xnn_external_value ends[] = {{0, x_.data()}, {1, out_.data()}};
    check(xnn_setup_runtime_v2(runtime_, 2, ends));
  }

  const std::vector<float>& run(float scale) {
    for (size_t i = 0; i < out_.size(); ++i) x_[i] = scale * std::cos(static_cast<float>(i));
    check(xnn_invoke_runtime(runtime_));
    return out_;
  }

 private:
  static void check(xnn_status status) { EXPECT_EQ(status, xnn_status_success); }

  static uint32_t value(xnn_subgraph_t graph, const std::vector<size_t>& dims,
                        const void* data = nullptr, uint32_t external_id = XNN_INVALID_VALUE_ID,
                        uint32_t flags = 0) {
    uint32_t id = 0;
    check(xnn_define_tensor_value(graph, xnn_datatype_fp32, dims.size(), dims.data(), data,
                                  external_id, flags, &id));
    return id;
  }

  void slice(xnn_subgraph_t graph, size_t column, uint32_t from, uint32_t to) {
    const size_t offsets[] = {0, column}, sizes[] = {0, width_};
    check(xnn_define_static_slice(graph, 2, offsets, sizes, from, to, 0));
  }

  const size_t width_;
  std::vector<float> filter_, bias_, x_, out_;
  xnn_runtime_t runtime_ = nullptr;
};

class CallsTest : public ::testing::Test {
 protected:
  CallsTest() {
    EXPECT_EQ(xnn_initialize(nullptr), xnn_status_success);
    EXPECT_EQ(xnn_create_workspace(&workspace_), xnn_status_success);
    EXPECT_EQ(xnn_create_workspace(&other_workspace_), xnn_status_success);
  }
  ~CallsTest() override {
    xnn_release_workspace(workspace_);
    xnn_release_workspace(other_workspace_);
  }

  void expect_bits_of_operators(size_t width, pthreadpool_t pool) {
    Cell cell(width, pool, workspace_, 0);
    Cell operators(width, pool, other_workspace_, XNN_FLAG_BASIC_PROFILING);
    for (const size_t rows : {1, 5, 1, 40, 600, 3}) {
      for (Cell* each : {&cell, &operators}) {
        ASSERT_EQ(each->reshape(rows), xnn_status_success);
        each->set_up();
      }
      for (const float scale : {1.0f, 100.0f, std::numeric_limits<float>::infinity(), NAN}) {
        const std::vector<float>& expected = operators.run(scale);
        const std::vector<float>& out = cell.run(scale);
        ASSERT_EQ(out.size(), rows * width);
        EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0)
            << rows << " rows of " << width << ", scale " << scale;
      }
    }
  }

  xnn_workspace_t workspace_ = nullptr, other_workspace_ = nullptr;
};

TEST_F(CallsTest, GiveTheBitsOfOperators) {
  for (const size_t width : {1, 7, 16, 33, 128}) expect_bits_of_operators(width, nullptr);
}

TEST_F(CallsTest, GiveTheBitsOfOperatorsWithThreads) {
  const Pool pool(pthreadpool_create(2), &pthreadpool_destroy);
  for (const size_t width : {3, 32, 200}) expect_bits_of_operators(width, pool.get());
}

// A second runtime makes the workspace grow, which moves the values of the first.
TEST_F(CallsTest, FollowAWorkspaceThatMoves) {
  Cell first(16, nullptr, workspace_, 0);
  ASSERT_EQ(first.reshape(2), xnn_status_success);
  first.set_up();
  const std::vector<float> expected = first.run(1);
  Cell second(64, nullptr, workspace_, 0);
  ASSERT_EQ(second.reshape(4000), xnn_status_success);
  second.set_up();
  second.run(1);
  EXPECT_EQ(first.run(1), expected);
  first.set_up();
  EXPECT_EQ(first.run(1), expected);
}

TEST_F(CallsTest, FollowOtherAddresses) {
  Cell cell(16, nullptr, workspace_, 0);
  ASSERT_EQ(cell.reshape(1), xnn_status_success);
  cell.set_up();
  const std::vector<float> expected = cell.run(1);
  std::vector<float> x(16 + XNN_EXTRA_BYTES), out(16);
  for (size_t i = 0; i < 16; ++i) x[i] = std::cos(static_cast<float>(i));
  const xnn_external_value ends[] = {{0, x.data()}, {1, out.data()}};
  ASSERT_EQ(xnn_setup_runtime_v2(cell.runtime(), 2, ends), xnn_status_success);
  ASSERT_EQ(xnn_invoke_runtime(cell.runtime()), xnn_status_success);
  EXPECT_EQ(out, expected);
}

// The same, each time with other tensors.
TEST_F(CallsTest, FollowOtherAddressesOfOneEndAtATime) {
  Cell cell(16, nullptr, workspace_, 0);
  for (const size_t rows : {1, 7, 300}) {
    ASSERT_EQ(cell.reshape(rows), xnn_status_success);
    cell.set_up();
    const std::vector<float> expected = cell.run(1);
    std::vector<std::vector<float>> inputs(3), outputs(3);
    for (size_t i = 0; i < 6; ++i) {
      std::vector<float>& x = inputs[i / 2];
      std::vector<float>& out = outputs[(i + 1) / 2 % 3];
      x.assign(rows * 16 + XNN_EXTRA_BYTES, 0);
      for (size_t k = 0; k < rows * 16; ++k) x[k] = std::cos(static_cast<float>(k));
      out.assign(rows * 16, 0);
      const xnn_external_value ends[] = {{0, x.data()}, {1, out.data()}};
      ASSERT_EQ(xnn_setup_runtime_v2(cell.runtime(), 2, ends), xnn_status_success);
      ASSERT_EQ(xnn_invoke_runtime(cell.runtime()), xnn_status_success);
      EXPECT_EQ(out, expected) << rows << " rows, " << i;
    }
  }
}

// A reshape whose output first lies where its input does.
TEST_F(CallsTest, CopyAgainWhereACopyWasInPlace) {
  xnn_subgraph_t graph = nullptr;
  ASSERT_EQ(xnn_create_subgraph(2, 0, &graph), xnn_status_success);
  const size_t from[] = {2, 8}, to[] = {4, 4};
  uint32_t x = 0, out = 0;
  ASSERT_EQ(xnn_define_tensor_value(graph, xnn_datatype_fp32, 2, from, nullptr, 0,
                                    XNN_VALUE_FLAG_EXTERNAL_INPUT, &x),
            xnn_status_success);
  ASSERT_EQ(xnn_define_tensor_value(graph, xnn_datatype_fp32, 2, to, nullptr, 1,
                                    XNN_VALUE_FLAG_EXTERNAL_OUTPUT, &out),
            xnn_status_success);
  ASSERT_EQ(xnn_define_static_reshape(graph, 2, to, x, out, 0), xnn_status_success);
  xnn_runtime_t runtime = nullptr;
  ASSERT_EQ(xnn_create_runtime_v4(graph, nullptr, workspace_, nullptr, 0, &runtime),
            xnn_status_success);
  xnn_delete_subgraph(graph);
  ASSERT_EQ(xnn_reshape_runtime(runtime), xnn_status_success);
  std::vector<float> input(16 + XNN_EXTRA_BYTES, 3), output(16 + XNN_EXTRA_BYTES, 0);
  for (float* target : {input.data(), output.data()}) {
    const xnn_external_value ends[] = {{0, input.data()}, {1, target}};
    ASSERT_EQ(xnn_setup_runtime_v2(runtime, 2, ends), xnn_status_success);
    ASSERT_EQ(xnn_invoke_runtime(runtime), xnn_status_success);
    EXPECT_EQ(target[0], 3);
    EXPECT_EQ(target[15], 3);
  }
  xnn_delete_runtime(runtime);
}

// Operators were told sizes but no addresses.
TEST_F(CallsTest, RefuseWhatIsNotSetUp) {
  Cell cell(16, nullptr, workspace_, 0);
  EXPECT_EQ(xnn_invoke_runtime(cell.runtime()), xnn_status_invalid_state);
  ASSERT_EQ(cell.reshape(1), xnn_status_success);
  cell.set_up();
  cell.run(1);
  ASSERT_EQ(cell.reshape(9), xnn_status_success);
  EXPECT_EQ(xnn_invoke_runtime(cell.runtime()), xnn_status_invalid_state);
}

struct Seen {
  std::vector<size_t> begun, ended;
};

TEST_F(CallsTest, TellTheObserverOfEachStep) {
  for (const size_t rows : {1, 600}) {
    Cell cell(128, nullptr, workspace_, 0);
    ASSERT_EQ(cell.reshape(rows), xnn_status_success);
    cell.set_up();
    std::vector<size_t> expected;
    for (size_t i = 0; i < petrel_num_steps(cell.runtime()); ++i) {
      petrel_step step;
      if (petrel_describe_step(cell.runtime(), i, &step)) expected.push_back(i);
    }
    ASSERT_EQ(expected.size(), 9);
    // Both slices of one row lie in what they are of, behind which they come.
    if (rows == 1) expected.erase(expected.begin() + 1, expected.begin() + 3);
    Seen seen;
    const petrel_observer observer = {
        &seen,
        [](void* context, size_t step) { static_cast<Seen*>(context)->begun.push_back(step); },
        [](void* context, size_t step) { static_cast<Seen*>(context)->ended.push_back(step); }};
    petrel_observe(&observer);
    cell.run(1);
    petrel_observe(nullptr);
    EXPECT_EQ(seen.begun, expected);
    EXPECT_EQ(seen.ended, expected);
  }
}

// More calls in a row than a count of them holds.
TEST_F(CallsTest, RunAsManyAsThereAre) {
  constexpr size_t kSteps = 70'000;
  xnn_subgraph_t graph = nullptr;
  ASSERT_EQ(xnn_create_subgraph(2, 0, &graph), xnn_status_success);
  const size_t dims[] = {4};
  std::vector<uint32_t> ids(kSteps + 1);
  for (size_t i = 0; i <= kSteps; ++i) {
    const bool is_input = i == 0, is_output = i == kSteps;
    const uint32_t flags = is_input    ? XNN_VALUE_FLAG_EXTERNAL_INPUT
                           : is_output ? XNN_VALUE_FLAG_EXTERNAL_OUTPUT
                                       : 0;
    const uint32_t external_id = is_input ? 0 : is_output ? 1 : XNN_INVALID_VALUE_ID;
    ASSERT_EQ(xnn_define_tensor_value(graph, xnn_datatype_fp32, 1, dims, nullptr, external_id,
                                      flags, &ids[i]),
              xnn_status_success);
  }
  for (size_t i = 0; i < kSteps; ++i) {
    ASSERT_EQ(xnn_define_unary(graph, xnn_unary_negate, nullptr, ids[i], ids[i + 1], 0),
              xnn_status_success);
  }
  xnn_runtime_t runtime = nullptr;
  ASSERT_EQ(xnn_create_runtime_v4(graph, nullptr, workspace_, nullptr, 0, &runtime),
            xnn_status_success);
  xnn_delete_subgraph(graph);
  std::vector<float> x(4 + XNN_EXTRA_BYTES, 3), out(4);
  const xnn_external_value ends[] = {{0, x.data()}, {1, out.data()}};
  ASSERT_EQ(xnn_reshape_runtime(runtime), xnn_status_success);
  ASSERT_EQ(xnn_setup_runtime_v2(runtime, 2, ends), xnn_status_success);
  ASSERT_EQ(xnn_invoke_runtime(runtime), xnn_status_success);
  EXPECT_EQ(out, std::vector<float>(4, 3));
  xnn_delete_runtime(runtime);
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
