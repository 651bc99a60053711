// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/signed_levels.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/pass_case.h"

namespace petrel::exir {
namespace {

bool signed_in(Graph& graph) {
  SignedConstants made;
  return sign_levels(graph, made);
}

std::string steps(const std::string& quantize, const std::string& dequantize,
                  const std::string& result = "%y") {
  return "method @m(%x: f32[2,4]) {\n"
         "%q = quantized_decomposed.quantize_per_tensor.default(%x, 0.5, " +
         quantize +
         ")\n"
         "%d = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, " +
         dequantize + ", none)\n%y = aten.relu.default(%d)\nreturn " + result + " }";
}

TEST(SignedLevels, StandForTheSameNumbers) {
  const auto graph = graph_of(steps("130, 0, 255, u8", "130, 0, 255, u8"));
  EXPECT_TRUE(signed_in(*graph));
  EXPECT_EQ(plain_text(*graph), expected(steps("2, -128, 127, i8", "2, -128, 127, i8")));
  EXPECT_FALSE(signed_in(*graph));
}

TEST(SignedLevels, KeepARangeThatIsShort) {
  const auto graph = graph_of(steps("0, 0, 127, u8", "0, 0, 127, u8"));
  EXPECT_TRUE(signed_in(*graph));
  EXPECT_EQ(plain_text(*graph), expected(steps("-128, -128, -1, i8", "-128, -128, -1, i8")));
}

TEST(SignedLevels, LeaveWhatOthersSee) {
  EXPECT_FALSE(signed_in(*graph_of(steps("130, 0, 255, u8", "130, 0, 255, u8", "%q"))));
  EXPECT_FALSE(signed_in(*graph_of(steps("3, -128, 127, i8", "3, -128, 127, i8"))));
  EXPECT_FALSE(
      signed_in(*graph_of("method @m(%q: u8[4]) {\n"
                          "%d = quantized_decomposed.dequantize_per_tensor.default(%q, "
                          "0.5, 3, 0, 255, u8, none)\nreturn %d }")));
}

TEST(SignedLevels, OfWeightsStandForTheSameNumbers) {
  const auto graph = graph_of(R"(method @m(%x: f32[2,4]) {
    %q = constant @q : u8[3,4]
    %r = constant @r : u8[3,4]
    %s = constant @s : f32[3]
    %z = constant @z : i64[3]
    %d = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 130, 0, 255, u8, none)
    %e = quantized_decomposed.dequantize_per_channel.default(%r, %s, %z, 0, 0, 255, u8, none)
    %f = aten.add.Tensor(%d, %e, 1)
    %y = aten.linear.default(%x, %f, none)
    return %y })");
  const auto other = graph->clone();  // another method with the same weights
  SignedConstants made;
  EXPECT_TRUE(sign_levels(*graph, made));
  const std::string text = plain_text(*graph);
  EXPECT_NE(text.find("(%q@signed, 0.5, 2, -128, 127, i8"), std::string::npos) << text;
  EXPECT_NE(text.find("(%r@signed, %s, %z@signed, 0, -128, 127, i8"), std::string::npos) << text;
  ASSERT_EQ(made.size(), 3u);
  for (const auto& [old, lowered] : made) {
    const auto numbers = decode_constant(*old);
    const auto found = decode_constant(*lowered);
    ASSERT_TRUE(numbers.ok() && found.ok());
    ASSERT_EQ(numbers->size(), found->size());
    for (size_t i = 0; i < found->size(); ++i) EXPECT_EQ((*found)[i], (*numbers)[i] - 128);
  }
  EXPECT_FALSE(sign_levels(*graph, made));
  EXPECT_TRUE(sign_levels(*other, made));
  EXPECT_EQ(made.size(), 3u);
  EXPECT_EQ(plain_text(*other), text);
}

TEST(SignedLevels, OfSymmetricWeightsHaveNoZeroPoints) {
  const auto graph = graph_of(R"(method @m(%x: f32[1]) {
    %r = constant @r : u8[2,4]
    %s = constant @s : f32[2]
    %z = constant @z : i64[2]
    %e = quantized_decomposed.dequantize_per_channel.default(%r, %s, %z, 0, 0, 255, u8, none)
    return %e })");
  auto middle = std::make_shared<Constant>();
  middle->fqn = "middle";
  middle->type = TensorType::contiguous(ScalarType::kLong, {2});
  middle->data = *encode_constant({128, 128}, ScalarType::kLong);
  graph->replace_all_uses(graph->nodes().front()->input(arg::zero_points),
                          graph->add_constant(middle));
  EXPECT_TRUE(signed_in(*graph));
  EXPECT_TRUE(graph->nodes().front()->argument(arg::zero_points).is_none());
}

TEST(SignedLevels, LeaveWeightsWithoutKnownZeroPoints) {
  EXPECT_FALSE(signed_in(*graph_of(
      "method @m(%z: i64[3]) {\n%r = constant @r : u8[3,4]\n%s = constant @s : f32[3]\n"
      "%e = quantized_decomposed.dequantize_per_channel.default(%r, %s, %z, 0, 0, 255, u8, none)\n"
      "return %e }")));
}

}  // namespace
}  // namespace petrel::exir
