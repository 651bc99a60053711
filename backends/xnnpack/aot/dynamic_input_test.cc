// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/dynamic_input.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_replace.h"
#include "backends/xnnpack/aot/test_partition.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr char kChosen[] =
    "%s, %z = quantized_decomposed.choose_qparams.tensor(%x, -128, 127, 0.0001, i8)\n";
constexpr char kToken[] =
    "%s, %z = quantized_decomposed.choose_qparams_per_token_asymmetric.default(%x, i8)\n";
constexpr char kQuantized[] =
    "%q = quantized_decomposed.quantize_per_tensor.tensor(%x, %s, %z, -128, 127, i8)\n";
constexpr char kDequantized[] =
    "%d = quantized_decomposed.dequantize_per_tensor.tensor(%q, %s, %z, -128, 127, i8)\n";
constexpr char kTokenRoundTrip[] =
    "%q = quantized_decomposed.quantize_per_token.default(%x, %s, %z, -128, 127, i8)\n"
    "%d = quantized_decomposed.dequantize_per_token.default(%q, %s, %z, -128, 127, i8, f32)\n";
constexpr char kWeight[] =
    "%i = constant @i : i8[4,8]\n"
    "%w = quantized_decomposed.dequantize_per_tensor.default(%i, 0.5, 0, -127, 127, i8)\n";

int64_t one_to_seven(int64_t i) { return i % 7 + 1; }

std::string chain() { return std::string(kChosen) + kQuantized + kDequantized; }

std::string method(const std::string& inputs, const std::string& body) {
  return "method @forward(" + inputs + ") {\n" + body + "}\n";
}

struct Case {
  const char* name;
  std::string text;
  const char* reason;  // that of the node that chooses; "" where all is taken
};

class Chains : public ::testing::TestWithParam<Case> {};

TEST_P(Chains, AreTakenWholeOrNotAtAll) {
  const auto partition = parse_partition(GetParam().text, one_to_seven);
  ASSERT_NE(partition, nullptr);
  size_t nodes = 0;
  for (const auto& node : partition->nodes()) {
    if (!is_dynamic_conversion(*node)) continue;
    ++nodes;
    const exir::Support support = xnnpack_backend()->partitioner().supports(*node);
    EXPECT_EQ(support.supported, GetParam().reason[0] == '\0') << support.reason;
    if (nodes > 1) continue;
    EXPECT_THAT(support.reason, HasSubstr(GetParam().reason));
  }
  EXPECT_GE(nodes, 3u);
  if (GetParam().reason[0] != '\0') return;
  EXPECT_THAT(to_text(lower_partition(*partition).graph), HasSubstr("Convert"));
}

constexpr char kMatrix[] = "%x: f32[3,8]";
constexpr char kImage[] = "%x: f32[1,4,5,5]";

std::string filter(const std::string& sizes, int groups) {
  return "%i = constant @i : i8[" + sizes + "]\n" +
         "%w = quantized_decomposed.dequantize_per_tensor.default(%i, 0.5, 0, -127, 127, i8)\n" +
         "%y = aten.convolution.default(%d, %w, none, [1,1], [0,0], [1,1], false, [0,0], " +
         std::to_string(groups) + ")\nreturn %y\n";
}

// A linear layer whose weight has groups of `size`.
std::string groups(int size, const std::string& levels, const std::string& input = "%d") {
  const std::string all = "[8," + std::to_string(96 / size) + "]";
  return "%i = constant @i : i8[8,96]\n%g = constant @scales : f32" + all +
         "\n%w = torchao.dequantize_affine.default(%i, [1," + std::to_string(size) +
         "], %g, none, i8, " + levels + ", f32)\n%y = aten.linear.default(" + input +
         ", %w)\nreturn %y\n";
}

