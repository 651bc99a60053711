// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/evalue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace petrel::runtime {
namespace {

TEST(EValueTest, GivesBackWhatItWasMadeOf) {
  EXPECT_EQ(EValue(int64_t{7}).toInt(), 7);
  EXPECT_EQ(EValue(0.5).toDouble(), 0.5);
  EXPECT_TRUE(EValue(true).toBool());
  EXPECT_EQ(EValue(std::string_view("abc")).toString(), "abc");
  int32_t sizes[] = {1};
  TensorImpl impl(ScalarType::Float, 1, sizes);
  EXPECT_EQ(EValue(Tensor(&impl)).toTensor().impl(), &impl);
  const bool flags[] = {true, false};
  EXPECT_EQ(EValue(Span<const bool>(flags)).toBoolList().size(), 2u);
}

TEST(EValueTest, RefusesOtherTypes) {
  const EValue number(int64_t{7});
  EXPECT_EQ(number.tryToDouble().error(), Error::InvalidType);
  EXPECT_EQ(number.tryToTensor().error(), Error::InvalidType);
  EXPECT_EQ(number.tryToIntList().error(), Error::InvalidType);
  EXPECT_EQ(EValue().tryToScalar().error(), Error::InvalidType);
  EXPECT_EQ(EValue().tryToString().error(), Error::InvalidType);
}

TEST(EValueTest, IsReadByTheTypeThatIsAskedFor) {
  const EValue number(int64_t{7});
  EXPECT_EQ(*number.tryTo<int64_t>(), 7);
  EXPECT_EQ(number.tryTo<double>().error(), Error::InvalidType);
  EXPECT_EQ(number.tryTo<Tensor>().error(), Error::InvalidType);
  EXPECT_EQ(*EValue(std::string_view("abc")).tryTo<std::string_view>(), "abc");
  EXPECT_EQ(number.toOptional<int64_t>(), 7);
  EXPECT_EQ(EValue().toOptional<int64_t>(), std::nullopt);
  EXPECT_EQ(*EValue().tryToOptional<bool>(), std::nullopt);
  EXPECT_EQ(number.tryToOptional<bool>().error(), Error::InvalidType);
}

TEST(EValueTest, ReadsBoxedListsWhenAsked) {
  EValue a(int64_t{1});
  EValue b(int64_t{2});
  EValue* items[] = {&a, &b, &a};
  int64_t room[3];
  BoxedIntList box = {items, room};
  const EValue list(&box);
  EXPECT_EQ(list.toIntList()[2], 1);
  a = EValue(int64_t{5});
  EXPECT_EQ(list.toIntList()[2], 5);
  b = EValue(2.5);
  EXPECT_EQ(list.tryToIntList().error(), Error::InvalidType);
}

TEST(EValueTest, ReadsOptionalTensors) {
  int32_t sizes[] = {1};
  TensorImpl impl(ScalarType::Float, 1, sizes);
  EValue tensor{Tensor(&impl)};
  EValue none;
  EValue* items[] = {&tensor, &none, nullptr};
  alignas(std::optional<Tensor>) unsigned char room[3 * sizeof(std::optional<Tensor>)];
  BoxedOptionalTensorList box = {items, reinterpret_cast<std::optional<Tensor>*>(room)};
  const EValue list(&box);
  const auto values = list.toListOptionalTensor();
  EXPECT_TRUE(values[0].has_value());
  EXPECT_FALSE(values[1].has_value());
  EXPECT_FALSE(values[2].has_value());
  none = EValue(true);
  EXPECT_EQ(list.tryToListOptionalTensor().error(), Error::InvalidType);
}

TEST(ScalarTest, RoundsTowardsZeroAndSaturates) {
  EXPECT_EQ(Scalar(-2.9).to_int(), -2);
  EXPECT_EQ(Scalar(1e300).to_int(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Scalar(-1e300).to_int(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Scalar(9223372036854775808.0).to_int(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Scalar(std::nan("")).to_int(), 0);
  EXPECT_EQ(Scalar(true).to_int(), 1);
}

}  // namespace
}  // namespace petrel::runtime
