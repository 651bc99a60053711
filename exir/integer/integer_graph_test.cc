// SPDX-License-Identifier: Apache-2.0
#include "exir/integer/integer_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "exir/integer/fixed_point.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/pass_case.h"

namespace petrel::exir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string dequantise(const char* to, const char* from, const char* numbers = "0.5, 3") {
  return std::string("%") + to + " = quantized_decomposed.dequantize_per_tensor.default(%" + from +
         ", " + numbers + ", -128, 127, i8, none)\n";
}

std::string quantise(const char* to, const char* from, const char* numbers = "0.5, 3") {
  return std::string("%") + to + " = quantized_decomposed.quantize_per_tensor.default(%" + from +
         ", " + numbers + ", -128, 127, i8)\n";
}

std::string integers(const std::string& text) {
  const auto graph = graph_of(text);
  if (graph == nullptr) return "";
  const absl::Status first = integer_graph(*graph);
  EXPECT_TRUE(first.ok()) << first;
  const std::string once = plain_text(*graph);
  EXPECT_TRUE(integer_graph(*graph).ok());
  EXPECT_EQ(plain_text(*graph), once) << "not idempotent";
  return once;
}

std::string refusal(const std::string& text) {
  Program program;
  program.methods["m"].graph = graph_of(text);
  const absl::Status status = integer_program(program);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(IntegerGraph, RoundsOnceAndClampsLevels) {
  const std::string text = integers("method @m(%p: i8[4], %q: i8[4]) {" + dequantise("a", "p") +
                                    dequantise("b", "q", "0.25, -1") + R"(
    %s = aten.add.Tensor(%a, %b, 2)
    %c = aten.hardtanh.default(%s, 0.0, 6.0)
)" + quantise("z", "c", "1.0, 5") + "return %z }");
  // 0.5 and 2 * 0.25 in steps of 1: both 2^30 / 2^31. From 0 to 6 are the levels 5 to 11.
  EXPECT_EQ(text, expected(R"(method @m(%p: i8[4], %q: i8[4]) {
    %z = petrel.int8_add.default(%p, %q, 3, -1, 1073741824, 1073741824, 31, 5, 5, 11, i8)
    return %z })"));
}

TEST(IntegerGraph, MovesLevelsOverViewsAndPools) {
  EXPECT_EQ(integers("method @m(%q: i8[1,2,4,4]) {" + dequantise("a", "q") + R"(
    %p = aten.max_pool2d.default(%a, [2, 2])
    %v = aten.view.default(%p, [2, 4])
)" + quantise("z", "v") +
                     "return %z }"),
            expected(R"(method @m(%q: i8[1,2,4,4]) {
    %p = petrel.int8_max_pool.default(%q, [0, 2, 1, 2, 4, 1], [0, 2, 1, 2, 4, 1])
    %z = aten.view.default(%p, [2, 4])
    return %z })"));
}

// As the only dim of a number is one of one element.
TEST(IntegerGraph, AveragesANumber) {
  for (const char* call :
       {"aten.mean.dim(%a, [0], false)", "aten.sum.dim_IntList(%a, [-1], true)"}) {
    EXPECT_THAT(integers("method @m(%q: i8[]) {" + dequantise("a", "q") + "%m = " + call + "\n" +
                         quantise("z", "m", "0.25, -1") + "return %z }"),
                AllOf(HasSubstr("petrel.int8_average"), Not(HasSubstr("aten.mean"))))
        << call;
  }
}

// What data decides of a size stays what it was called.
TEST(IntegerGraph, MovesLevelsThatAMaskPicks) {
  const std::string head = "method @m<u0: 0..2>(%q: i8[2,4], %k: bool[2]) {";
  EXPECT_EQ(
      integers(head + dequantise("a", "q") + "%p = aten.index.Tensor(%a, [%k]) : f32[u0,4]\n" +
               quantise("z", "p") + "return %z }"),
      expected(head + "%p = aten.index.Tensor(%q, [%k]) : i8[u0,4]\nreturn %p }"));
}

