// SPDX-License-Identifier: Apache-2.0
//
// Programs as torchao's Int8DynamicActivationInt8WeightConfig leaves them.
#include "exir/pass/passes/integer_products.h"

#include <string>

#include "exir/ops/handles.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/passes/remove_dead_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<bool> both(Graph& graph, const PassContext& context) {
  const absl::StatusOr<bool> changed = integer_products(graph, context);
  return changed.ok() && *changed ? remove_dead_code(graph, context) : changed;
}

PassContext backend_with_linear_layers() {
  PassContext context;
  context.keep_whole = [](const OpInfo& op) { return op.is(aten::linear); };
  return context;
}

std::string quantised(const std::string& mapping, const std::string& sizes = "5,64",
                      const std::string& block = "1, 64") {
  return "method @m(%x: f32[" + sizes +
         "]) {\n"
         "%w = constant @w : i8[32,64]\n"
         "%t = constant @t : f32[32,1]\n"
         "%s, %z = torchao.choose_qparams_affine.default(%x, \"" +
         mapping + "\", [" + block +
         "], i8, -128, 127, 1e-07, f32, i8, true)\n"
         "%q = torchao.quantize_affine.default(%x, [" +
         block +
         "], %s, %z, i8, -128, 127)\n"
         "%p = aten.permute.default(%w, [1, 0])\n";
}

// Levels 128 above, whose share is taken back.
std::string shifted(const std::string& levels, const std::string& by = "128") {
  return "%i = aten._to_copy.default(%" + levels + ", i32)\n%a = aten.add.Scalar(%i, " + by +
         ", 1)\n"
         "%u = aten._to_copy.default(%a, u8)\n"
         "%m = aten._int_mm.default(%u, %p)\n"
         "%c = aten.sum.dim_IntList(%p, [0], true, i32)\n"
         "%d = aten.mul.Scalar(%c, 128)\n"
         "%e = aten.sub.Tensor(%m, %d, 1)\n"
         "%f = aten._to_copy.default(%e, f32)\n";
}

constexpr char kScaled[] =
    "%r = aten.mul.Tensor(%f, %s)\n"
    "%v = aten.view.default(%t, [32])\n"
    "%y = aten.mul.Tensor(%r, %v)\n"
    "return %y }";

constexpr char kCorrected[] =
    "%r = aten.mul.Tensor(%f, %s)\n"
    "%g = aten.sum.dim_IntList(%w, [-1], false, none)\n"
    "%h = aten._to_copy.default(%z, f32)\n"
    "%j = aten.mul.Tensor(%h, %s)\n"
    "%k = aten._to_copy.default(%g, f32)\n"
    "%l = aten.mul.Tensor(%j, %k)\n"
    "%n = aten.sub.Tensor(%r, %l, 1)\n"
    "%v = aten.view.default(%t, [32])\n"
    "%y = aten.mul.Tensor(%n, %v)\n"
    "return %y }";

constexpr char kDirect[] =
    "%m = aten._int_mm.default(%q, %p)\n"
    "%f = aten._to_copy.default(%m, f32)\n";

// Both kinds of zero points become the argument of one node.
void expect_linear(const std::string& text, const PassContext& context = {}) {
  const std::string after = after_pass(both, text, context);
  EXPECT_THAT(after, HasSubstr("torchao.dequantize_affine.default(%3, [1, 64], %1, %2, i8, -128, "
                               "127, f32)"));
  EXPECT_THAT(after, HasSubstr("torchao.dequantize_affine.default(%w, [1, 64], %t, none, i8, -128, "
                               "127, f32)"));
  EXPECT_THAT(after, HasSubstr("aten.linear.default("));
  EXPECT_THAT(after, Not(HasSubstr("aten.mul")));
  EXPECT_THAT(after, Not(HasSubstr("_int_mm")));
}

TEST(IntegerProducts, BecomeLinearLayers) {
  expect_linear(quantised("SYMMETRIC") + kDirect + kScaled);
  expect_linear(quantised("SYMMETRIC") + shifted("q") + kScaled);
  expect_linear(quantised("ASYMMETRIC") + shifted("q") + kCorrected);
}

