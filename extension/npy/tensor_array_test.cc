// SPDX-License-Identifier: Apache-2.0
#include "extension/npy/tensor_array.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "extension/npy/npy.h"
#include "runtime/core/tensor.h"

namespace petrel::extension {
namespace {

using runtime::ScalarType;
using Order = std::vector<uint8_t>;

bool is_taken(std::vector<int64_t> shape, size_t bytes, const Order& order = {}) {
  const NpyArray array{ScalarType::Float, std::move(shape), std::vector<uint8_t>(bytes)};
  return ArrayTensor::make(array, {order.data(), order.size()}).ok();
}

TEST(TensorArray, LaysElementsInAnotherOrder) {
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  NpyArray array{ScalarType::Float, {2, 3}, std::vector<uint8_t>(24)};
  std::memcpy(array.data.data(), numbers.data(), 24);
  const Order columns_first = {1, 0};
  const auto tensor = ArrayTensor::make(array, {columns_first.data(), 2});
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  const runtime::Tensor laid = (*tensor)->value().toTensor();
  const auto* data = laid.const_data_ptr<float>();
  EXPECT_EQ(std::vector<float>(data, data + 6), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(to_npy(laid).data, array.data);
}

// As of a manifest whose "bytes" and "shape" do not belong together: memory was written outside.
TEST(TensorArray, TakesBytesOfTheShapeOnly) {
  EXPECT_TRUE(is_taken({4}, 16));
  EXPECT_FALSE(is_taken({1 << 28}, 16));
  EXPECT_FALSE(is_taken({4}, 15));
  EXPECT_FALSE(is_taken({4}, 20));
  EXPECT_TRUE(is_taken({}, 4));
  EXPECT_TRUE(is_taken({5, 0}, 0));
  EXPECT_FALSE(is_taken({int64_t{1} << 32, 0}, 0));
  EXPECT_FALSE(is_taken({int64_t{1} << 31, int64_t{1} << 31, int64_t{1} << 2}, 0));
  EXPECT_FALSE(is_taken({-4}, 16));
  EXPECT_FALSE(is_taken({4}, 16, {0, 1}));
  EXPECT_FALSE(is_taken({2, 2}, 16, {0}));
}

}  // namespace
}  // namespace petrel::extension
