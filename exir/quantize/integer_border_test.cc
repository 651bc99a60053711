// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/integer_border.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exir/pass/framework/pass_case.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

constexpr char kQuantised[] = R"(method @m(%x: f32[2,4]) {
    %q = quantized_decomposed.quantize_per_tensor.default(%x, 0.5, 3, -128, 127, i8)
    %d = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 3, -128, 127, i8, none)
    %y = aten.relu.default(%d)
    %p = quantized_decomposed.quantize_per_tensor.default(%y, 0.25, -7, -128, 127, i8)
    %z = quantized_decomposed.dequantize_per_tensor.default(%p, 0.25, -7, -128, 127, i8, none)
    return %z })";

Program program_of(const std::string& text) {
  Program program;
  program.methods["m"].graph = graph_of(text);
  return program;
}

// Of a method @m(%x: f32[2,4]) whose border cannot be integers, why.
std::string reason(const std::string& steps) {
  Program program = program_of("method @m(%x: f32[2,4]) {" + steps + "}");
  return std::string(open_border(program, {"int8"}).status().message());
}

TEST(IntegerBorder, TakesTheFloatsAway) {
  Program program = program_of(kQuantised);
  const auto borders = open_border(program, {"int8"});
  ASSERT_TRUE(borders.ok()) << borders.status();
  EXPECT_EQ(plain_text(*program.methods["m"].graph), expected(R"(method @m(%x: i8[2,4]) {
    %d = quantized_decomposed.dequantize_per_tensor.default(%x, 0.5, 3, -128, 127, i8, none)
    %y = aten.relu.default(%d)
    %p = quantized_decomposed.quantize_per_tensor.default(%y, 0.25, -7, -128, 127, i8)
    return %p })"));
  const Border& border = borders->at("m");
  ASSERT_EQ(border.size(), 2u);
  EXPECT_EQ(border[0].describe(), "input 0 'x'");
  EXPECT_EQ(border[0].levels.zero_point, 3);
  EXPECT_EQ(border[1].describe(), "output 0 'z'");
  EXPECT_EQ(border[1].levels.scale, 0.25);
  EXPECT_EQ(border[1].reason, "");
}

TEST(IntegerBorder, TakesWhatIsNamed) {
  for (const char* word : {"output_0=int8", "z=int8", "[yz]=int8"}) {
    Program program = program_of(kQuantised);
    const auto borders = open_border(program, {word});
    ASSERT_TRUE(borders.ok()) << borders.status();
    const Graph& graph = *program.methods["m"].graph;
    EXPECT_EQ(graph.inputs()[0]->tensor().dtype, ScalarType::kFloat);
    EXPECT_EQ(graph.outputs()[0]->tensor().dtype, ScalarType::kChar);
    EXPECT_EQ(borders->at("m")[0].reason, "io-dtype does not name it");
  }
}

TEST(IntegerBorder, TakesBytesAndManyReadersThatQuantiseAlike) {
  Program program = program_of(R"(method @m(%x: f32[2,4]) {
    %q = quantized_decomposed.quantize_per_tensor.default(%x, 0.5, 3, 0, 255, u8)
    %r = quantized_decomposed.quantize_per_tensor.default(%x, 0.5, 3, 0, 255, u8)
    %d = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 3, 0, 255, u8, none)
    %e = quantized_decomposed.dequantize_per_tensor.default(%r, 0.5, 3, 0, 255, u8, none)
    %y = aten.add.Tensor(%d, %e, 1)
    return %y, %e })");
  const auto borders = open_border(program, {"int8"});
  ASSERT_TRUE(borders.ok()) << borders.status();
  EXPECT_EQ(program.methods["m"].graph->inputs()[0]->tensor().dtype, ScalarType::kByte);
  EXPECT_THAT(borders->at("m")[1].reason, HasSubstr("'y' (aten.add.Tensor) makes it in floats"));
  EXPECT_EQ(borders->at("m")[2].reason, "");
  EXPECT_EQ(borders->at("m")[0].levels.most, 255);
}

