// SPDX-License-Identifier: Apache-2.0
#include "extension/tensor/tensor_ptr.h"

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

}  // namespace
}  // namespace petrel::extension
