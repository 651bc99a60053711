// SPDX-License-Identifier: Apache-2.0

// Slices that lie in their inputs, whatever memory held before and whichever sizes come next.
#include <gtest/gtest.h>
#include <petrel/fill.h>
#include <xnnpack.h>

#include <cmath>
#include <vector>

#include "xnnpack/subgraph.h"

namespace petrel::third_party::xnnpack {
namespace {

class Fill {
 public:
  explicit Fill(int byte) { xnn_set_fill(byte); }
  ~Fill() { xnn_set_fill(-1); }
};

// Each value is read again after others could have been put into its memory:
//
//   whole = -x                               [rows, 2 width]
//   left, right = whole[:, :width], whole[:, width:]
//   start = left[:, :width / 2]              a run of a run
//   flat = reshape(right)                    [rows * width], takes the memory of a run
//   y = abs(abs(left) * abs(reshape(abs(flat)))) + left + right, then its start + start + whole's
class Slices {
 public:
  explicit Slices(size_t width, bool reads_whole_last = true) : width_(width) {
    EXPECT_EQ(xnn_initialize(nullptr), xnn_status_success);
    xnn_subgraph_t graph = nullptr;
    EXPECT_EQ(xnn_create_subgraph(2, 0, &graph), xnn_status_success);
    const uint32_t x = value(graph, {1, 2 * width}, 0, XNN_VALUE_FLAG_EXTERNAL_INPUT);
    whole = value(graph, {1, 2 * width});
    unary(graph, xnn_unary_negate, x, whole);
    left = slice(graph, whole, 0, width);
    right = slice(graph, whole, width, width);
    start = slice(graph, left, 0, width / 2);
    flat = value(graph, {1, 1, width});
    const size_t flat_dims[] = {0, 1, width};
    check(xnn_define_static_reshape(graph, 3, flat_dims, right, flat, 0));
    const uint32_t open = value(graph, {1, width}), flat_open = value(graph, {1, 1, width}),
                   row_open = value(graph, {1, width});
    unary(graph, xnn_unary_abs, left, open);
    unary(graph, xnn_unary_abs, flat, flat_open);
    const size_t row_dims[] = {0, width};
    check(xnn_define_static_reshape(graph, 2, row_dims, flat_open, row_open, 0));
    const uint32_t product = binary(graph, xnn_binary_multiply, open, row_open, width);
    const uint32_t more = binary(graph, xnn_binary_add, product, left, width);
    const uint32_t right_again = slice(graph, whole, width, width);
    const uint32_t sum = binary(graph, xnn_binary_add, more, right_again, width);
    const uint32_t sum_start = slice(graph, sum, 0, width / 2);
    const uint32_t starts = binary(graph, xnn_binary_add, sum_start, start, width / 2);
    const uint32_t whole_start = reads_whole_last ? slice(graph, whole, 0, width / 2) : start;
    const uint32_t out = value(graph, {1, width / 2}, 1, XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
    check(xnn_define_binary(graph, xnn_binary_add, nullptr, starts, whole_start, out, 0));
    check(xnn_create_runtime_v3(graph, nullptr, nullptr, 0, &runtime_));
    xnn_delete_subgraph(graph);
  }
  ~Slices() { xnn_delete_runtime(runtime_); }

  void expect_right(size_t rows) {
    const size_t dims[] = {rows, 2 * width_};
    check(xnn_reshape_external_value(runtime_, 0, 2, dims));
    check(xnn_reshape_runtime(runtime_));
    std::vector<float> x(rows * 2 * width_ + XNN_EXTRA_BYTES), out(rows * width_ / 2, 7);
    for (size_t i = 0; i < rows * 2 * width_; ++i) x[i] = std::cos(static_cast<float>(i));
    const xnn_external_value ends[] = {{0, x.data()}, {1, out.data()}};
    check(xnn_setup_runtime_v2(runtime_, 2, ends));
    check(xnn_invoke_runtime(runtime_));
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t row = i / (width_ / 2), column = i % (width_ / 2);
      const float a = -x[row * 2 * width_ + column];
      const float b = -x[row * 2 * width_ + width_ + column];
      const float sum = std::abs(a) * std::abs(b) + a + b;
      ASSERT_EQ(out[i], sum + a + a) << rows << " rows, element " << i;
    }
  }