TEST(IntegerGraph, MakesATableOfWhatOneTensorGives) {
  const std::string text = integers("method @m(%q: i8[3]) {" + dequantise("a", "q") + R"(
    %g = aten.sigmoid.default(%a)
    %y = aten.mul.Tensor(%a, %g)
)" + quantise("z", "y", "0.02, -100") +
                                    "return %z }");
  EXPECT_THAT(text, AllOf(HasSubstr("petrel.int8_table.default(%"), Not(HasSubstr("sigmoid"))));
}

// What a camera gives: no number between the bytes and the first scale is rounded.
TEST(IntegerGraph, MakesATableOfWhatBytesGive) {
  const auto table_of = [](const std::string& nodes) {
    return integers("method @m(%x: u8[1,3,2,2]) {" + nodes + quantise("z", "y", "0.5, -128") +
                    "return %z }");
  };
  const std::string cast = "%f = aten._to_copy.default(%x, dtype=f32)\n";
  const auto is_one_table = AllOf(HasSubstr("petrel.int8_table.default(%0, "),
                                  Not(HasSubstr("f32")), Not(HasSubstr("slice")));
  EXPECT_THAT(table_of(cast + "%y = aten.div.Scalar(%f, 255)\n"), is_one_table);
  EXPECT_THAT(table_of("%y = aten.mul.Scalar(%x, 0.5)\n"), is_one_table);
  EXPECT_THAT(table_of(cast + "%d = aten.sub.Scalar(%f, 128, 1)\n%y = aten.div.Scalar(%d, 64)\n"),
              is_one_table);
  const std::string moved =
      table_of(cast +
               "%d = aten.div.Scalar(%f, 255)\n%v = aten.permute.default(%d, [0, 2, 3, 1])\n"
               "%y = aten.sub.Scalar(%v, 1, 1)\n");
  EXPECT_THAT(moved, AllOf(HasSubstr("%1 = aten.permute.default(%0, [0, 2, 3, 1])"),
                           HasSubstr("petrel.int8_table.default(%1, "), Not(HasSubstr("f32"))));
  const std::string channels =
      table_of(cast + "%m = constant @mean : f32[3,1,1]\n%y = aten.sub.Tensor(%f, %m, 1)\n");
  EXPECT_THAT(channels, AllOf(HasSubstr("aten.slice.Tensor(%0, 1, 2, 3, 1)"),
                              HasSubstr("aten.cat.default([%"), Not(HasSubstr("f32"))));
  // Levels of their own, for what takes them.
  EXPECT_THAT(table_of(cast + "%k = constant @k : i8[1,3,1,1]\n" + dequantise("w", "k", "0.5, 0") +
                       "%y = aten.convolution.default(%f, %w, none, [1, 1], [0, 0], [1, 1], "
                       "false, [0, 0], 1)\n"),
              AllOf(HasSubstr("petrel.int8_convolution.default(%0, "), Not(HasSubstr("f32"))));
}

TEST(IntegerGraph, JoinsWhatIsQuantisedInTwoWays) {
  const std::string text =
      integers("method @m(%p: i8[4], %q: i8[4]) {" + dequantise("a", "p") +
               dequantise("b", "q", "0.25, -1") + "%c = aten.cat.default([%a, %b], 0)\n" +
               quantise("z", "c") + "return %z }");
  // The first has the levels of the result already.
  EXPECT_THAT(text, AllOf(HasSubstr("petrel.int8_table.default(%1, "),
                          HasSubstr("aten.cat.default([%0, "), Not(HasSubstr("f32"))));
}

TEST(IntegerGraph, LeavesTheBorder) {
  Program program;
  program.methods["m"].graph = graph_of("method @m(%x: f32[4]) {" + quantise("q", "x") +
                                        dequantise("z", "q") + "return %z }");
  EXPECT_TRUE(integer_program(program).ok());
}

// Sizes that vary are asked for at the border, and where levels lie.
TEST(IntegerGraph, AsksForSizesWithoutFloats) {
  Program program;
  program.methods["m"].graph =
      graph_of("method @m<s0: 1..8>(%x: f32[s0,4]) { %n = aten.sym_size.int(%x, 0)\n" +
               quantise("q", "x") + dequantise("d", "q") +
               "%k = aten.sym_size.int(%d, 0)\n%v = aten.view.default(%q, [%n, 2, 2])\n"
               "%w = aten.view.default(%q, [%k, 4, 1])\nreturn %v, %w }");
  const absl::Status made = integer_program(program);
  ASSERT_TRUE(made.ok()) << made;
  EXPECT_THAT(plain_text(*program.methods["m"].graph),
              AllOf(HasSubstr("aten.sym_size.int(%0, 0)"), HasSubstr("aten.sym_size.int(%2, 0)"),
                    Not(HasSubstr("dequantize"))));
}

