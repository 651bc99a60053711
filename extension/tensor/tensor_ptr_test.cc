// SPDX-License-Identifier: Apache-2.0
#include "extension/tensor/tensor_ptr.h"

#include <cmath>
#include <limits>

#include "extension/tensor/filled.h"
#include "gtest/gtest.h"

namespace petrel::extension {
namespace {

using runtime::ScalarType;

TEST(TensorPtr, OwnsACopyOfItsData) {
  TensorPtr tensor;
  {
    const std::vector<float> data = {1, 2, 3, 4, 5, 6};
    tensor = make_tensor_ptr({2, 3}, data);
  }
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->scalar_type(), ScalarType::Float);
  EXPECT_EQ(tensor->dim(), 2);
  EXPECT_EQ(tensor->strides()[0], 3);
  EXPECT_EQ(tensor->const_data_ptr<float>()[5], 6.0f);
}

TEST(TensorPtr, PointsAtMemoryOfTheCaller) {
  int64_t data[4] = {7, 8, 9, 10};
  TensorPtr tensor = from_blob(data, {4}, ScalarType::Long);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->const_data_ptr(), data);
}

TEST(TensorPtr, HasZerosAndScalars) {
  TensorPtr tensor = zeros({});
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->numel(), 1u);
  EXPECT_EQ(*tensor->const_data_ptr<float>(), 0.0f);
  EXPECT_EQ(zeros({3, 0})->numel(), 0u);
}

TEST(TensorPtr, RefusesWhatDoesNotFit) {
  EXPECT_EQ(make_tensor_ptr({2, 2}, std::vector<float>(3)), nullptr);
  EXPECT_EQ(zeros({-1}), nullptr);
  EXPECT_EQ(zeros({INT32_MAX, INT32_MAX, INT32_MAX}), nullptr);
  EXPECT_EQ(zeros(std::vector<SizesType>(17, 1)), nullptr);
}

TEST(TensorPtr, IsMadeOfListsAndNumbers) {
  const TensorPtr matrix =
      make_tensor_ptr({2, 2}, {1.5, -2.5, 3.5, 300.25}, {}, {}, ScalarType::Char);
  ASSERT_NE(matrix, nullptr);
  EXPECT_EQ(matrix->scalar_type(), ScalarType::Char);
  EXPECT_EQ(matrix->const_data_ptr<int8_t>()[1], -2);
  EXPECT_EQ(matrix->const_data_ptr<int8_t>()[3], 0);  // no int8
  const TensorPtr row = make_tensor_ptr({1, 2, 3});
  EXPECT_EQ(row->dim(), 1);
  EXPECT_EQ(row->scalar_type(), ScalarType::Int);
  const TensorPtr number = make_tensor_ptr(int64_t{7});
  EXPECT_EQ(number->dim(), 0);
  EXPECT_EQ(*number->const_data_ptr<int64_t>(), 7);
  EXPECT_EQ(
      make_tensor_ptr(std::vector<uint8_t>{1, 0, 2}, ScalarType::Bool)->const_data_ptr<bool>()[2],
      true);
}

TEST(TensorPtr, LiesAsDimOrderOrStridesSay) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  const TensorPtr by_strides = from_blob(data, {2, 3}, {1, 2});
  ASSERT_NE(by_strides, nullptr);
  EXPECT_EQ(by_strides->dim_order()[0], 1);
  const TensorPtr by_order = make_tensor_ptr({2, 3}, data, {1, 0}, {});
  ASSERT_NE(by_order, nullptr);
  EXPECT_EQ(by_order->strides()[1], 2);
  EXPECT_EQ(from_blob(data, {2, 3}, {4, 1}), nullptr);  // not dense
  EXPECT_EQ(from_blob(data, {2, 3}, {1}), nullptr);
  EXPECT_EQ(make_tensor_ptr({2, 3}, data, {0, 0}, {}), nullptr);
  EXPECT_EQ(make_tensor_ptr({2, 3}, data, {1}, {}), nullptr);
  EXPECT_EQ(make_tensor_ptr({2, 3}, data, {0, 1}, {1, 2}), nullptr);
}

