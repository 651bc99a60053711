// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/type.h"

#include <string>

#include "exir/ir/argument.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

std::string check(const TensorType& type) { return std::string(check_tensor_type(type).message()); }

TEST(TensorType, CountsElementsAndBytes) {
  const TensorType type = TensorType::contiguous(ScalarType::kHalf, {2, 3, 4});
  EXPECT_EQ(type.numel(), 24);
  EXPECT_EQ(type.nbytes(), 48);
  EXPECT_EQ(TensorType::contiguous(ScalarType::kLong, {}).nbytes(), 8);
  EXPECT_EQ(TensorType::contiguous(ScalarType::kLong, {3, 0}).numel(), 0);
  constexpr int64_t kHuge = 2147483647;
  const TensorType beyond = TensorType::contiguous(ScalarType::kByte, {kHuge, kHuge, kHuge});
  EXPECT_EQ(beyond.numel(), INT64_MAX);
  EXPECT_EQ(TensorType::contiguous(ScalarType::kLong, {kHuge, kHuge}).nbytes(), INT64_MAX);
}

TEST(TensorType, PrintsTheOrderOnlyWhenNotContiguous) {
  TensorType type = TensorType::contiguous(ScalarType::kFloat, {1, 3, 8, 8});
  EXPECT_EQ(to_string(type), "f32[1,3,8,8]");
  type.dim_order = {0, 2, 3, 1};
  EXPECT_EQ(to_string(type), "f32[1,3,8,8]{0,2,3,1}");
  EXPECT_EQ(to_string(Type::scalar(Type::Kind::kInt)), "int");
}

TEST(TensorType, RejectsWhatBreaksTheInvariant) {
  TensorType type = TensorType::contiguous(ScalarType::kFloat, {1, -4});
  EXPECT_EQ(check(type), "dim 1 is -4, must be in [0, 2^31)");
  type = TensorType::contiguous(ScalarType::kFloat, {int64_t{1} << 31});
  EXPECT_EQ(check(type), "dim 0 is 2147483648, must be in [0, 2^31)");
  type = TensorType::contiguous(ScalarType::kFloat, Sizes(17, 1));
  EXPECT_EQ(check(type), "rank is 17, must be at most 16");
  type = TensorType::contiguous(ScalarType::kFloat, Sizes(3, 2147483647));
  EXPECT_THAT(check(type), HasSubstr("more than 2^63 bytes"));
  type = TensorType::contiguous(ScalarType::kFloat, {2, 2});
  type.dim_order = {1, 1};
  EXPECT_EQ(check(type), "dim order is not a permutation of 2 dims");
  type.dim_order = {1, 0};
  EXPECT_EQ(check(type), "");
}

// An empty tensor may have dims whose product alone would overflow.
TEST(TensorType, AcceptsAnEmptyTensorOfHugeDims) {
  EXPECT_EQ(
      check(TensorType::contiguous(ScalarType::kFloat, {2147483647, 2147483647, 2147483647, 0})),
      "");
}

TEST(Argument, NanEqualsNanAndKindsDiffer) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Argument(nan), Argument(nan));
  EXPECT_EQ(Argument(Argument::Floats{nan}), Argument(Argument::Floats{nan}));
  EXPECT_NE(Argument(1.0), Argument(int64_t{1}));
  EXPECT_NE(Argument(true), Argument(int64_t{1}));
  EXPECT_NE(Argument(), Argument(int64_t{0}));
  EXPECT_DOUBLE_EQ(Argument(true).as_number(), 1.0);
}

TEST(ScalarType, NamesReadBack) {
  for (ScalarType type :
       {ScalarType::kByte, ScalarType::kChar, ScalarType::kShort, ScalarType::kInt,
        ScalarType::kLong, ScalarType::kHalf, ScalarType::kFloat, ScalarType::kDouble,
        ScalarType::kBool, ScalarType::kBFloat16, ScalarType::kUInt16, ScalarType::kUInt32,
        ScalarType::kUInt64}) {
    EXPECT_EQ(parse_scalar_type(scalar_type_name(type)), type);
  }
  EXPECT_EQ(parse_scalar_type("f33"), std::nullopt);
}

}  // namespace
}  // namespace petrel::exir