  bool lies_in(uint32_t part, uint32_t of, size_t column) const {
    return data(part) == data(of) + column;
  }

  uint32_t whole, left, right, start, flat;

 private:
  static void check(xnn_status status) { ASSERT_EQ(status, xnn_status_success); }

  const float* data(uint32_t id) const {
    return static_cast<const float*>(runtime_->values[id].data);
  }

  static uint32_t value(xnn_subgraph_t graph, const std::vector<size_t>& dims,
                        uint32_t external_id = XNN_INVALID_VALUE_ID, uint32_t flags = 0) {
    uint32_t id = 0;
    check(xnn_define_tensor_value(graph, xnn_datatype_fp32, dims.size(), dims.data(), nullptr,
                                  external_id, flags, &id));
    return id;
  }

  static void unary(xnn_subgraph_t graph, xnn_unary_operator op, uint32_t from, uint32_t to) {
    check(xnn_define_unary(graph, op, nullptr, from, to, 0));
  }

  static uint32_t binary(xnn_subgraph_t graph, xnn_binary_operator op, uint32_t a, uint32_t b,
                         size_t width) {
    const uint32_t out = value(graph, {1, width});
    check(xnn_define_binary(graph, op, nullptr, a, b, out, 0));
    return out;
  }

  static uint32_t slice(xnn_subgraph_t graph, uint32_t from, size_t column, size_t width) {
    const uint32_t out = value(graph, {1, width});
    const size_t offsets[] = {0, column}, sizes[] = {0, width};
    check(xnn_define_static_slice(graph, 2, offsets, sizes, from, out, 0));
    return out;
  }

  const size_t width_;
  xnn_runtime_t runtime_ = nullptr;
};

TEST(RunsTest, LieInTheirInputsWhereTheyAreOneRow) {
  Slices slices(40);
  slices.expect_right(1);
  EXPECT_TRUE(slices.lies_in(slices.left, slices.whole, 0));
  EXPECT_TRUE(slices.lies_in(slices.right, slices.whole, 40));
  EXPECT_TRUE(slices.lies_in(slices.start, slices.whole, 0));
  EXPECT_TRUE(slices.lies_in(slices.flat, slices.whole, 40));
}

TEST(RunsTest, AreCopiedWhereRowsAreBetween) {
  Slices slices(40);
  slices.expect_right(3);
  EXPECT_FALSE(slices.lies_in(slices.left, slices.whole, 0));
  EXPECT_FALSE(slices.lies_in(slices.right, slices.whole, 40));
}

TEST(RunsTest, ComputeTheSameForAllSizesWhateverMemoryHeld) {
  for (const int byte : {-1, 0x00, 0x7F, 0xFF}) {
    const Fill fill(byte);
    Slices slices(40);
    for (const size_t rows : {1, 3, 1, 7, 2, 1}) slices.expect_right(rows);
    for (const size_t rows : {5, 1, 4}) {
      Slices others(26);
      others.expect_right(rows);
      others.expect_right(1);
    }
  }
}

// 80 KB, which are kept for what is read later where all of them are.
TEST(RunsTest, KeepNoLargeValueForLonger) {
  Slices slices(10'000);
  slices.expect_right(1);
  EXPECT_TRUE(slices.lies_in(slices.left, slices.whole, 0));
  EXPECT_TRUE(slices.lies_in(slices.right, slices.whole, 10'000));
  Slices others(10'000, false);
  others.expect_right(1);
  EXPECT_FALSE(others.lies_in(others.left, others.whole, 0));
  EXPECT_TRUE(others.lies_in(others.right, others.whole, 10'000));
  Slices small(40, false);
  small.expect_right(1);
  EXPECT_TRUE(small.lies_in(small.left, small.whole, 0));
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