TEST(TensorPtr, CallsTheDeleterOnce) {
  float data[2] = {1, 2};
  int count = 0;
  const auto deleter = [&](void* freed) { count += freed == data ? 1 : 100; };
  {
    const TensorPtr tensor = from_blob(data, {2}, ScalarType::Float, deleter);
    const TensorPtr other = tensor;
    EXPECT_EQ(count, 0);
  }
  EXPECT_EQ(count, 1);
  EXPECT_EQ(from_blob(data, {-2}, ScalarType::Float, deleter), nullptr);
  EXPECT_EQ(count, 2);
}

TEST(TensorPtr, IsCopiedAndConverted) {
  const double infinity = std::numeric_limits<double>::infinity();
  const TensorPtr from = make_tensor_ptr({6}, {1.9, -1.9, std::nan(""), infinity, 9.3e18, -9.2e18});
  const TensorPtr to = clone_tensor_ptr(from, ScalarType::Long);
  ASSERT_NE(to, nullptr);
  const int64_t expected[] = {1, -1, 0, 0, 0, -9200000000000000000};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(to->const_data_ptr<int64_t>()[i], expected[i]) << i;
  const TensorPtr bools = clone_tensor_ptr(from, ScalarType::Bool);
  EXPECT_TRUE(bools->const_data_ptr<bool>()[2]);
  EXPECT_EQ(clone_tensor_ptr(from, ScalarType::Half), nullptr);
  const TensorPtr same = clone_tensor_ptr(*from);
  EXPECT_NE(same->const_data_ptr(), from->const_data_ptr());
  EXPECT_EQ(same->const_data_ptr<double>()[1], -1.9);
}

// The list of sizes is the app's, and another tensor over it has become larger.
TEST(TensorPtr, IsNotCopiedInSizesOfAnother) {
  std::vector<SizesType> sizes = {1};
  std::vector<float> one(1), many(1000);
  runtime::TensorImpl small(ScalarType::Float, 1, sizes.data(), one.data());
  sizes[0] = 1000;
  const runtime::TensorImpl large(ScalarType::Float, 1, sizes.data(), many.data());
  EXPECT_EQ(clone_tensor_ptr(runtime::Tensor(&small)), nullptr);
  EXPECT_EQ(clone_tensor_ptr(runtime::Tensor(&small), ScalarType::Int), nullptr);
  sizes[0] = 1;
  EXPECT_NE(clone_tensor_ptr(runtime::Tensor(&small)), nullptr);
}

TEST(TensorPtr, IsFilled) {
  EXPECT_EQ(full({2}, 0.5)->const_data_ptr<float>()[1], 0.5f);
  EXPECT_EQ(ones({2}, ScalarType::UInt16)->const_data_ptr<uint16_t>()[1], 1);
  EXPECT_EQ(full_like(make_tensor_ptr({1, 2, 3}), int64_t{-4})->const_data_ptr<int32_t>()[2], -4);
  EXPECT_EQ(scalar_tensor(2.0)->dim(), 0);
  EXPECT_EQ(ones({2}, ScalarType::BFloat16), nullptr);
  EXPECT_NE(zeros({2}, ScalarType::BFloat16), nullptr);
}

TEST(TensorPtr, ChangesSizesWithinItsMemory) {
  const TensorPtr tensor = ones({4, 2});
  EXPECT_EQ(resize_tensor_ptr(tensor, {3, 2}), runtime::Error::Ok);
  EXPECT_EQ(tensor->numel(), 6u);
  EXPECT_EQ(resize_tensor_ptr(tensor, {5, 2}), runtime::Error::NotSupported);
}

}  // namespace
}  // namespace petrel::extension