// As archives of sizes that vary do.
TEST(IntegerBorder, LeavesWhatAsksForASize) {
  Program program = program_of(R"(method @m<s0: 1..8>(%x: f32[s0,2,2]) {
    %n = aten.sym_size.int(%x, 0)
    %q = quantized_decomposed.quantize_per_tensor.default(%x, 0.5, 3, -128, 127, i8)
    %v = aten.view.default(%q, [%n, 4])
    %z = quantized_decomposed.dequantize_per_tensor.default(%v, 0.5, 3, -128, 127, i8, none)
    return %z })");
  const auto borders = open_border(program, {"int8"});
  ASSERT_TRUE(borders.ok()) << borders.status();
  EXPECT_EQ(plain_text(*program.methods["m"].graph),
            expected(R"(method @m<s0: 1..8>(%x: i8[s0,2,2]) {
    %n = aten.sym_size.int(%x, 0)
    %v = aten.view.default(%x, [%n, 4])
    return %v })"));
  Program sizes = program_of(R"(method @m<s0: 1..8>(%x: f32[s0,2]) {
    %n = aten.sym_size.int(%x, 0)
    %y = aten.full.default([%n], 1.0)
    return %y })");
  EXPECT_THAT(open_border(sizes, {"int8"}).status().message(),
              HasSubstr("input 0 'x': nothing reads more of it than its size"));
}

TEST(IntegerBorder, SaysWhatStaysFloatAndWhy) {
  const std::string quantise =
      "%q = quantized_decomposed.quantize_per_tensor.default(%x, 0.5, 3, -128, 127, i8)\n";
  EXPECT_THAT(reason(quantise + "%y = aten.relu.default(%x)\n return %y, %q"),
              HasSubstr("input 0 'x': 'y' (aten.relu.default) reads it in floats"));
  EXPECT_THAT(
      reason(quantise + R"(
        %r = quantized_decomposed.quantize_per_tensor.default(%x, 0.25, 0, -128, 127, i8)
        return %q, %r)"),
      HasSubstr("it is quantised in two ways: with scale 0.5 and zero point 3, and with scale "
                "0.25 and zero point 0"));
  EXPECT_THAT(reason(quantise + "return %q, %x"), HasSubstr("input 0 'x': it is an output, too"));
  EXPECT_THAT(reason("%y = aten.full.default([2], 1.0)\n return %y"),
              HasSubstr("input 0 'x': nothing reads it"));
  EXPECT_THAT(reason("%y = aten.relu.default(%x)\n return %y"),
              HasSubstr("output 0 'y': 'y' (aten.relu.default) makes it in floats"));
  EXPECT_THAT(reason(R"(
    %q = quantized_decomposed.quantize_per_tensor.default(%x, 0.5, 0, -32768, 32767, i16)
    %d = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 0, -32768, 32767, i16, none)
    return %d)"),
              HasSubstr("its integers are i16, not of 8 bits"));
}

TEST(IntegerBorder, RefusesNamesThatCannotBeInt8) {
  const auto said = [](const char* word) {
    Program program = program_of(R"(method @m(%x: f32[2,4]) {
      %y = aten.relu.default(%x)
      return %y })");
    return std::string(open_border(program, {word}).status().message());
  };
  EXPECT_EQ(said("x=int8"),
            "io-dtype x=int8: method 'm': input 0 'x' must stay f32: 'y' (aten.relu.default) "
            "reads it in floats");
  EXPECT_EQ(said("w*=int8"), "io-dtype w*=int8: no input or output of f32 is called so");
  EXPECT_EQ(said("int16"), "io-dtype is 'int16', must be int8 or GLOB=int8");
  EXPECT_EQ(said("=int8"), "io-dtype is '=int8', must be int8 or GLOB=int8");
  Program program = program_of("method @m(%x: i64[2]) { return %x }");
  EXPECT_EQ(open_border(program, {"int8"}).status().message(),
            "io-dtype int8: no input or output can be integers, as none is f32");
}

TEST(IntegerBorder, TellsByMethodsOfNumbers) {
  Program program = program_of(kQuantised);
  const auto borders = open_border(program, {"int8"});
  ASSERT_TRUE(borders.ok()) << borders.status();
  ASSERT_TRUE(add_border_methods(program, *borders).ok());
  ASSERT_EQ(program.methods.size(), 11u);
  const auto number = [&](const char* name) {
    return program.methods.at(name).signature.fixed_outputs.at(0);
  };
  EXPECT_EQ(number("m_input0_scale").as_float(), 0.5);
  EXPECT_EQ(number("m_input0_zp").as_int(), 3);
  EXPECT_EQ(number("m_output0_quant_min").as_int(), -128);
  EXPECT_EQ(number("m_output0_quant_max").as_int(), 127);
  EXPECT_EQ(number("m_output0_dtype").as_int(), 1);
  EXPECT_THAT(add_border_methods(program, *borders).message(),
              HasSubstr("a method of the model is called 'm_input0_dtype'"));
}

}  // namespace
}  // namespace petrel::exir
