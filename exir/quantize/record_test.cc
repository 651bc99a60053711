// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kGood[] = R"({"format": 1, "methods": {"forward": {
  "values": {"x": {"min": -1, "max": 3.1, "scale": 0.0161, "zero_point": -66}},
  "keep_float": ["linear_3"]}}})";

// The text with one thing in it replaced.
std::string error_of(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  const auto record = parse_record(text.replace(at, from.size(), to));
  EXPECT_FALSE(record.ok()) << text;
  return std::string(record.status().message());
}

TEST(Record, HoldsRoundings) {
  QuantizationRecord record;
  auto weight = std::make_shared<RoundedWeight>();
  weight->levels = {-8, 7, 0, 1};
  weight->scales = {0.5f, 3.0f};
  record.roundings["w@int4.32"] = {"00ff", weight};
  const auto read = parse_record(format_record(record));
  ASSERT_TRUE(read.ok()) << read.status();
  const ChosenRounding& rounding = read->roundings.at("w@int4.32");
  EXPECT_EQ(rounding.digest, "00ff");
  EXPECT_EQ(rounding.weight->levels, weight->levels);
  EXPECT_EQ(rounding.weight->scales, weight->scales);
}

TEST(Record, IsReadBackBitForBit) {
  QuantizationRecord record;
  record.methods["forward"].values["x"] = {{-1.0f / 3, 1e30f}, {0.1f, -7}};
  record.methods["forward"].keep_float = {{"a", ""}, {"b", "is loud"}};
  record.methods["forward"].on_backends = {{"c", BackendForm::kRows}, {"d", BackendForm::kFloat}};
  record.methods["empty"];
  const auto read = parse_record(format_record(record));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->methods.size(), 2u);
  const QuantizedValue& value = read->methods.at("forward").values.at("x");
  EXPECT_EQ(value.range.min, -1.0f / 3);
  EXPECT_EQ(value.range.max, 1e30f);
  EXPECT_THAT(read->methods.at("forward").on_backends,
              ElementsAre(Pair("c", BackendForm::kRows), Pair("d", BackendForm::kFloat)));
  EXPECT_EQ(value.numbers.scale, 0.1f);
  EXPECT_EQ(value.numbers.zero_point, -7);
  EXPECT_THAT(read->methods.at("forward").keep_float,
              ElementsAre(Pair("a", ""), Pair("b", "is loud")));
}

TEST(Record, IsReadAsItsPageSays) {
  const auto record = parse_record(kGood);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(record->methods.at("forward").values.at("x").numbers.zero_point, -66);
}

TEST(Record, KeepsTheScheme) {
  QuantizationRecord record;
  record.methods["a"].scheme = QuantScheme::kDynamicInt4;
  record.methods["a"].group = 64;
  record.methods["b"].scheme = QuantScheme::kDynamicInt8;
  const auto read = parse_record(format_record(record));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->methods.at("a").scheme, QuantScheme::kDynamicInt4);
  EXPECT_EQ(read->methods.at("a").group, 64);
  EXPECT_EQ(read->methods.at("b").scheme, QuantScheme::kDynamicInt8);
  const std::string values = "\"values\"";
  EXPECT_EQ(error_of(values, "\"scheme\": \"int8\", \"values\""),
            "method 'forward': scheme is 'int8', must be one of static-int8, dynamic-int8, "
            "dynamic-int4, half");
  EXPECT_EQ(error_of(values, "\"scheme\": 8, \"values\""),
            "method 'forward': \"scheme\" is not a name");
  EXPECT_EQ(error_of(values, "\"group\": 48, \"values\""),
            "method 'forward': group is 48, must be a multiple of 32 up to 4096");
}

TEST(Record, KeepsWhatWasChosenForChannels) {
  QuantizationRecord record;
  MethodQuantization& method = record.methods["forward"];
  method.equalised["conv"] = {0.5f, 1, 12};
  method.shifts["conv"] = {"ab", {0.1f, -3e-7f, 0}};
  const auto read = parse_record(format_record(record));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->methods.at("forward").equalised, method.equalised);
  EXPECT_EQ(read->methods.at("forward").shifts.at("conv").digest, "ab");
  EXPECT_EQ(read->methods.at("forward").shifts.at("conv").of_channels,
            method.shifts.at("conv").of_channels);
  const std::string values = "\"values\"";
  const auto error_with = [&](const std::string& more) {
    return error_of(values, more + ", \"values\"");
  };
  EXPECT_EQ(error_with("\"equalised\": 3"), "method 'forward': \"equalised\" is not an object");
  EXPECT_EQ(error_with("\"equalised\": {\"a\": 3}"),
            "method 'forward': \"equalised\" has no text for 'a'");
  EXPECT_THAT(error_with("\"equalised\": {\"a\": \"AAA=\"}"),
              HasSubstr("factors of 'a': scale 0 is 0, must be a positive, normal number"));
  // Numbers of bfloat16: 3.4e38, 2^17, 2^-17.
  for (const char* text : {"f38=", "AEg=", "ADc="}) {
    EXPECT_THAT(error_with("\"equalised\": {\"a\": \"" + std::string(text) + "\"}"),
                HasSubstr(", must be 1.52588e-05 to 65536"));
  }
  EXPECT_EQ(error_with("\"shifts\": []"), "method 'forward': \"shifts\" is not an object");
  const auto shifts = [&](const std::string& text) {
    return error_with("\"shifts\": {\"a\": {\"sha256\": \"0\", \"of_channels\": \"" + text +
                      "\"}}");
  };
  EXPECT_THAT(shifts("AAAA"), HasSubstr("\"of_channels\" has 3 bytes, must have 4 for each"));
  EXPECT_THAT(shifts("?"), HasSubstr("\"of_channels\" is not base64"));
  EXPECT_THAT(shifts("AADAfw=="), HasSubstr("\"of_channels\" 0 is nan, must be a finite number"));
  EXPECT_THAT(error_with("\"shifts\": {\"a\": {\"sha256\": \"0\"}}"),
              HasSubstr("shifts of 'a': has no \"of_channels\""));
}

