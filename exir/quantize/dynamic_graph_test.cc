// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/dynamic_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exir/ir/verifier.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/quantize/quantize_graph.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

constexpr char kLayer[] = R"(method @m(%x: f32[2,64]) {
    %w = constant @w : f32[8,64]
    %b = constant @b : f32[8]
    %y = aten.linear.default(%x, %w, %b)
    return %y })";

constexpr char kRows[] = R"(
    %s, %z = quantized_decomposed.choose_qparams_per_token_asymmetric.default(%x, i8)
    %q = quantized_decomposed.quantize_per_token.default(%x, %s, %z, -128, 127, i8)
    %d = quantized_decomposed.dequantize_per_token.default(%q, %s, %z, -128, 127, i8, f32))";

MethodQuantization dynamic(QuantScheme scheme, int64_t group = kDefaultGroup) {
  MethodQuantization method;
  method.scheme = scheme;
  method.group = group;
  return method;
}

// The graph after it, or what is wrong.
std::string after(const char* text, const MethodQuantization& method,
                  std::vector<LeftFloat>* left = nullptr) {
  Program program;
  program.methods["m"].graph = graph_of(text);
  QuantizationRecord record;
  record.methods["m"] = method;
  const auto done = quantize_program(program, record);
  if (!done.ok()) return std::string(done.status().message());
  if (left != nullptr) *left = done->at("m");
  const absl::Status valid = verify_graph(*program.methods["m"].graph);
  return valid.ok() ? plain_text(*program.methods["m"].graph) : std::string(valid.message());
}

TEST(DynamicGraph, StoresRowsOf8Bits) {
  EXPECT_EQ(after(kLayer, dynamic(QuantScheme::kDynamicInt8)),
            expected(std::string(R"(method @m(%x: f32[2,64]) {
    %b = constant @b : f32[8]
    %w = constant @w@int8 : i8[8,64]
    %ws = constant @w@int8.scales : f32[8])") +
                     kRows + R"(
    %dw = quantized_decomposed.dequantize_per_channel.default(%w, %ws, none, 0, -127, 127, i8, none)
    %y = aten.linear.default(%d, %dw, %b)
    return %y })"));
}

TEST(DynamicGraph, StoresGroupsOf4Bits) {
  EXPECT_EQ(after(kLayer, dynamic(QuantScheme::kDynamicInt4)),
            expected(std::string(R"(method @m(%x: f32[2,64]) {
    %b = constant @b : f32[8]
    %w = constant @w@int4.32 : i8[8,64]
    %ws = constant @w@int4.32.scales : f32[8,2])") +
                     kRows + R"(
    %dw = torchao.dequantize_affine.default(%w, [1,32], %ws, none, i8, -8, 7, f32)
    %y = aten.linear.default(%d, %dw, %b)
    return %y })"));
}

TEST(DynamicGraph, MakesProductsLinear) {
  EXPECT_EQ(after(R"(method @m(%x: f32[2,64]) {
    %w = constant @w : f32[64,8]
    %b = constant @b : f32[8]
    %y = aten.addmm.default(%b, %x, %w)
    return %y })",
                  dynamic(QuantScheme::kDynamicInt4, 64)),
            expected(std::string(R"(method @m(%x: f32[2,64]) {
    %b = constant @b : f32[8]
    %w = constant @w@int4.64.t : i8[8,64]
    %ws = constant @w@int4.64.t.scales : f32[8,1])") +
                     kRows + R"(
    %dw = torchao.dequantize_affine.default(%w, [1,64], %ws, none, i8, -8, 7, f32)
    %y = aten.linear.default(%d, %dw, %b)
    return %y })"));
}

TEST(DynamicGraph, QuantisesOnceWhatSeveralLayersRead) {
  const std::string text = after(R"(method @m(%x: f32[2,64]) {
    %r = aten.relu.default(%x)
    %w = constant @w : f32[8,64]
    %v = constant @v : f32[64,8]
    %a = aten.linear.default(%r, %w, none)
    %b = aten.mm.default(%r, %v)
    return %a, %b })",
                                 dynamic(QuantScheme::kDynamicInt8));
  const size_t first = text.find("choose_qparams");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("choose_qparams", first + 1), std::string::npos) << text;
  EXPECT_THAT(text, HasSubstr("@v@int8.t : i8[8,64]"));
}

TEST(DynamicGraph, SaysWhyProductsStayFloat) {
  constexpr char kOdd[] = R"(method @m(%x: f32[2,48], %v: f32[48], %i: f32[1,3,8,8]) {
    %w = constant @w : f32[8,48]
    %f = constant @f : f32[4,3,3,3]
    %m = constant @m : f32[48,8]
    %c = constant @c : f32[2,8]
    %y = aten.linear.default(%x, %w, none)
    %u = aten.linear.default(%v, %w, none)
    %k = aten.convolution.default(%i, %f, none, [1,1], [0,0], [1,1], false, [0,0], 1)
    %a = aten.addmm.default(%c, %x, %m)
    return %y, %u, %k, %a })";
  std::vector<LeftFloat> left;
  after(kOdd, dynamic(QuantScheme::kDynamicInt8), &left);
  ASSERT_EQ(left.size(), 3u);
  EXPECT_EQ(left[0].reason, "its input is not a matrix of f32 that is computed");
  EXPECT_EQ(left[1].reason, "is a convolution: only rows get scales at run time");
  EXPECT_EQ(left[2].reason, "what it adds is not one number for each column");
  after(kOdd, dynamic(QuantScheme::kDynamicInt4), &left);
  ASSERT_EQ(left.size(), 4u);
  EXPECT_EQ(left[0].reason, "rows of its weight have 48 elements, no multiple of 32");
}

TEST(DynamicGraph, NamesRecordsOfOtherSchemes) {
  MethodQuantization method = dynamic(QuantScheme::kDynamicInt8);
  method.values["x"] = {};
  EXPECT_EQ(after(kLayer, method),
            "method 'm': the record has numbers for 'x', and its scheme dynamic-int8 needs none");
}

}  // namespace
}  // namespace petrel::exir