TEST(IntegerProducts, OfMoreDimsKeepTheirRows) {
  const std::string after =
      after_pass(both, quantised("SYMMETRIC", "2,3,64", "1, 1, 64") +
                           "%b = aten.view.default(%q, [6, 64])\n" + shifted("b") +
                           "%o = aten.view.default(%s, [6, 1])\n"
                           "%r = aten.mul.Tensor(%f, %o)\n"
                           "%v = aten.view.default(%t, [32])\n"
                           "%y = aten.mul.Tensor(%r, %v)\n"
                           "return %y }");
  EXPECT_THAT(after, HasSubstr("%6 = aten.linear.default(%4, %5, none)"));
  EXPECT_THAT(after, HasSubstr("%7 = aten.view.default(%6, [6, 32])"));
}

// As a network in bfloat16 has it.
std::string in_bfloat16(std::string text) {
  const auto replace = [&text](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    if (at != std::string::npos) text.replace(at, from.size(), to);
  };
  replace("%x: f32", "%x: bf16");
  replace("%r = aten.mul.Tensor(%f, %s)\n",
          "%r32 = aten.mul.Tensor(%f, %s)\n%r = aten._to_copy.default(%r32, bf16)\n");
  replace("%l = aten.mul.Tensor(%j, %k)\n",
          "%l32 = aten.mul.Tensor(%j, %k)\n%l = aten._to_copy.default(%l32, bf16)\n");
  return text;
}

TEST(IntegerProducts, OfNarrowNetworksAreNotRoundedBeforeTheirScales) {
  expect_linear(in_bfloat16(quantised("SYMMETRIC") + kDirect + kScaled),
                backend_with_linear_layers());
  expect_linear(in_bfloat16(quantised("ASYMMETRIC") + shifted("q") + kCorrected),
                backend_with_linear_layers());
}

TEST(IntegerProducts, HaveTheTypeThatTheirScalesGaveThem) {
  std::string text = in_bfloat16(quantised("SYMMETRIC") + kDirect + kScaled);
  text.replace(text.find("%t = constant @t : f32"), 22, "%t = constant @t : bf16");
  const std::string after = after_pass(both, text, backend_with_linear_layers());
  EXPECT_THAT(after, HasSubstr("aten.linear.default("));
  EXPECT_THAT(after, HasSubstr("aten._to_copy.default(%6, bf16"));
}

void expect_unchanged(const std::string& text) {
  EXPECT_EQ(after_pass(both, text), expected(text));
}

TEST(IntegerProducts, OfNarrowNetworksStayForKernels) {
  expect_unchanged(in_bfloat16(quantised("SYMMETRIC") + kDirect + kScaled));
}

TEST(IntegerProducts, StayWhereSomethingElseIsComputed) {
  expect_unchanged(quantised("SYMMETRIC") + shifted("q", "127") + kScaled);
  expect_unchanged(quantised("ASYMMETRIC") + shifted("q") + kScaled);
  expect_unchanged(quantised("ASYMMETRIC") + kDirect + kScaled);
  std::string text = quantised("SYMMETRIC") + kDirect + kScaled;
  text.replace(text.find("[32,1]"), 6, "[5,1]");
  text.replace(text.find("(%t, [32])"), 10, "(%t, [5, 1])");
  expect_unchanged(text);
}

TEST(IntegerProducts, MayHaveOneScaleForTheWholeWeight) {
  std::string text = quantised("SYMMETRIC") + kDirect + kScaled;
  text.replace(text.find("[32,1]"), 6, "[1,1]");
  text.replace(text.find("(%t, [32])"), 10, "(%t, [1])");
  const std::string after = after_pass(both, text);
  EXPECT_THAT(after, HasSubstr("torchao.dequantize_affine.default(%w, [32, 64], %t, none, i8, "));
  EXPECT_THAT(after, HasSubstr("aten.linear.default("));
}

