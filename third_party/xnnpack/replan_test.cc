// SPDX-License-Identifier: Apache-2.0

// Inputs take other sizes in runtimes whose memory was planned for the first ones.
#include <gtest/gtest.h>
#include <xnnpack.h>

#include <cstdlib>
#include <vector>

namespace petrel::third_party::xnnpack {
namespace {

// What a block of memory may have at most; more cannot be had.
size_t largest_block = SIZE_MAX;

void* allocate(void*, size_t size) { return size > largest_block ? nullptr : std::malloc(size); }
void* reallocate(void*, void* block, size_t size) {
  return size > largest_block ? nullptr : std::realloc(block, size);
}
void deallocate(void*, void* block) { std::free(block); }
void* aligned_allocate(void*, size_t alignment, size_t size) {
  void* block = nullptr;
  if (size > largest_block || posix_memalign(&block, alignment, size) != 0) return nullptr;
  return block;
}

// out = -(-x + y * y), where x has one row or all of y.
class Sum {
 public:
  Sum() {
    const xnn_allocator allocator = {nullptr,     &allocate,         &reallocate,
                                     &deallocate, &aligned_allocate, &deallocate};
    EXPECT_EQ(xnn_initialize(&allocator), xnn_status_success);
    xnn_subgraph_t graph = nullptr;
    EXPECT_EQ(xnn_create_subgraph(3, 0, &graph), xnn_status_success);
    const uint32_t x = define(graph, 0, XNN_VALUE_FLAG_EXTERNAL_INPUT);
    const uint32_t y = define(graph, 1, XNN_VALUE_FLAG_EXTERNAL_INPUT);
    const uint32_t out = define(graph, 2, XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
    const uint32_t negative = inner(graph), square = inner(graph), sum = inner(graph);
    const auto unary = [&](xnn_unary_operator op, uint32_t from, uint32_t to) {
      EXPECT_EQ(xnn_define_unary(graph, op, nullptr, from, to, 0), xnn_status_success);
    };
    unary(xnn_unary_negate, x, negative);
    unary(xnn_unary_square, y, square);
    EXPECT_EQ(xnn_define_binary(graph, xnn_binary_add, nullptr, negative, square, sum, 0),
              xnn_status_success);
    unary(xnn_unary_negate, sum, out);
    EXPECT_EQ(xnn_create_runtime_v2(graph, nullptr, 0, &runtime_), xnn_status_success);
    xnn_delete_subgraph(graph);
  }
  ~Sum() { xnn_delete_runtime(runtime_); }

  xnn_status reshape(size_t x_rows, size_t y_rows) {
    x_.assign(x_rows * kColumns + XNN_EXTRA_BYTES, 0);
    y_.assign(y_rows * kColumns + XNN_EXTRA_BYTES, 0);
    out_.assign(y_rows * kColumns, 0);
    for (size_t i = 0; i < x_rows * kColumns; ++i) x_[i] = static_cast<float>(i % 97);
    for (size_t i = 0; i < out_.size(); ++i) y_[i] = static_cast<float>(i % 31);
    const size_t x_dims[] = {x_rows, kColumns}, y_dims[] = {y_rows, kColumns};
    EXPECT_EQ(xnn_reshape_external_value(runtime_, 0, 2, x_dims), xnn_status_success);
    EXPECT_EQ(xnn_reshape_external_value(runtime_, 1, 2, y_dims), xnn_status_success);
    return xnn_reshape_runtime(runtime_);
  }

  void run_and_compare(size_t x_rows) {
    const xnn_external_value ends[] = {{0, x_.data()}, {1, y_.data()}, {2, out_.data()}};
    ASSERT_EQ(xnn_setup_runtime_v2(runtime_, 3, ends), xnn_status_success);
    ASSERT_EQ(xnn_invoke_runtime(runtime_), xnn_status_success);
    for (size_t i = 0; i < out_.size(); ++i) {
      ASSERT_EQ(out_[i], x_[i % (x_rows * kColumns)] - y_[i] * y_[i]) << "element " << i;
    }
  }

 private:
  static constexpr size_t kColumns = 4;

  static uint32_t define(xnn_subgraph_t graph, uint32_t external_id, uint32_t flags) {
    const size_t dims[] = {8, kColumns};
    uint32_t id = 0;
    EXPECT_EQ(xnn_define_tensor_value(graph, xnn_datatype_fp32, 2, dims, nullptr, external_id,
                                      flags, &id),
              xnn_status_success);
    return id;
  }
  static uint32_t inner(xnn_subgraph_t graph) { return define(graph, XNN_INVALID_VALUE_ID, 0); }

  std::vector<float> x_, y_, out_;
  xnn_runtime_t runtime_ = nullptr;
};

TEST(Replan, AnOperandThatIsBroadcastIsNotOverwritten) {
  Sum sum;
  for (const size_t x_rows : {8, 1, 8, 1}) {
    ASSERT_EQ(sum.reshape(x_rows, 8), xnn_status_success);
    sum.run_and_compare(x_rows);
  }
}

TEST(Replan, SizesWithoutMemoryAreNotRunWithTheOldPlan) {
  Sum sum;
  ASSERT_EQ(sum.reshape(8, 8), xnn_status_success);
  sum.run_and_compare(8);
  largest_block = 1 << 14;
  EXPECT_EQ(sum.reshape(4000, 4000), xnn_status_out_of_memory);
  largest_block = SIZE_MAX;
  for (const size_t rows : {4000, 8, 2000}) {
    ASSERT_EQ(sum.reshape(rows, rows), xnn_status_success);
    sum.run_and_compare(rows);
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
