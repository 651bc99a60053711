// SPDX-License-Identifier: Apache-2.0

// Small operators run on the calling thread: they get done while the pool is
// busy with something else, for which larger ones wait.
#include <gtest/gtest.h>
#include <pthreadpool.h>
#include <xnnpack.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <future>
#include <memory>
#include <vector>

namespace petrel::third_party::xnnpack {
namespace {

using Pool = std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)>;

// A fully connected layer of ones and what it computes.
class Product {
 public:
  Product(size_t rows, size_t depth, size_t columns, pthreadpool_t pool)
      : depth_(depth),
        input_(rows * depth + XNN_EXTRA_BYTES, 1),
        filter_(columns * depth, 1),
        output_(rows * columns, 0) {
    xnn_subgraph_t graph = nullptr;
    EXPECT_EQ(xnn_create_subgraph(2, 0, &graph), xnn_status_success);
    const uint32_t input = define(graph, {rows, depth}, nullptr, 0, XNN_VALUE_FLAG_EXTERNAL_INPUT);
    const uint32_t filter =
        define(graph, {columns, depth}, filter_.data(), XNN_INVALID_VALUE_ID, 0);
    const uint32_t output =
        define(graph, {rows, columns}, nullptr, 1, XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
    EXPECT_EQ(xnn_define_fully_connected(graph, -INFINITY, INFINITY, input, filter,
                                         XNN_INVALID_VALUE_ID, output, 0),
              xnn_status_success);
    EXPECT_EQ(xnn_create_runtime_v2(graph, pool, 0, &runtime_), xnn_status_success);
    xnn_delete_subgraph(graph);
    const xnn_external_value ends[] = {{input, input_.data()}, {output, output_.data()}};
    EXPECT_EQ(xnn_reshape_runtime(runtime_), xnn_status_success);
    EXPECT_EQ(xnn_setup_runtime_v2(runtime_, 2, ends), xnn_status_success);
  }
  ~Product() { xnn_delete_runtime(runtime_); }

  bool run() {
    return xnn_invoke_runtime(runtime_) == xnn_status_success &&
           output_ == std::vector<float>(output_.size(), static_cast<float>(depth_));
  }

 private:
  static uint32_t define(xnn_subgraph_t graph, const std::vector<size_t>& dims, const void* data,
                         uint32_t external_id, uint32_t flags) {
    uint32_t id = 0;
    EXPECT_EQ(xnn_define_tensor_value(graph, xnn_datatype_fp32, dims.size(), dims.data(), data,
                                      external_id, flags, &id),
              xnn_status_success);
    return id;
  }

  const size_t depth_;
  std::vector<float> input_, filter_, output_;
  xnn_runtime_t runtime_ = nullptr;
};

// Halves as levels of 0.5 in bytes: each is one.
class Rounding {
 public:
  Rounding(size_t elements, pthreadpool_t pool)
      : input_(elements + XNN_EXTRA_BYTES, 0.5f), output_(elements + XNN_EXTRA_BYTES, 0) {
    xnn_subgraph_t graph = nullptr;
    EXPECT_EQ(xnn_create_subgraph(2, 0, &graph), xnn_status_success);
    uint32_t input = 0, output = 0;
    EXPECT_EQ(xnn_define_tensor_value(graph, xnn_datatype_fp32, 1, &elements, nullptr, 0,
                                      XNN_VALUE_FLAG_EXTERNAL_INPUT, &input),
              xnn_status_success);
    EXPECT_EQ(
        xnn_define_quantized_tensor_value(graph, xnn_datatype_qint8, 0, 0.5f, 1, &elements, nullptr,
                                          1, XNN_VALUE_FLAG_EXTERNAL_OUTPUT, &output),
        xnn_status_success);
    EXPECT_EQ(xnn_define_unary(graph, xnn_unary_convert, nullptr, input, output, 0),
              xnn_status_success);
    EXPECT_EQ(xnn_create_runtime_v2(graph, pool, 0, &runtime_), xnn_status_success);
    xnn_delete_subgraph(graph);
    output_.resize(elements);
    const xnn_external_value ends[] = {{input, input_.data()}, {output, output_.data()}};
    EXPECT_EQ(xnn_reshape_runtime(runtime_), xnn_status_success);
    EXPECT_EQ(xnn_setup_runtime_v2(runtime_, 2, ends), xnn_status_success);
  }
  ~Rounding() { xnn_delete_runtime(runtime_); }

  bool run() {
    return xnn_invoke_runtime(runtime_) == xnn_status_success &&
           output_ == std::vector<int8_t>(output_.size(), 1);
  }

 private:
  std::vector<float> input_;
  std::vector<int8_t> output_;
  xnn_runtime_t runtime_ = nullptr;
};

// Keeps a pool busy from its making until release().
class Occupation {
 public:
  explicit Occupation(pthreadpool_t pool)
      : thread_(std::async(std::launch::async,
                           [this, pool] { pthreadpool_parallelize_1d(pool, &wait, this, 2, 0); })) {
    begun_.get_future().wait();
  }
  void release() {
    released_.set_value();
    thread_.wait();
  }

 private:
  static void wait(void* context, size_t item) {
    auto* self = static_cast<Occupation*>(context);
    if (item == 0) self->begun_.set_value();
    self->may_end_.wait();
  }

  std::promise<void> begun_, released_;
  std::shared_future<void> may_end_ = released_.get_future().share();
  std::future<void> thread_;
};

class SmallOperatorsTest : public ::testing::Test {
 protected:
  SmallOperatorsTest() { EXPECT_EQ(xnn_initialize(nullptr), xnn_status_success); }

  Pool pool_{pthreadpool_create(2), &pthreadpool_destroy};
};

TEST_F(SmallOperatorsTest, DoNotWaitForThePool) {
  Product small(1, 256, 512, pool_.get());
  Occupation occupation(pool_.get());
  std::future<bool> ran = std::async(std::launch::async, [&] { return small.run(); });
  EXPECT_EQ(ran.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  occupation.release();
  EXPECT_TRUE(ran.get());
}

// Bytes are done in a quarter of the time.
TEST_F(SmallOperatorsTest, OfBytesMayHaveMoreElements) {
  Rounding small(90'000, pool_.get()), large(110'000, pool_.get());
  Occupation occupation(pool_.get());
  std::future<bool> first = std::async(std::launch::async, [&] { return small.run(); });
  EXPECT_EQ(first.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  std::future<bool> second = std::async(std::launch::async, [&] { return large.run(); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  occupation.release();
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
}

TEST_F(SmallOperatorsTest, OthersUseThePool) {
  Product large(64, 256, 512, pool_.get());
  Occupation occupation(pool_.get());
  std::future<bool> ran = std::async(std::launch::async, [&] { return large.run(); });
  EXPECT_EQ(ran.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  occupation.release();
  EXPECT_TRUE(ran.get());
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