TEST(IntegerGraph, PoolsPlanesOfBatchesThatVary) {
  const auto pooled = [](const std::string& pool, const char* sizes) {
    Program program;
    program.methods["m"].graph =
        graph_of(std::string("method @m<s0: 1..8>(%q: i8[") + sizes + "]) {" +
                 dequantise("a", "q") + pool + quantise("z", "p") + "return %z }");
    const absl::Status made = integer_program(program);
    return made.ok() ? plain_text(*program.methods["m"].graph) : std::string(made.message());
  };
  EXPECT_THAT(pooled("%p = aten.max_pool2d.default(%a, [2, 2])\n", "s0,3,4,4"),
              HasSubstr("petrel.int8_max_pool.default(%0, [0, 2, 1, 2, 4, 1], [0, 2, 1, "));
  EXPECT_THAT(pooled("%p = aten.avg_pool2d.default(%a, [2, 4])\n", "s0,3,4,4"),
              HasSubstr("petrel.int8_average.default(%0, [0, 2, 2, 2, 4, 2], [0, 4, 4], "));
  EXPECT_THAT(pooled("%p = aten.mean.dim(%a, [2, 3], false, none)\n", "s0,3,4,4"),
              HasSubstr("petrel.int8_average.default(%0, [0, 4, 4], [0, 4, 4], "));
  // A mean over a window is a product with ones.
  EXPECT_THAT(pooled("%p = aten.avg_pool2d.default(%a, [2, 2])\n", "1,3,s0 + 4,4"),
              AllOf(HasSubstr("petrel.int8_convolution.default(%0, "),
                    HasSubstr(", [2, 2], [0, 0], [1, 1], 3, 3, 3, -128, 127, i8)")));
  EXPECT_THAT(pooled("%p = aten.avg_pool2d.default(%a, [3, 3], [1, 1], [1, 1])\n", "1,3,s0 + 4,4"),
              HasSubstr(", [1, 1], [1, 1], [1, 1], 3, 3, 3, -128, 127, i8)"));
  EXPECT_THAT(pooled("%p = aten.avg_pool2d.default(%a, [3, 3], [1, 1], [1, 1], false, false)\n",
                     "1,3,s0 + 4,4"),
              HasSubstr("windows of planes that vary in size have other divisors at the edge"));
  EXPECT_THAT(pooled("%p = aten._adaptive_avg_pool2d.default(%a, [1, 2])\n", "1,3,s0 + 4,4"),
              HasSubstr("petrel.int8_average.default(%0, [0, -1, -1], [0, 2, 2, 2, 4, 2], "));
  EXPECT_THAT(pooled("%p = aten._adaptive_avg_pool2d.default(%a, [2, 1])\n", "1,3,s0 + 4,4"),
              HasSubstr("its planes vary in size"));
  EXPECT_THAT(pooled("%p = aten.mean.dim(%a, [0], false, none)\n", "s0,3,4,4"),
              AllOf(HasSubstr("aten.permute.default(%0, [1, 2, 3, 0])"),
                    HasSubstr(", [0, -1, -1], [0, 1, 1], ")));
  EXPECT_THAT(pooled("%p = aten.mean.dim(%a, [1, 2, 3], true, none)\n", "2,3,s0,4"),
              AllOf(Not(HasSubstr("permute")), HasSubstr(", [0, 3, 3], [0, -1, -1], ")));
}