const Case kCases[] = {
    {"Groups", method("%x: f32[3,96]", chain() + groups(32, "-8, 7")), ""},
    {"SmallGroups", method("%x: f32[3,96]", chain() + groups(48, "-8, 7")),
     "groups have 48 elements, must have a multiple of 32"},
    {"GroupsOfBytes", method("%x: f32[3,96]", chain() + groups(32, "-128, 127")),
     "XNNPACK has groups of 4 bits only"},
    {"Linear", method(kMatrix, chain() + kWeight + "%y = aten.linear.default(%d, %w)\nreturn %y\n"),
     ""},
    {"Tokens",
     method(kMatrix, std::string(kToken) + kTokenRoundTrip + kWeight +
                         "%y = aten.linear.default(%d, %w)\nreturn %y\n"),
     ""},
    {"Convolution", method(kImage, chain() + filter("6,4,3,3", 1)), ""},
    {"Depthwise", method(kImage, chain() + filter("4,1,3,3", 4)), "it is depthwise"},
    {"ImagesOfTokens", method(kImage, std::string(kToken) + kTokenRoundTrip + filter("6,4,3,3", 1)),
     "more than one scale for an image"},
    {"Lines",
     method("%x: f32[1,8,9]",
            chain() + "%i = constant @i : i8[4,8,3]\n"
                      "%w = quantized_decomposed.dequantize_per_tensor.default(%i, 0.5, 0, -127, "
                      "127, i8)\n"
                      "%y = aten.convolution.default(%d, %w, none, [1], [0], [1], false, [0], 1)\n"
                      "return %y\n"),
     "not a convolution of images"},
    {"FloatWeight",
     method(kMatrix, chain() + "%w = constant @w : f32[4,8]\n"
                               "%y = aten.linear.default(%d, %w)\nreturn %y\n"),
     "of 'y': its weight is not stored as i8"},
    {"ReadByAnother",
     method(kMatrix, chain() + kWeight + "%y = aten.linear.default(%d, %w)\n" +
                         "%r = aten.relu.default(%d)\nreturn %y, %r\n"),
     "of 'r': it takes what was quantised at run time"},
    {"LeavesTheMethod",
     method(kMatrix, chain() + kWeight + "%y = aten.linear.default(%d, %w)\nreturn %y, %d\n"),
     "'s' is used for more than to quantise and dequantise 'x'"},
    {"ScaleLeavesTheMethod",
     method(kMatrix, chain() + kWeight + "%y = aten.linear.default(%d, %w)\nreturn %y, %s\n"),
     "'s' leaves the method"},
    {"QuantizesAnother",
     method(
         "%x: f32[3,8], %v: f32[3,8]",
         std::string(kChosen) +
             "%q = quantized_decomposed.quantize_per_tensor.tensor(%v, %s, %z, -128, 127, i8)\n" +
             kDequantized + kWeight + "%y = aten.linear.default(%d, %w)\nreturn %y\n"),
     "'s' is used for more than"},
    // As the quantiser for Inductor chooses.
    {"LevelsOfBytes",
     method(kMatrix, absl::StrReplaceAll(chain(), {{"-128, 127", "0, 255"}, {", i8)", ", u8)"}}) +
                         kWeight + "%y = aten.linear.default(%d, %w)\nreturn %y\n"),
     ""},
    {"FewerLevels",
     method(kMatrix,
            std::string(kChosen) +
                "%q = quantized_decomposed.quantize_per_tensor.tensor(%x, %s, %z, -8, 7, i8)\n" +
                kDequantized + kWeight + "%y = aten.linear.default(%d, %w)\nreturn %y\n"),
     "'s' is used for more than"},
};

