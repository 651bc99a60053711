// SPDX-License-Identifier: Apache-2.0

#include "exir/json/json_text.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  const absl::Status status = parse_json(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text.substr(0, 40);
  return std::string(status.message());
}

TEST(JsonTextTest, ErrorsNameTheLine) {
  EXPECT_EQ(refusal("{\n\n x"), "line 3: is not JSON at byte 5");
  EXPECT_EQ(refusal(""), "line 1: is not JSON at byte 1");
  EXPECT_EQ(refusal("[1]\n 2"), "line 2: is not JSON at byte 6");
}

TEST(JsonTextTest, RefusesDamagedText) {
  for (const std::string& text :
       {std::string("[1, 2"), std::string("{\"a\": \"b"), std::string("\"\xff\xfe\""),
        std::string("\"\xc3"), std::string("[1\0]", 4), std::string("\0", 1),
        std::string("\"a\0b\"", 5), std::string("[01]"), std::string("NaN"),
        std::string("\"\\ud800\"")}) {
    EXPECT_THAT(refusal(text), HasSubstr("is not JSON")) << text;
  }
  EXPECT_THAT(refusal("[1e999]"), HasSubstr("is not JSON"));
}

TEST(JsonTextTest, BoundsTheKeysOfAnObject) {
  const auto wide = [](int keys) {
    std::string text = "[{\"a\": 1}, {";
    for (int i = 0; i < keys; ++i) text += (i == 0 ? "\"" : ", \"") + std::to_string(i) + "\": {}";
    return text + "}]";
  };
  EXPECT_TRUE(parse_json(wide(1000)).ok());
  EXPECT_EQ(refusal(wide(1001)), "an object has more than 1000 keys");
}

TEST(JsonTextTest, BoundsNesting) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(100)).ok());
  constexpr char kDeep[] = "more than 100 arrays and objects are inside each other";
  EXPECT_EQ(refusal(nested(101)), kDeep);
  EXPECT_EQ(refusal(nested(1'000'000)), kDeep);
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(refusal(objects + "0" + std::string(200'000, '}')), kDeep);
  EXPECT_EQ(refusal(std::string(1'000'000, '[')), kDeep);
}

TEST(JsonTextTest, UniqueKeysAreBoundedByNestingAlone) {
  std::string text = "{\"k\": {}";
  for (int i = 0; i < 5000; ++i) text += ", \"" + std::to_string(i) + "\": {\"k\": 1}";
  EXPECT_TRUE(parse_unique_json(text + "}").ok());
  EXPECT_EQ(parse_unique_json(text + ", \"k\": 1}").status().message(),
            "\"k\" stands in one object twice");
  const std::string key(100, 'a');
  EXPECT_EQ(parse_unique_json("{\"" + key + "\": 1, \"" + key + "\": 1}").status().message(),
            "\"" + key.substr(0, 80) + "\" stands in one object twice");
  EXPECT_EQ(parse_unique_json(std::string(101, '[') + std::string(101, ']')).status().message(),
            "more than 100 arrays and objects are inside each other");
  EXPECT_EQ(parse_unique_json("{\n,").status().message(), "line 2: is not JSON at byte 3");
  EXPECT_THAT(std::string(parse_unique_json("[1e999]").status().message()),
              HasSubstr("is not JSON"));
}

TEST(JsonTextTest, BoundsTheMemoryOfShortValues) {
  const auto list = [](const std::string& value, size_t times) {
    std::string text = "[";
    for (size_t i = 0; i < times; ++i) text += value + ",";
    return text + "0]";
  };
  // Two to eight bytes each, which the library keeps in up to thirty times as many.
  for (const char* value : {"1", "[]", "{}", "\"\"", "{\"\":1}", "[[[]]]"}) {
    EXPECT_TRUE(parse_json(list(value, 100'000)).ok()) << value;
    EXPECT_THAT(refusal(list(value, 2'000'000)), HasSubstr("bytes of memory, the most for a text"));
    EXPECT_FALSE(parse_unique_json(list(value, 2'000'000)).ok()) << value;
  }
  // A long text is a copy of itself.
  EXPECT_TRUE(parse_json("[\"" + std::string(20'000'000, 'a') + "\"]").ok());
  // As planning problems have them.
  EXPECT_TRUE(
      parse_json(list(R"({"id": "b10000", "lower": 0, "upper": 3, "size": 10})", 80'000)).ok());
}

// The library's callback looks through a list again after each object in it: for minutes.
TEST(JsonTextTest, ReadsLongListsOfObjectsOnce) {
  std::string text = "[";
  for (int i = 0; i < 200'000; ++i) text += R"({"a":         1,"b":         2},)";
  EXPECT_EQ(parse_json(text + "0]")->size(), 200'001u);
}

TEST(JsonTextTest, KeepsIntegersAndReadsBackWhatItWrites) {
  const std::string text =
      "{\"b\":[9223372036854775807,-9223372036854775808,18446744073709551615],\"a\":\"\\\"\\n\"}";
  absl::StatusOr<nlohmann::ordered_json> json = parse_json(text);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(json_text(*json), text);
  // Larger ones are not integers any more.
  EXPECT_FALSE((*parse_json("18446744073709551616")).is_number_integer());
}

TEST(JsonTextTest, WritesAnyBytesAsText) {
  nlohmann::ordered_json json;
  json["id"] = "a\xff";
  absl::StatusOr<nlohmann::ordered_json> again = parse_json(json_text(json));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)["id"], "a\xef\xbf\xbd");
}

}  // namespace
}  // namespace petrel::exir
