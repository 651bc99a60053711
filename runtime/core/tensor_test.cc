// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/tensor.h"

#include <gtest/gtest.h>

#include "runtime/core/log.h"

namespace petrel::runtime {
namespace {

Span<const int32_t> span(std::initializer_list<int32_t> sizes) {
  return {sizes.begin(), sizes.size()};
}

TEST(TensorTest, ComputesStridesFromDimOrder) {
  const int32_t sizes[] = {1, 3, 4, 5};
  int64_t strides[4];
  compute_strides(sizes, {}, strides);
  const int64_t contiguous[] = {60, 20, 5, 1};
  EXPECT_TRUE(equal(Span<const int64_t>(strides), Span<const int64_t>(contiguous)));
  const uint8_t channels_last[] = {0, 2, 3, 1};
  compute_strides(sizes, channels_last, strides);
  const int64_t expected[] = {60, 1, 15, 3};
  EXPECT_TRUE(equal(Span<const int64_t>(strides), Span<const int64_t>(expected)));
}

TEST(TensorTest, KnowsPermutations) {
  const uint8_t good[] = {2, 0, 1};
  const uint8_t twice[] = {0, 0, 1};
  const uint8_t beyond[] = {0, 1, 3};
  EXPECT_TRUE(is_permutation(good));
  EXPECT_TRUE(is_permutation({}));
  EXPECT_FALSE(is_permutation(twice));
  EXPECT_FALSE(is_permutation(beyond));
}

TEST(TensorTest, RefusesImpossibleSizes) {
  int32_t sizes[] = {INT32_MAX, INT32_MAX, INT32_MAX};
  const TensorImpl huge(ScalarType::Float, 3, sizes);
  EXPECT_FALSE(huge.is_consistent());
  EXPECT_EQ(huge.nbytes(), 0u);
  int32_t negative[] = {-1};
  EXPECT_FALSE(TensorImpl(ScalarType::Float, 1, negative).is_consistent());
  EXPECT_FALSE(TensorImpl(static_cast<ScalarType>(9), 1, sizes).is_consistent());
  EXPECT_FALSE(TensorImpl(ScalarType::Float, -1, sizes).is_consistent());
  EXPECT_FALSE(TensorImpl(ScalarType::Float, 17, sizes).is_consistent());
}

class ResizeTest : public ::testing::Test {
 protected:
  ResizeTest() { previous_ = set_log_hook({}); }
  ~ResizeTest() override { set_log_hook(previous_); }