// A list has the size of a dim that varies as -1.
TEST(IntegerGraph, ReducesDimsThatVary) {
  const auto made = [](const std::string& node, const std::string& size) {
    Program program;
    program.methods["m"].graph =
        graph_of("method @m<s0: 1..8, s1: 0..8>(%q: i8[2," + size + ",4]) {" +
                 dequantise("a", "q") + node + quantise("z", "p") + "return %z }");
    const absl::Status status = integer_program(program);
    return status.ok() ? plain_text(*program.methods["m"].graph) : std::string(status.message());
  };
  EXPECT_THAT(made("%p = aten.mean.dim(%a, [1], false, none)\n", "s0"),
              AllOf(HasSubstr("petrel.int8_average.default(%0, [0, -1, -1], [0, 1, 1, 1, 2, 1, "),
                    HasSubstr("aten.squeeze.dims(")));
  EXPECT_THAT(made("%p = aten.sum.dim_IntList(%a, [-1, -2], true, none)\n", "s1"),
              HasSubstr("petrel.int8_average.default(%0, [0, -1, 1], [0, 4, 1], "));
  EXPECT_THAT(made("%p = aten.mean.dim(%a, [1], false, none)\n", "s1"),
              HasSubstr("it may average no elements"));
  EXPECT_THAT(made("%p = aten._softmax.default(%a, 1, false)\n", "s1"),
              HasSubstr("petrel.int8_softmax.default(%0, 1, "));
  EXPECT_THAT(
      made("%p, %m, %r = aten.native_layer_norm.default(%a, [4], none, none, 1e-5)\n", "s1"),
      HasSubstr("petrel.int8_norm.default(%0, 4, 1, "));
  EXPECT_THAT(
      made("%t = aten.permute.default(%a, [0, 2, 1])\n%p = aten.bmm.default(%t, %a)\n", "s0"),
      HasSubstr("petrel.int8_matmul.default("));
}

// Of levels so small that eps is all of the variance.
TEST(IntegerGraph, NormsWhatIsMuchSmallerThanItsEps) {
  const std::string text =
      integers("method @m(%q: i8[1,8,64,64]) {" + dequantise("a", "q", "2e-06, 3") +
               "%p, %m, %r = aten.native_group_norm.default(%a, none, none, 1, "
               "8, 4096, 1, 1e-5)\n" +
               quantise("z", "p") + "return %z }");
  EXPECT_THAT(
      text, AllOf(HasSubstr("petrel.int8_norm.default(%0, 32768, 4096, "), Not(HasSubstr("f32"))));
}

TEST(IntegerGraph, NormsPlanesThatVary) {
  const auto norm = [](const std::string& least) {
    Program program;
    program.methods["m"].graph = graph_of(
        "method @m<s0: " + least + "..8>(%q: i8[2,6,s0,4]) {" + dequantise("a", "q") +
        "%n = aten.sym_size.int(%a, 2)\n%h = executorch_prim.mul.Scalar(%n, 4)\n"
        "%p, %m, %r = aten.native_group_norm.default(%a, none, none, 2, 6, %h, 3, 1e-5)\n" +
        quantise("z", "p") + "return %z }");
    const absl::Status status = integer_program(program);
    return status.ok() ? plain_text(*program.methods["m"].graph) : std::string(status.message());
  };
  EXPECT_THAT(norm("1"),
              AllOf(HasSubstr("petrel.int8_norm.default(%0, %"),
                    HasSubstr("executorch_prim.floordiv.Scalar(%"), Not(HasSubstr("f32"))));
  EXPECT_THAT(norm("0"), HasSubstr("its rows have 8*s0 elements, must have 1 to 1048576"));
}

// Those of a matrix lie as linear has none: channels are its second dim.
TEST(IntegerGraph, SaysWhatAboutAMatrixHasNoIntegers) {
  const auto product = [](const char* bias, const char* numbers) {
    return refusal("method @m(%q: i8[3,2], %b: f32[3,1]) {" + dequantise("a", "q") + R"(
      %k = constant @k : i8[2,3]
      %s = constant @s : f32[3]
      %c = constant @c : f32[3,1]
      %w = quantized_decomposed.dequantize_per_channel.default(%k, %s, none, 1, -127, 127, i8, none)
      %y = aten.addmm.default()" +
                   bias + ", %a, %w, " + numbers + ")\n" + quantise("r", "y") + "return %r }");
  };
  EXPECT_THAT(product("%c", "beta=1, alpha=2"), HasSubstr("'y' (aten.addmm.default): its alpha"));
  EXPECT_THAT(product("%c", "beta=1, alpha=1"), HasSubstr("its bias has other channels"));
  EXPECT_THAT(product("%b", "beta=1, alpha=1"), HasSubstr("its bias has other channels"));
}

