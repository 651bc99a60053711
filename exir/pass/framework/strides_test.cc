// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/strides.h"

#include <cstdint>
#include <limits>

#include "exir/pass/framework/builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

// Expected values are those of torch's Tensor.stride().
TEST(Strides, OfDenseTensorsFollowTheDimOrder) {
  TensorType type = TensorType::contiguous(ScalarType::kFloat, {2, 3, 4, 5});
  EXPECT_THAT(dense_strides(type), ElementsAre(60, 20, 5, 1));
  type.dim_order = {0, 2, 3, 1};
  EXPECT_THAT(dense_strides(type), ElementsAre(60, 1, 15, 3));
}

TEST(Strides, ContiguousTensorsTakeAnyView) {
  EXPECT_THAT(strides_of_view({2, 3, 4}, {12, 4, 1}, {6, 2, 2}), Optional(ElementsAre(4, 2, 1)));
  EXPECT_THAT(strides_of_view({2, 3, 4}, {12, 4, 1}, {24}), Optional(ElementsAre(1)));
  EXPECT_THAT(strides_of_view({}, {}, {1, 1}), Optional(ElementsAre(1, 1)));
}

TEST(Strides, EmptyTensorsOfAnyOtherSizesTakeAnyView) {
  constexpr int64_t kLarge = 2147483647;
  EXPECT_THAT(strides_of_view({kLarge, kLarge, kLarge, 0}, {0, 0, 0, 1}, {0, 2}),
              Optional(ElementsAre(2, 1)));
  EXPECT_EQ(product(Sizes{kLarge, kLarge, kLarge, 0}), 0);
  EXPECT_EQ(product(Sizes{kLarge, kLarge, kLarge}), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(product(Sizes{2, 3}), 6);
}

TEST(Strides, APermutedTensorSplitsButDoesNotMerge) {
  // x[2,3,4].permute(0,2,1): sizes 2,4,3
  EXPECT_THAT(strides_of_view({2, 4, 3}, {12, 1, 4}, {2, 2, 2, 3}),
              Optional(ElementsAre(12, 2, 1, 4)));
  EXPECT_EQ(strides_of_view({2, 4, 3}, {12, 1, 4}, {2, 12}), std::nullopt);
  EXPECT_EQ(strides_of_view({2, 4, 3}, {12, 1, 4}, {8, 3}), std::nullopt);
}

TEST(Strides, DimsOfSizeOneDoNotMatter) {
  EXPECT_THAT(strides_of_view({1, 4, 1}, {99, 1, 77}, {4}), Optional(ElementsAre(1)));
  EXPECT_THAT(strides_of_view({4}, {2}, {1, 4, 1}), Optional(ElementsAre(8, 2, 2)));
}

TEST(Strides, ASliceWithAStepCannotMergeRows) {
  // x[4,6][:, ::2]: sizes 4,3 strides 6,2
  EXPECT_THAT(strides_of_view({4, 3}, {6, 2}, {12}), Optional(ElementsAre(2)));
  EXPECT_EQ(strides_of_view({4, 2}, {6, 2}, {8}), std::nullopt);
}

TEST(Strides, EmptyTensorsTakeAnyView) {
  EXPECT_TRUE(strides_of_view({2, 0}, {1, 7}, {0, 5}).has_value());
}

}  // namespace
}  // namespace petrel::exir