TEST(Record, NamesWhatIsWrong) {
  EXPECT_EQ(parse_record("{").status().message(), "line 1: is not JSON at byte 2");
  EXPECT_EQ(parse_record("[]").status().message(), "is not an object");
  EXPECT_THAT(error_of("\"keep_float\": [\"linear_3\"]", "\"on_backends\": [\"linear_3\"]"),
              HasSubstr("\"on_backends\" is not an object"));
  EXPECT_THAT(error_of("\"keep_float\": [\"linear_3\"]", "\"on_backends\": {\"a\": \"columns\"}"),
              HasSubstr("\"on_backends\" of 'a' must be \"rows\" or \"float\""));
  EXPECT_THAT(error_of("1,", "2,"), HasSubstr("\"format\" is not 1"));
  EXPECT_EQ(parse_record("{\"format\": 1}").status().message(), "has no \"methods\"");
  EXPECT_EQ(error_of("\"methods\"", "\"method\""),
            "\"method\" is not one of format, methods, roundings");
  EXPECT_EQ(error_of("keep_float", "keepfloat"),
            "method 'forward': \"keepfloat\" is not one of scheme, group, values, keep_float, "
            "on_backends, equalised, shifts");
  const std::string place = "method 'forward': value 'x': ";
  EXPECT_EQ(error_of("0.0161", "0"), place + "scale is 0, must be a positive, normal number");
  EXPECT_EQ(error_of("0.0161", "1e60"), place + "\"scale\" is not a finite number");
  EXPECT_EQ(error_of("0.0161", "\"a\""), place + "\"scale\" is not a number");
  EXPECT_EQ(error_of("0.0161", "1e-40"),
            place + "scale is 9.99995e-41, must be a positive, normal number");
  EXPECT_EQ(error_of("0.0161", "2e36"), place + "scale is 2e+36, must be at most 1.33444e+36");
  EXPECT_EQ(error_of("\"zero_point\": -66", "\"zero_point\": -66, \"scale\": 0.5"),
            "\"scale\" stands in one object twice");
  EXPECT_EQ(error_of("\"format\": 1", "\"methods\": {}, \"format\": 1"),
            "\"methods\" stands in one object twice");
  EXPECT_EQ(error_of("-66", "128"), place + "\"zero_point\" is 128, must be -128 to 127");
  EXPECT_EQ(error_of("-66", "0.5"), place + "\"zero_point\" is not a whole number");
  EXPECT_EQ(error_of("-66", "18446744073709551615"),
            place + "\"zero_point\" is 18446744073709551615, which is too large");
  EXPECT_EQ(error_of("3.1", "-3"), place + "\"min\" is -1, above \"max\", which is -3");
  EXPECT_EQ(error_of("[\"linear_3\"]", "[3]"),
            "method 'forward': \"keep_float\" holds something that is not a name");
  EXPECT_EQ(error_of("[\"linear_3\"]", "3"), "method 'forward': \"keep_float\" is not a list");
  EXPECT_EQ(error_of("[\"linear_3\"]", "{\"a\": 3}"),
            "method 'forward': \"keep_float\" has no text for 'a'");
  EXPECT_EQ(error_of("-66", "-129"), place + "\"zero_point\" is -129, must be -128 to 127");
}

TEST(Record, NamesWhatIsNoObjectOrNoText) {
  const auto message = [](const std::string& members) {
    return std::string(parse_record("{\"format\": 1, " + members + "}").status().message());
  };
  EXPECT_EQ(message("\"methods\": []"), "\"methods\" is not an object");
  EXPECT_EQ(message("\"methods\": {\"m\": 3}"), "method 'm': is not an object");
  EXPECT_EQ(message("\"methods\": {\"m\": {\"values\": []}}"),
            "method 'm': \"values\" is not an object");
  EXPECT_EQ(message("\"methods\": {}, \"roundings\": []"), "\"roundings\" is not an object");
  const auto rounding = [&](const std::string& digest, const std::string& scales) {
    return message("\"methods\": {}, \"roundings\": {\"w\": {\"sha256\": " + digest +
                   ", \"levels\": \"\", \"scales\": \"" + scales + "\"}}");
  };
  EXPECT_EQ(rounding("3", ""), "rounding 'w': \"sha256\" is not a text");
  EXPECT_EQ(rounding("\"0\"", "AAAA"),
            "rounding 'w': \"scales\" has 3 bytes, must have 2 for each");
  // The upper half of -1.
  EXPECT_EQ(rounding("\"0\"", "gL8="),
            "rounding 'w': scale 0 is -1, must be a positive, normal number");
}

}  // namespace
}  // namespace petrel::exir