// As Int8WeightOnlyConfig leaves them.
std::string stored(const std::string& scale, const std::string& product) {
  return "method @m(%x: f32[5,64]) {\n"
         "%w = constant @w : i8[32,64]\n"
         "%t = constant @t : f32[" +
         scale + "]\n" + product + "return %y }";
}

constexpr char kByMatrix[] =
    "%p = aten.permute.default(%w, [1, 0])\n"
    "%c = aten._to_copy.default(%p, f32)\n"
    "%m = aten.mm.default(%x, %c)\n"
    "%v = aten.view.default(%t, [32])\n"
    "%y = aten.mul.Tensor(%m, %v)\n";

TEST(StoredProducts, BecomeLinearLayersWhereABackendHasThem) {
  const std::string after =
      after_pass(both, stored("32,1", kByMatrix), backend_with_linear_layers());
  EXPECT_THAT(after, HasSubstr("torchao.dequantize_affine.default(%w, [1, 64], %t, none, i8, -128, "
                               "127, f32)"));
  EXPECT_THAT(after, HasSubstr("aten.linear.default(%0, "));
  EXPECT_THAT(after, Not(HasSubstr("aten.mul")));
  EXPECT_THAT(after, Not(HasSubstr("aten.mm")));
  EXPECT_EQ(after_pass(both, stored("32,1", kByMatrix)), expected(stored("32,1", kByMatrix)));
}

// With one scale for all, or as a layer of floats that casts its weight; whichever comes first.
TEST(StoredProducts, AreFoundInOtherForms) {
  std::string one = kByMatrix;
  one.replace(one.find("[32]"), 4, "[1]");
  EXPECT_THAT(after_pass(both, stored("1,1", one), backend_with_linear_layers()),
              HasSubstr("torchao.dequantize_affine.default(%w, [32, 64], %t, none"));
  const std::string after = after_pass(both,
                                       stored("32",
                                              "%c = aten._to_copy.default(%w, f32)\n"
                                              "%m = aten.linear.default(%x, %c)\n"
                                              "%y = aten.mul.Tensor(%t, %m)\n"),
                                       backend_with_linear_layers());
  EXPECT_THAT(after, HasSubstr("aten.view.default(%t, [32, 1])"));
  EXPECT_THAT(after, HasSubstr("torchao.dequantize_affine.default(%w, [1, 64], "));
}

TEST(StoredProducts, OfNarrowNetworksAreRoundedOnce) {
  std::string text = stored("32,1", kByMatrix);
  for (size_t at = 0; (at = text.find("f32", at)) != std::string::npos;) text.replace(at, 3, "f16");
  const std::string own = "%t = constant @t : f16[32,1]\n";
  std::string rounded = text;
  rounded.replace(rounded.find(own), own.size(),
                  "%s = constant @t : f32[32,1]\n%t = aten._to_copy.default(%s, f16)\n");
  for (const std::string& network : {text, rounded}) {
    const std::string after = after_pass(both, network, backend_with_linear_layers());
    EXPECT_THAT(after, HasSubstr("aten._to_copy.default(%0, f32"));
    EXPECT_THAT(after, HasSubstr("(%w, [1, 64], %t, none, i8, -128, 127, f32)"));
    EXPECT_THAT(after, Not(HasSubstr("aten.mm")));
  }
}

TEST(StoredProducts, StayWhereSomethingElseIsComputed) {
  const auto stays = [](const std::string& text) {
    EXPECT_EQ(after_pass(both, text, backend_with_linear_layers()), expected(text));
  };
  // Numbers of rows, another reader of the product, a bias before the scales.
  std::string rows = kByMatrix;
  rows.replace(rows.find("[32]"), 4, "[5, 1]");
  stays(stored("5", rows));
  std::string twice = stored("32,1", std::string(kByMatrix) + "%z = aten.relu.default(%m)\n");
  twice.replace(twice.find("return %y"), 9, "return %y, %z");
  stays(twice);
  stays(stored("32",
               "%c = aten._to_copy.default(%w, f32)\n"
               "%m = aten.linear.default(%x, %c, %t)\n"
               "%y = aten.mul.Tensor(%m, %t)\n"));
}

}  // namespace
}  // namespace petrel::exir
