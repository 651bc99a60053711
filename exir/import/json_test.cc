// SPDX-License-Identifier: Apache-2.0
#include "exir/import/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "absl/strings/match.h"

namespace petrel::exir {
namespace {

absl::StatusOr<JsonDocument> parse(const std::string& text) {
  return JsonDocument::parse(
      absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()),
      "models/m.json");
}

TEST(Json, KeepsIntegersExact) {
  const auto document = parse("[9223372036854775807, -9223372036854775808, 9007199254740993]");
  ASSERT_TRUE(document.ok()) << document.status();
  const auto items = document->root().items();
  ASSERT_TRUE(items.ok());
  EXPECT_EQ(*(*items)[0].integer(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(*(*items)[1].integer(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(*(*items)[2].integer(), 9007199254740993);
}

TEST(Json, RefusesWhatIsNoInteger) {
  const auto document = parse("[1.0, 9223372036854775808, \"1\", true, null, [], {}]");
  ASSERT_TRUE(document.ok()) << document.status();
  const auto items = document->root().items();
  ASSERT_TRUE(items.ok());
  for (const Json& item : *items) {
    EXPECT_FALSE(item.integer().ok()) << item.place();
  }
}

TEST(Json, ReadsNonFiniteNumbers) {
  const auto document = parse("[\"Infinity\", \"-Infinity\", \"NaN\", 1e-05]");
  const auto items = document->root().items();
  ASSERT_TRUE(items.ok());
  EXPECT_EQ(*(*items)[0].number(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(*(*items)[1].number(), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(*(*items)[2].number()));
  EXPECT_EQ(*(*items)[3].number(), 1e-05);
}

TEST(Json, NamesThePlaceOfAnError) {
  const auto document = parse("{\"a\": {\"b\": [1, {\"c\": 2}]}}");
  const Json a = *document->root().at("a");
  const Json b = *a.at("b");
  const Json c = *(*b.items())[1].at("c");
  EXPECT_EQ(c.text().status().message(), "models/m.json: a.b[1].c: is not text");
  EXPECT_EQ(a.at("x").status().message(), "models/m.json: a: has no 'x'");
  EXPECT_EQ(document->root().at("x").status().message(), "models/m.json: has no 'x'");
}

// A key may be as long as the file, and there may be as many items behind it.
TEST(Json, PlacesTakeNoMemoryForEachItem) {
  const std::string key(size_t{1} << 20, 'k');
  std::string list = "1";
  for (int i = 0; i < 100'000; ++i) list += ",1";
  const auto document = parse("{\"" + key + "\": [" + list + "]}");
  ASSERT_TRUE(document.ok()) << document.status();
  const auto members = document->root().members();
  ASSERT_TRUE(members.ok());
  const auto items = (*members)[0].second.items();
  ASSERT_TRUE(items.ok());
  EXPECT_EQ((*items)[7].text().status().message(),
            "models/m.json: " + key.substr(0, 100) + "...[7]: is not text");
}

TEST(Json, PlacesAreAsLongAsAMessageShows) {
  std::string text = "1";
  for (int i = 0; i < 300; ++i) text = "{\"graph\":" + text + "}";
  const auto document = parse(text);
  ASSERT_TRUE(document.ok()) << document.status();
  Json json = document->root();
  for (int i = 0; i < 300; ++i) json = *json.at("graph");
  EXPECT_LT(json.place().size(), 500u);
  EXPECT_TRUE(absl::EndsWith(json.place(), ".graph...")) << json.place();
}

TEST(Json, TakesUnionsApart) {
  const auto document = parse("[{\"as_int\": 3}, {}, {\"a\":1,\"b\":2}, 1]");
  const auto items = document->root().items();
  const auto tagged = (*items)[0].tagged();
  ASSERT_TRUE(tagged.ok());
  EXPECT_EQ(tagged->first, "as_int");
  EXPECT_EQ(*tagged->second.integer(), 3);
  for (size_t i = 1; i < items->size(); ++i) {
    EXPECT_FALSE((*items)[i].tagged().ok()) << i;
  }
}

TEST(Json, TakesNullForAbsent) {
  const auto document = parse("{\"a\": null, \"b\": 1}");
  EXPECT_FALSE(document->root().find("a"));
  EXPECT_TRUE(document->root().find("b"));
  EXPECT_FALSE(document->root().find("c"));
}

TEST(Json, RefusesBrokenText) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "[";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{\"a\": }"), std::string("\xff\xfe"),
        std::string("[1] 2"), std::string("\"\xc3\""), deep, std::string("1e999999")}) {
    EXPECT_FALSE(parse(text).ok()) << text.substr(0, 20);
  }
}

// RapidJSON 1.1 gives -3e-308, NaN and -2e307 for the first three, or asserts.
TEST(Json, RefusesNumbersThatNoDoubleHolds) {
  for (const std::string& number : {std::string("99e307"), std::string("-1.9e308"),
                                    std::string("1e-325"), "0." + std::string(330, '0') + "1"}) {
    EXPECT_TRUE(absl::StrContains(parse("[" + number + "]").status().message(),
                                  "models/m.json: is not JSON of an archive: a number is too large "
                                  "or too small for a double, before byte "))
        << number << ": " << parse("[" + number + "]").status();
  }
  EXPECT_EQ(parse("1e309").status().message(),
            "models/m.json: is not JSON: Number too big to be stored in double. Byte 1.");
  for (const double number : {1.7976931348623157e308, -2.2250738585072014e-308, 4.9e-324}) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.17g", number);
    const auto document = parse(text);
    ASSERT_TRUE(document.ok()) << document.status();
    EXPECT_EQ(*document->root().number(), number);
  }
}

// RapidJSON 1.1 looks for the first bit of 0 then, which has none.
TEST(Json, RefusesZerosWhosePointMovesFar) {
  for (const char* zero :
       {"0e38", "-0.0E-99", "0.0000000000000000000000000000000", "[1, 0e23]", "{\"a\": 0.00e99}"}) {
    const std::string text = zero;
    const auto parsed = JsonDocument::parse(
        {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "archive");
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_TRUE(absl::StrContains(parsed.status().message(),
                                  "a zero has an exponent or more than 16 characters"))
        << parsed.status();
  }
  for (const char* number : {"0", "-0", "0.0", "-0.0", "\"0e38\"", "1e-30", "10e2", "0.01e-9"}) {
    const std::string text = number;
    EXPECT_TRUE(
        JsonDocument::parse({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "archive")
            .ok())
        << text;
  }
}

TEST(Json, CountsNestingOutsideOfTexts) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse(nested(JsonDocument::kMaxDepth)).ok());
  EXPECT_TRUE(absl::StrContains(parse(nested(JsonDocument::kMaxDepth + 1)).status().message(),
                                "nests deeper than 1024"));
  EXPECT_TRUE(parse("[\"\\\"" + std::string(2000, '[') + "\"]").ok());
}

TEST(Json, BoundsTheMemoryOfShortValues) {
  const auto list = [](const std::string& value, size_t times) {
    std::string text = "[";
    for (size_t i = 0; i < times; ++i) text += value + ",";
    return text + "0]";
  };
  for (const char* value : {"1", "[]", "{}", "\"\"", "{\"\":1}", "[[[]]]"}) {
    EXPECT_TRUE(parse(list(value, 50'000)).ok()) << value;
    EXPECT_TRUE(absl::StrContains(parse(list(value, 1'000'000)).status().message(),
                                  "bytes of memory, the most for a text of"))
        << value;
  }
  // As torch writes the arguments of nodes.
  EXPECT_TRUE(
      parse(list(R"({"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1})", 400'000))
          .ok());
}

}  // namespace
}  // namespace petrel::exir
