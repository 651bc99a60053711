// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/array_literal.h"

#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::extension {
namespace {

using runtime::ScalarType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename T>
std::vector<T> elements(const NpyArray& array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

std::string error_of(const std::string& text, ScalarType type = ScalarType::Float) {
  return std::string(parse_array_literal(text, type).status().message());
}

TEST(ArrayLiteral, HasDimsAndADtype) {
  const auto array = parse_array_literal("[[1,2,3],[4,5,-6]]:int64", ScalarType::Float);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->type, ScalarType::Long);
  EXPECT_THAT(array->shape, ElementsAre(2, 3));
  EXPECT_THAT(elements<int64_t>(*array), ElementsAre(1, 2, 3, 4, 5, -6));
}

TEST(ArrayLiteral, TakesTheDtypeOfTheInput) {
  const auto array = parse_array_literal("[0.5, 2]", ScalarType::Half);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_THAT(elements<uint16_t>(*array), ElementsAre(0x3800, 0x4000));
  const auto scalar = parse_array_literal("2.5", ScalarType::Double);
  ASSERT_TRUE(scalar.ok()) << scalar.status();
  EXPECT_THAT(scalar->shape, IsEmpty());
  EXPECT_THAT(elements<double>(*scalar), ElementsAre(2.5));
  const auto flags = parse_array_literal("[true,false]", ScalarType::Bool);
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_THAT(flags->data, ElementsAre(1, 0));
  const auto empty = parse_array_literal("[]", ScalarType::Float);
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_THAT(empty->shape, ElementsAre(0));
}

TEST(ArrayLiteral, HoldsTheLargestIntegers) {
  const auto most = parse_array_literal("[18446744073709551615]:uint64", ScalarType::Float);
  ASSERT_TRUE(most.ok()) << most.status();
  EXPECT_THAT(elements<uint64_t>(*most), ElementsAre(UINT64_MAX));
  const auto least = parse_array_literal("[-9223372036854775808]:int64", ScalarType::Float);
  ASSERT_TRUE(least.ok()) << least.status();
  EXPECT_THAT(elements<int64_t>(*least), ElementsAre(INT64_MIN));
}

TEST(ArrayLiteral, RefusesWhatTheTypeCannotHold) {
  EXPECT_THAT(error_of("[1,300]:uint8"), HasSubstr("300, which is not a uint8"));
  EXPECT_THAT(error_of("[-1]:uint8"), HasSubstr("-1, which is not a uint8"));
  EXPECT_THAT(error_of("[-129]:int8"), HasSubstr("-129, which is not a int8"));
  EXPECT_THAT(error_of("[1.5]:int64"), HasSubstr("1.5, which is not a int64"));
  EXPECT_THAT(error_of("[1]:bool"), HasSubstr("1, which is not a bool"));
  EXPECT_THAT(error_of("[\"a\"]"), HasSubstr("\"a\", which is not a float32"));
  EXPECT_THAT(error_of("[null]"), HasSubstr("null, which is not"));
  EXPECT_THAT(error_of("[1]:complex64"), HasSubstr("dtype 'complex64'"));
  EXPECT_THAT(error_of("[1,2"), HasSubstr("is not an array"));
}

TEST(ArrayLiteral, RefusesRaggedRows) {
  EXPECT_THAT(error_of("[[1,2],[3]]"), HasSubstr("rows of different lengths"));
  EXPECT_THAT(error_of("[[1],2]"), HasSubstr("beside rows"));
  EXPECT_THAT(error_of("[1,[2]]"), HasSubstr("rows of different lengths"));
  EXPECT_THAT(error_of("[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]"), HasSubstr("more than 16 dims"));
}

TEST(ArrayLiteral, PrintsNoDeepObjects) {
  const std::string deep = "{\"a\":" + std::string(500000, '[') + std::string(500000, ']') + "}";
  EXPECT_THAT(error_of("[" + deep + "]:float32"),
              HasSubstr("has an object, which is not a float32"));
  EXPECT_THAT(error_of("[[1]," + deep + "]:float32"), HasSubstr("has an object beside rows"));
}

TEST(ArrayLiteral, IsNotAFile) {
  for (const char* text : {"[1,2]", "[1]:int64", "3", "-1.5", "true", "2:int64"}) {
    EXPECT_TRUE(is_array_literal(text)) << text;
  }
  for (const char* text : {"x.npy", "1.npy", "", "nan", "\"a\"", "folder/[1].npy"}) {
    EXPECT_FALSE(is_array_literal(text)) << text;
  }
}

}  // namespace
}  // namespace petrel::extension