INSTANTIATE_TEST_SUITE_P(All, Chains, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(Groups, AreMultipliedByWhatWasQuantisedOnly) {
  const auto partition =
      parse_partition(method("%x: f32[3,96]", groups(32, "-8, 7", "%x")), one_to_seven);
  ASSERT_NE(partition, nullptr);
  const exir::Support support =
      xnnpack_backend()->partitioner().supports(*partition->nodes().back());
  EXPECT_FALSE(support.supported);
  EXPECT_THAT(support.reason, HasSubstr("its input is not quantised"));
}

TEST(Groups, AreMultipliedByAnyNumberOfRows) {
  const std::string text =
      "method @forward<n: 1..8>(%x: f32[n,96]) {\n" + chain() + groups(32, "-8, 7") + "}\n";
  const auto partition = parse_partition(text, one_to_seven);
  ASSERT_NE(partition, nullptr);
  for (const auto& node : partition->nodes()) {
    const exir::Support support = xnnpack_backend()->partitioner().supports(*node);
    EXPECT_TRUE(support.supported) << node->describe() << ": " << support.reason;
  }
  EXPECT_THAT(to_text(lower_partition(*partition).graph), HasSubstr("Convert"));
}

TEST(Groups, HaveZeroPointsWhoseShareIsComputedOfMeans) {
  std::string text = groups(32, "-8, 7");
  text.replace(text.find("%w = "), 5, "%n = constant @zeros : i8[8,3]\n%w = ");
  text.replace(text.find("none, i8"), 4, "%n");
  const auto partition = parse_partition(method("%x: f32[3,96]", chain() + text), one_to_seven);
  ASSERT_NE(partition, nullptr);
  for (const auto& node : partition->nodes()) {
    const exir::Support support = xnnpack_backend()->partitioner().supports(*node);
    EXPECT_TRUE(support.supported) << node->describe() << ": " << support.reason;
  }
  const LoweredPartition lowered = lower_partition(*partition);
  const std::string made = to_text(lowered.graph);
  EXPECT_THAT(made, ContainsRegex("AvgPooling2d #[0-9]+ -> #[0-9]+\\[3,1,3,1\\]"));
  EXPECT_THAT(made, ContainsRegex("FullyConnected #[0-9]+ constant\\[8,96\\]"));
  const auto share =
      std::find_if(lowered.graph.nodes.begin(), lowered.graph.nodes.end(), [&](const Node& node) {
        return node.kind == NodeKind::FullyConnected &&
               lowered.graph.values[node.inputs[1]].dims == (Dims{8, 3});
      });
  ASSERT_NE(share, lowered.graph.nodes.end()) << made;
  const std::vector<float> factors = lowered.constant(share->inputs[1]);
  ASSERT_EQ(factors.size(), 24u);
  for (size_t i = 0; i < factors.size(); ++i) {
    const auto number = static_cast<float>(one_to_seven(static_cast<int64_t>(i)));
    EXPECT_EQ(factors[i], -32 * number * number);
  }
}

TEST(Groups, AreOfLevelsThatFit) {
  const auto partition = parse_partition(method("%x: f32[3,96]", chain() + groups(96, "-8, 7")),
                                         [](int64_t i) { return i % 17 + 1; });
  ASSERT_NE(partition, nullptr);
  exir::Subprogram subprogram;
  subprogram.method = "forward";
  subprogram.graph = partition.get();
  exir::RoutedBlobStore store;
  const auto results = xnnpack_backend()->preprocess_all({{"forward", {subprogram}}}, store);
  EXPECT_THAT(results.status().message(),
              HasSubstr("weight 'i' has the level 8, must be in [-8, 7]"));
}

TEST(Chains, AreOneConversionForAllProducts) {
  const std::string text = lowered_text(
      method(kMatrix, chain() + kWeight +
                          "%y = aten.linear.default(%d, %w)\n%r = aten.relu.default(%y)\n"
                          "%v = aten.linear.default(%d, %w)\nreturn %r, %v\n"));
  EXPECT_EQ(text.find("Convert #0 -> "), 0u) << text;
  EXPECT_EQ(text.find("Convert", 1), std::string::npos) << text;
  EXPECT_THAT(text, HasSubstr("[0,inf]"));
}

}  // namespace
}  // namespace petrel::backends::xnnpack::aot