TEST(IntegerGraph, NamesAllThatComputesWithFloats) {
  const std::string said =
      refusal("method @m(%q: i8[4,4], %x: f32[4]) {" + dequantise("a", "q") + R"(
    %s = aten.cumsum.default(%a, 0, none)
)" + quantise("r", "s") +
              dequantise("d", "r") + "%y = aten.add.Tensor(%d, %x, 1)\nreturn %y }");
  EXPECT_THAT(said, AllOf(HasSubstr("int8 integer: 2 places compute with floats"),
                          HasSubstr("method 'm': node 's' (aten.cumsum.default)"),
                          HasSubstr("method 'm': node 'y' (aten.add.Tensor)")));
}

TEST(IntegerGraph, SaysWhatAboutANodeHasNoIntegers) {
  const auto linear = [](const char* weight) {
    return refusal("method @m(%q: i8[4,300]) {" + dequantise("a", "q") + weight +
                   "%y = aten.linear.default(%a, %w, none)\n" + quantise("r", "y") + "return %r }");
  };
  EXPECT_THAT(linear("%w = constant @w : f32[2,300]\n"),
              HasSubstr("node 'y' (aten.linear.default): its weight is not stored in 8 bits"));
  const std::string uneven = "%k = constant @k : i8[2,300]\n" + dequantise("w", "k");
  EXPECT_THAT(linear(uneven.c_str()), HasSubstr("its weight has a zero point"));
  const std::string fine = "%k = constant @k : i8[2,300]\n" + dequantise("w", "k", "3e38, 0");
  EXPECT_THAT(linear(fine.c_str()), HasSubstr("node 'y'"));
}

// What an archive of a few hundred bytes may say of sizes.
TEST(IntegerGraph, MakesNoTablesThatAreLargerThanTheirLimit) {
  const auto said = [](const std::string& inputs, const std::string& nodes) {
    return refusal("method @m(%q: " + inputs + ") {" + dequantise("a", "q") + nodes +
                   quantise("r", "y") + "return %r }");
  };
  EXPECT_THAT(said("i8[2,1073741824]", "%y = aten.mean.dim(%a, [0])\n"),
              HasSubstr("needs a table of [3,1073741824] elements"));
  EXPECT_THAT(said("i8[1,1,1,1073741824]", "%y = aten.avg_pool2d.default(%a, [1, 1])\n"),
              HasSubstr("needs a table of [3,1073741824] elements"));
  EXPECT_THAT(said("i8[1,1,1,1]", "%y = aten._adaptive_avg_pool2d.default(%a, [1, 1073741824])\n"),
              HasSubstr("needs a table of [3,1073741824] elements"));
  EXPECT_THAT(said("i8[0,1073741824,1]",
                   "%y, %m, %d = aten.native_group_norm.default(%a, none, none, 0, 1073741824, 1, "
                   "1073741824, 1e-05)\n"),
              HasSubstr("needs a table of [1073741824] elements"));
  EXPECT_THAT(said("i8[1,1,1,1]",
                   "%k = constant @k : i8[1,1,1,1]\n" + dequantise("w", "k", "0.5, 0") +
                       "%y = aten.convolution.default(%a, %w, none, [1073741824, 1073741824], "
                       "[0, 0], [1, 1], true, [0, 0], 1)\n"),
              HasSubstr("needs a table of [1,1073741824,1073741824,1,1,1] elements"));
}

TEST(IntegerGraph, LeavesAPoolOfMoreWindowsThanATableHas) {
  EXPECT_THAT(integers("method @m(%q: i8[1,1,1,1073741824]) "
                       "{%y = aten.max_pool2d.default(%q, [1, 1])\nreturn %y }"),
              HasSubstr("aten.max_pool2d"));
}

// Each would be a frame of the stack.
TEST(IntegerGraph, LooksNoDeeperThanATableMayGo) {
  std::string text = "method @m(%q: i8[4]) {" + dequantise("v0", "q");
  constexpr int kNodes = 100000;
  for (int i = 0; i < kNodes; ++i) {
    text += "%v" + std::to_string(i + 1) + " = aten.neg.default(%v" + std::to_string(i) + ")\n";
  }
  text += quantise("z", ("v" + std::to_string(kNodes)).c_str()) + "return %z }";
  EXPECT_THAT(refusal(text), HasSubstr("100000 places compute with floats"));
}