  int32_t sizes_[2] = {4, 3};
  int64_t strides_[2];
  float data_[12] = {};
  LogHook previous_;
};

TEST_F(ResizeTest, StaysWithinTheFirstSizes) {
  TensorImpl impl(ScalarType::Float, 2, sizes_, data_, nullptr, strides_,
                  TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_EQ(impl.resize(span({2, 3})), Error::Ok);
  EXPECT_EQ(impl.nbytes(), 24u);
  EXPECT_EQ(impl.resize(span({1, 12})), Error::Ok);
  EXPECT_EQ(strides_[0], 12);
  EXPECT_EQ(impl.resize(span({13, 1})), Error::NotSupported);
  EXPECT_EQ(impl.resize(span({12})), Error::NotSupported);
  EXPECT_EQ(impl.resize(span({-1, 3})), Error::NotSupported);
  EXPECT_EQ(impl.resize(span({INT32_MAX, INT32_MAX})), Error::NotSupported);
  EXPECT_EQ(impl.size(1), 12);  // A refused size changes nothing.
}

TEST_F(ResizeTest, KeepsFixedSizes) {
  TensorImpl impl(ScalarType::Float, 2, sizes_, data_);
  EXPECT_EQ(impl.resize(span({4, 3})), Error::Ok);
  EXPECT_EQ(impl.resize(span({3, 4})), Error::NotSupported);
}

TEST_F(ResizeTest, StaysWithinItsData) {
  TensorImpl impl(ScalarType::Float, 2, sizes_, nullptr, nullptr, strides_,
                  TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_EQ(impl.set_data(data_, 47), Error::InvalidArgument);
  // As a view of 24 bytes: room for the first sizes is not there any more.
  EXPECT_EQ(impl.rebind(span({2, 3}), data_, 24), Error::Ok);
  EXPECT_EQ(impl.resize(span({3, 3})), Error::NotSupported);
  EXPECT_EQ(impl.resize(span({3, 2})), Error::Ok);
  EXPECT_EQ(impl.rebind(span({4, 3}), data_, 48), Error::Ok);
  EXPECT_EQ(impl.rebind(span({5, 3}), data_, 60), Error::NotSupported);
}

TEST_F(ResizeTest, NeedsDataForElements) {
  TensorImpl impl(ScalarType::Float, 2, sizes_, nullptr, nullptr, strides_,
                  TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_EQ(impl.resize(span({4, 3})), Error::Ok);
  EXPECT_EQ(impl.resize(span({3, 3})), Error::NotSupported);
  EXPECT_EQ(impl.resize(span({0, 3})), Error::Ok);
  EXPECT_EQ(impl.resize(span({1, 3})), Error::NotSupported);
  // Nor after it lost them.
  ASSERT_EQ(impl.set_data(data_, 48), Error::Ok);
  EXPECT_EQ(impl.resize(span({1, 3})), Error::Ok);
  ASSERT_EQ(impl.set_data(nullptr, 48), Error::Ok);
  EXPECT_EQ(impl.resize(span({2, 3})), Error::NotSupported);
  EXPECT_EQ(impl.capacity(), 0u);
}

// The loops around a size of 0 run all the same.
TEST_F(ResizeTest, StaysWithinTheFirstSizesWithoutElements) {
  TensorImpl impl(ScalarType::Float, 2, sizes_, data_, nullptr, strides_,
                  TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_EQ(impl.resize(span({0, 12})), Error::Ok);
  EXPECT_EQ(impl.resize(span({0, 13})), Error::NotSupported);
  EXPECT_EQ(impl.resize(span({INT32_MAX, 0})), Error::NotSupported);
}

TEST_F(ResizeTest, WithoutElementsItStays) {
  sizes_[0] = 0;
  TensorImpl impl(ScalarType::Float, 2, sizes_, data_, nullptr, strides_,
                  TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_EQ(impl.rebind(span({1, 1}), data_, sizeof(data_)), Error::NotSupported);
  EXPECT_EQ(impl.rebind(span({3, 0}), data_, sizeof(data_)), Error::Ok);
}

TEST_F(ResizeTest, RefusesMisalignedData) {
  TensorImpl impl(ScalarType::Float, 2, sizes_);
  auto* const bytes = reinterpret_cast<uint8_t*>(data_);
  EXPECT_EQ(impl.set_data(bytes + 2, 48), Error::InvalidArgument);
  EXPECT_EQ(impl.set_data(bytes, 48), Error::Ok);
}

// The sizes of one tensor are a list that another one is resized through.
TEST_F(ResizeTest, CopiesNoMoreThanBothHave) {
  sizes_[0] = 1;
  TensorImpl small(ScalarType::Float, 2, sizes_, data_);
  sizes_[0] = 4;
  TensorImpl large(ScalarType::Float, 2, sizes_, data_, nullptr, nullptr,
                   TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_TRUE(large.is_consistent());
  EXPECT_FALSE(small.is_consistent());
  int32_t sizes[2] = {4, 3};
  float other[12] = {1};
  TensorImpl to(ScalarType::Float, 2, sizes, other);
  EXPECT_EQ(copy_bytes(Tensor(&small), Tensor(&to)), Error::InvalidArgument);
  EXPECT_EQ(other[0], 1);
  EXPECT_EQ(copy_bytes(Tensor(&large), Tensor(&to)), Error::Ok);
  EXPECT_EQ(other[0], data_[0]);
  ASSERT_EQ(large.resize(span({1, 3})), Error::Ok);
  EXPECT_TRUE(small.is_consistent());
  EXPECT_EQ(check_same_bytes(Tensor(&large), Tensor(&small)), Error::Ok);
  ASSERT_EQ(to.set_data(nullptr, 0), Error::Ok);
  EXPECT_EQ(copy_bytes(Tensor(&to), Tensor(&to)), Error::InvalidArgument);
}

}  // namespace
}  // namespace petrel::runtime