// Each view would move before all that is computed in front of it.
TEST(IntegerGraph, MovesBytesInTimeThatIsLinear) {
  std::string text = "method @m(%x: u8[4]) {%v0 = aten._to_copy.default(%x, dtype=f32)\n";
  constexpr int kNodes = 3000;
  for (int i = 0; i < kNodes; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    text += "%n" + n + " = aten.neg.default(%v" + n + ")\n";
    text += "%v" + next + " = aten.view.default(%n" + n + ", [4])\n";
  }
  text += quantise("z", ("v" + std::to_string(kNodes)).c_str()) + "return %z }";
  const auto graph = graph_of(text);
  ASSERT_NE(graph, nullptr);
  EXPECT_TRUE(integer_graph(*graph).ok());
  EXPECT_LT(graph->nodes().size(), size_t{4} * kNodes);
}

// Views of views, each of which passes what is quantised.
TEST(IntegerGraph, MovesLevelsInTimeThatIsLinear) {
  std::string text = "method @m(%x: f32[4]) {%v0 = aten.view.default(%x, [4])\n";
  constexpr int kNodes = 20000;
  for (int i = 0; i < kNodes; ++i) {
    text +=
        "%v" + std::to_string(i + 1) + " = aten.view.default(%v" + std::to_string(i) + ", [4])\n";
  }
  text += quantise("z", ("v" + std::to_string(kNodes)).c_str()) + "return %z }";
  const auto graph = graph_of(text);
  ASSERT_NE(graph, nullptr);
  EXPECT_TRUE(integer_graph(*graph).ok());
  EXPECT_TRUE(graph->nodes().front()->is(quantized_decomposed::quantize_per_tensor));
}

TEST(IntegerGraph, LeavesWhatIsNoNumber) {
  const auto said = [](const std::string& nodes) {
    return refusal("method @m(%p: i8[4], %q: i8[4]) {" + dequantise("a", "p") +
                   dequantise("b", "q", "0.25, -1") + nodes + quantise("r", "y") + "return %r }");
  };
  EXPECT_THAT(said("%y = aten.add.Tensor(%a, %b, nan)\n"), HasSubstr("nan is not finite"));
  EXPECT_THAT(said("%y = aten.add.Tensor(%a, %b, inf)\n"), HasSubstr("inf is not finite"));
  EXPECT_THAT(said("%s = aten.add.Tensor(%a, %b, 1)\n%y = aten.hardtanh.default(%s, nan, 6.0)\n"),
              HasSubstr("node 'y'"));
  EXPECT_THAT(said("%s = aten.add.Tensor(%a, %b, 1)\n"
                   "%y = aten.constant_pad_nd.default(%s, [0, 0], nan)\n"),
              HasSubstr("node 'y'"));
}

TEST(FixedPoint, HasThirtyOneBits) {
  EXPECT_EQ(fixed_point(0.75)->multiplier, 1610612736);
  EXPECT_EQ(fixed_point(0.75)->shift, 31);
  EXPECT_EQ(fixed_point(1.0)->multiplier, 1 << 30);
  EXPECT_EQ(fixed_point(1.0)->shift, 30);
  // Rounded up it is the next power of two.
  EXPECT_EQ(fixed_point(1.0 - 1e-12)->multiplier, 1 << 30);
  EXPECT_EQ(fixed_point(1.0 - 1e-12)->shift, 30);
  EXPECT_EQ(fixed_point(1e-30)->multiplier, 0);
  EXPECT_EQ(fixed_point(1e-30)->shift, 62);
  EXPECT_TRUE(fixed_point(536870912.0).ok());
  EXPECT_FALSE(fixed_point(1073741824.0).ok());
}

TEST(FixedPoint, TakesTwoFactorsWithOneShift) {
  const auto pair = fixed_pair(0.5, -0.125);
  ASSERT_TRUE(pair.ok());
  EXPECT_EQ(pair->multipliers[0], 1 << 30);
  EXPECT_EQ(pair->multipliers[1], -(1 << 28));
  EXPECT_EQ(pair->shift, 31);
}

}  // namespace
}  // namespace petrel::exir
