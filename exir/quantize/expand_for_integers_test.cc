// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/expand_for_integers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "exir/ir/verifier.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/builder.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/pass/passes/fold_constants.h"
#include "exir/quantize/annotate_graph.h"

namespace petrel::exir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The graph of `text`, folded and expanded, of which integers take all.
std::string expanded(const std::string& text) {
  const auto graph = graph_of(text);
  if (graph == nullptr) return "";
  EXPECT_TRUE(fold_constants(*graph, {}).ok());
  const absl::Status status = expand_for_integers(*graph);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(verify_graph(*graph).ok()) << verify_graph(*graph);
  for (const LeftFloat& left : annotate_graph(*graph, {}, QuantTarget::kIntegers).left) {
    ADD_FAILURE() << left.node << ": " << left.reason;
  }
  return plain_text(*graph);
}

TEST(ExpandForIntegers, TakesAttentionApart) {
  const std::string text = expanded(R"(method @m(%q: f32[1,2,3,4], %k: f32[1,2,3,4]) {
    %y = aten.scaled_dot_product_attention.default(%q, %k, %k)
    return %y })");
  EXPECT_THAT(text, AllOf(HasSubstr("aten.bmm.default"), HasSubstr("aten._softmax.default"),
                          Not(HasSubstr("scaled_dot_product_attention"))));
}

// What is computed of weights alone is a constant, also what attention makes of it.
TEST(ExpandForIntegers, TakesQueriesThatAreLearned) {
  const std::string text = expanded(R"(method @m(%k: f32[1,2,3,4]) {
    %c = constant @c : f32[1,2,3,4]
    %q = aten.neg.default(%c)
    %y = aten.scaled_dot_product_attention.default(%q, %k, %k, none, 0.0, false, scale=0.5)
    return %y })");
  EXPECT_THAT(text, AllOf(HasSubstr("@fold : f32[2,3,4]"), HasSubstr("aten.bmm.default")));
}

// Without a projection, too.
TEST(ExpandForIntegers, TakesQueriesThatAreWeights) {
  const std::string text = expanded(R"(method @m(%k: f32[1,2,3,4]) {
    %q = constant @q : f32[1,2,3,4]
    %y = aten.scaled_dot_product_attention.default(%q, %k, %k, none, 0.0, false, scale=0.5)
    return %y })");
  EXPECT_THAT(text, AllOf(HasSubstr("@q@fold"), Not(HasSubstr("aten.mul.Scalar"))));
}

// A decoder's first layer attends to its own queries, and its next attention to an image.
TEST(ExpandForIntegers, TakesWhatQueriesMakeOfThemselves) {
  const std::string text = expanded(R"(method @m(%k: f32[1,2,3,4]) {
    %q = constant @q : f32[1,2,3,4]
    %a = aten.scaled_dot_product_attention.default(%q, %q, %q, none, 0.0, false, none, false)
    %b = aten.add.Tensor(%q, %a, 1)
    %y = aten.scaled_dot_product_attention.default(%b, %k, %k, none, 0.0, false, none, false)
    return %y })");
  const size_t first = text.find("aten.bmm.default");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("aten.add.Tensor"), std::string::npos) << text;
  // Of queries and image, and of what they weigh.
  const size_t second = text.find("aten.bmm.default", first + 1);
  EXPECT_EQ(text.find("aten.bmm.default", second + 1), std::string::npos) << text;
}

// As distances of places are, with what comes later shut out.
TEST(ExpandForIntegers, TakesMasksThatAddToWhatTheyAllow) {
  const std::string text = expanded(R"(method @m(%x: f32[3,3], %d: f32[3,3], %m: bool[3,3]) {
    %n = aten.full.default([], -inf, dtype=f32)
    %w = aten.where.self(%m, %d, %n)
    %s = aten.add.Tensor(%x, %w, 1)
    %y = aten._softmax.default(%s, 1, false)
    return %y })");
  EXPECT_THAT(text, HasSubstr("aten.add.Tensor(%0, %1, 1)"));
  const auto graph = graph_of(R"(method @m(%x: f32[2,3]) {
    %c = constant @c : f32[2,3]
    %b = aten.sub.Scalar(%c, 2, 1)
    %w = aten.mul.Scalar(%b, 1000000)
    %s = aten.add.Tensor(%x, %w, 1)
    %y = aten._softmax.default(%s, 1, false)
    return %y })");
  ASSERT_NE(graph, nullptr);
  ASSERT_TRUE(fold_constants(*graph, {}).ok());
  ASSERT_TRUE(expand_for_integers(*graph).ok());
  EXPECT_THAT(plain_text(*graph), HasSubstr("@rest : f32[2,3]"));
}

// Numbers far below 0 are what they are where no softmax comes.
TEST(ExpandForIntegers, LeavesSumsThatAreNoScores) {
  const auto graph = graph_of(R"(method @m(%x: f32[2,3]) {
    %c = constant @c : f32[2,3]
    %b = aten.sub.Scalar(%c, 2, 1)
    %w = aten.mul.Scalar(%b, 1000000)
    %s = aten.add.Tensor(%x, %w, 1)
    return %s })");
  ASSERT_NE(graph, nullptr);
  ASSERT_TRUE(fold_constants(*graph, {}).ok());
  ASSERT_TRUE(expand_for_integers(*graph).ok());
  EXPECT_THAT(plain_text(*graph), Not(HasSubstr("aten.where")));
}

TEST(ExpandForIntegers, ShutsOutByOneFormOfMask) {
  const std::string text = expanded(R"(method @m(%x: f32[3,3], %m: bool[3,3]) {
    %s = aten.masked_fill.Scalar(%x, %m, -inf)
    %y = aten._softmax.default(%s, 1, false)
    return %y })");
  EXPECT_THAT(text, AllOf(HasSubstr("aten.logical_not.default(%1)"), HasSubstr("aten.where.self")));
}

// Rows that are shut out whole are NaN after a softmax of -inf alone.
TEST(ExpandForIntegers, ShutsOutByNumbersThatAreFinite) {
  const std::string text = expanded(R"(method @m(%q: f32[1,3,4], %m: bool[1,3,3]) {
    %y = aten.scaled_dot_product_attention.default(%q, %q, %q, %m)
    return %y })");
  EXPECT_THAT(
      text, AllOf(HasSubstr("aten.where.self"), Not(HasSubstr("aten.any")), Not(HasSubstr("inf"))));
}

// As nn.TransformerEncoderLayer does with src_key_padding_mask, for each of its layers.
TEST(ExpandForIntegers, MovesWhatIsAllowedAsTheMaskWasMoved) {
  const std::string text = expanded(R"(method @m(%x: f32[2,4,3,3], %p: bool[2,3]) {
    %n = aten.full.default([2, 3], 0, dtype=f32)
    %f = aten.masked_fill.Scalar(%n, %p, -inf)
    %v = aten.view.default(%f, [2, 1, 1, 3])
    %e = aten.expand.default(%v, [2, 4, 1, 3], false)
    %s = aten.add.Tensor(%x, %e, 1)
    %y = aten._softmax.default(%s, 3, false)
    return %y })");
  EXPECT_THAT(text, AllOf(HasSubstr("aten.where.self"), HasSubstr("aten.expand.default"),
                          HasSubstr(": bool[2,4,1,3]"), Not(HasSubstr("f32[2,4,1,3]"))));
}

TEST(ExpandForIntegers, DoesTheSameWhereSizesVary) {
  EXPECT_THAT(expanded("method @m<s0: 1..8>(%x: f32[s0,4]) {"
                       "%y = aten._log_softmax.default(%x, 0, false) return %y }"),
              AllOf(HasSubstr("aten.amax.default"), HasSubstr("aten.log.default")));
  EXPECT_THAT(expanded("method @m<s0: 1..8>(%x: f32[s0,4]) {"
                       "%y = aten.cumsum.default(%x, 1) return %y }"),
              HasSubstr("aten.linear.default"));
  EXPECT_THAT(expanded("method @m<s0: 1..8>(%x: f32[s0,2,4,4]) {"
                       "%y = aten.upsample_bilinear2d.vec(%x, [8, 6], false, none) return %y }"),
              AllOf(HasSubstr("aten.linear.default"), Not(HasSubstr("upsample"))));
  EXPECT_THAT(expanded("method @m<s0: 1..8>(%x: f32[s0,4,3,3]) { %w = constant @w : f32[4,2,3,3]\n"
                       "%y = aten.convolution.default(%x, %w, none, [2, 2], [1, 1], [1, 1], true, "
                       "[1, 1], 2) return %y }"),
              HasSubstr("@w@phases : f32[16,2,2,2]"));
}

// Planes of any sizes have no matrix; those that grow a whole number of times have filters.
TEST(ExpandForIntegers, ResizesPlanesThatVaryByFilters) {
  const std::string call = "%y = aten.upsample_bilinear2d.vec(%x, none, ";
  const std::string method = "method @m<s0: 2..8, s1: 2..8>(%x: f32[1,2,s0,s1]) {" + call;
  EXPECT_THAT(expanded(method + "false, [2.0, 3.0]) return %y }"),
              AllOf(HasSubstr("aten.convolution.default"), HasSubstr("f32[12,1,3,3]"),
                    Not(HasSubstr("upsample"))));
  for (const char* left : {"true, [2.0, 2.0])", "false, [1.5, 2.0])", "false, [16.0, 2.0])"}) {
    const auto graph = graph_of(method + left + " return %y }");
    ASSERT_NE(graph, nullptr);
    ASSERT_TRUE(expand_for_integers(*graph).ok());
    EXPECT_THAT(plain_text(*graph), HasSubstr("upsample")) << left;
  }
}

TEST(ExpandForIntegers, ShutsOutWhereSizesVary) {
  const std::string sizes = "method @m<s0: 1..8, s1: 2..16>(";
  EXPECT_THAT(expanded(sizes + R"(%x: f32[s0,s1,s1], %p: bool[s0,1,s1]) {
    %s = aten.masked_fill.Scalar(%x, %p, -inf)
    %y = aten._softmax.default(%s, 2, false)
    return %y })"),
              AllOf(HasSubstr("aten.logical_not.default(%1)"), HasSubstr("aten.where.self")));
  EXPECT_THAT(expanded(sizes + R"(%q: f32[s0,s1,4], %m: bool[s0,s1,s1]) {
    %y = aten.scaled_dot_product_attention.default(%q, %q, %q, %m)
    return %y })"),
              AllOf(HasSubstr("aten.where.self"), Not(HasSubstr("aten.any"))));
}

// As encoders of words compute them: (1 - flags) * -10000.
TEST(ExpandForIntegers, TakesMasksThatAreComputedOfFlags) {
  const char* const kRest = R"(
    %f = aten._to_copy.default(%p, f32)
    %n = aten.NEG
    %v = aten.view.default(%n, [2, 1, 3])
    %w = aten.mul.Scalar(%v, FACTOR)
    %s = aten.add.Tensor(%x, %w, 1)
    %y = aten._softmax.default(%s, 2, false)
    return %y })";
  const auto text = [&](const char* neg, const char* factor) {
    return absl::StrReplaceAll(absl::StrCat("method @m(%x: f32[2,3,3], %p: bool[2,3]) {", kRest),
                               {{"NEG", neg}, {"FACTOR", factor}});
  };
  EXPECT_THAT(expanded(text("sub.Scalar(%f, 1, 1)", "10000.0")),
              AllOf(HasSubstr("aten.where.self(%"), Not(HasSubstr("logical_not")),
                    Not(HasSubstr("_to_copy"))));
  EXPECT_THAT(expanded(text("mul.Scalar(%f, 2)", "-1e9")),
              AllOf(HasSubstr("aten.where.self(%"), HasSubstr("aten.logical_not.default(%1)"),
                    HasSubstr("bool[2,1,3]"), Not(HasSubstr("_to_copy"))));
  // These shut out neither.
  for (const char* factor : {"-100.0", "10000.0"}) {
    const auto graph = graph_of(text("mul.Scalar(%f, 2)", factor));
    ASSERT_NE(graph, nullptr);
    ASSERT_TRUE(expand_for_integers(*graph).ok());
    EXPECT_THAT(plain_text(*graph), Not(HasSubstr("aten.where"))) << factor;
  }
}

TEST(ExpandForIntegers, AsksFlagsForSizesOfTheMaskThatTheyReplace) {
  EXPECT_THAT(expanded(R"(method @m<s0: 1..8, s1: 2..16>(%x: f32[s0,s1,s1], %p: bool[s0,s1]) {
    %f = aten._to_copy.default(%p, f32)
    %n = aten.mul.Scalar(%f, -1e9)
    %z = aten.sym_size.int(%n, 0)
    %v = aten.view.default(%n, [%z, 1, -1])
    %s = aten.add.Tensor(%x, %v, 1)
    %y = aten._softmax.default(%s, 2, false)
    return %y })"),
              AllOf(HasSubstr("aten.sym_size.int(%1, 0)"), Not(HasSubstr("aten.mul"))));
}

// A mean of the words that are there multiplies by flags.
TEST(ExpandForIntegers, MakesLevelsOfFlags) {
  EXPECT_THAT(expanded(R"(method @m(%x: f32[2,3], %p: bool[2,3]) {
    %f = aten._to_copy.default(%p, f32)
    %y = aten.mul.Tensor(%x, %f)
    return %y })"),
              HasSubstr("aten._to_copy.default(%1, i8"));
}

// As networks of graphs add what comes along their edges.
TEST(ExpandForIntegers, AddsRowsAtPlacesByProducts) {
  EXPECT_THAT(expanded(R"(method @m(%x: f32[5,8], %v: f32[6,8]) { %i = constant @i : i64[6]
    %y = aten.index_put.default(%x, [%i], %v, true)
    return %y })"),
              AllOf(HasSubstr("constant @i@places : f32[5,6]"), HasSubstr("aten.linear.default"),
                    HasSubstr("aten.add.Tensor"), Not(HasSubstr("index_put"))));
  EXPECT_THAT(expanded(R"(method @m(%x: f32[2,5,8], %v: f32[2,6,8], %i: i64[6]) {
    %y = aten.index_put.default(%x, [none, %i], %v, true)
    return %y })"),
              AllOf(HasSubstr("aten.eq.Tensor"), HasSubstr("aten.mm.default"),
                    Not(HasSubstr("index_put"))));
  EXPECT_THAT(expanded(R"(method @m(%x: f32[5,8], %v: f32[6,8], %i: i64[6]) {
    %e = aten.view.default(%i, [6, 1])
    %j = aten.expand.default(%e, [6, 8], false)
    %y = aten.scatter_add.default(%x, 0, %j, %v)
    return %y })"),
              AllOf(HasSubstr("aten.mm.default"), Not(HasSubstr("scatter_add"))));
  for (const char* left : {"%y = aten.scatter_add.default(%x, 0, %j, %v)",
                           "%y = aten.index_put.default(%x, [%k, %k], %r, true)"}) {
    const auto graph = graph_of(absl::StrCat(
        "method @m(%x: f32[5,8], %v: f32[6,8], %j: i64[6,8], %k: i64[3], %r: f32[3]) {", left,
        " return %y }"));
    ASSERT_NE(graph, nullptr);
    ASSERT_TRUE(expand_for_integers(*graph).ok());
    EXPECT_THAT(plain_text(*graph), Not(HasSubstr("aten.mm"))) << left;
  }
}

TEST(ExpandForIntegers, SplitsTheLargestFromTheirPlaces) {
  EXPECT_THAT(expanded("method @m(%x: f32[2,4]) {"
                       "%v, %i = aten.max.dim(%x, 1, false) return %v, %i }"),
              AllOf(HasSubstr("aten.amax.default"), HasSubstr("aten.argmax.default")));
  EXPECT_THAT(expanded("method @m(%x: f32[2,4]) {"
                       "%v, %i = aten.topk.default(%x, 2, 1, true, true) return %v, %i }"),
              AllOf(HasSubstr("aten.topk.default"), HasSubstr("aten.gather.default")));
}

// A call of 300 bytes asks for a matrix of 4 MB. What there is no room for stays as it is.
TEST(ExpandForIntegers, MatricesAreTablesOfTheGraph) {
  for (const int64_t left : {16, 15}) {
    const TableScope scope;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(check_table({kMostTableElements}).ok());
    ASSERT_TRUE(check_table({kMostTableElements - left}).ok());
    const auto graph =
        graph_of("method @m(%x: f32[2,4]) { %y = aten.cumsum.default(%x, 1, none) return %y }");
    ASSERT_NE(graph, nullptr);
    ASSERT_TRUE(expand_for_integers(*graph).ok());
    EXPECT_THAT(plain_text(*graph), HasSubstr(left == 16 ? "aten.linear" : "aten.cumsum"));
  }
  for (const int64_t left : {80, 79}) {
    const TableScope scope;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(check_table({kMostTableElements}).ok());
    ASSERT_TRUE(check_table({kMostTableElements - left}).ok());
    const auto graph = graph_of(
        "method @m(%x: f32[1,1,4,4]) { %y = aten.upsample_bilinear2d.vec(%x, [6, 6], false, none) "
        "return %y }");
    ASSERT_NE(graph, nullptr);
    ASSERT_TRUE(expand_for_integers(*graph).ok());
    EXPECT_THAT(plain_text(*graph), HasSubstr(left == 80 ? "aten.linear" : "aten.upsample"));
  }
}

TEST(ExpandForIntegers, MakesArithmeticOfWhatHasNoForm) {
  EXPECT_THAT(expanded("method @m(%x: f32[2,4], %z: f32[2,4]) {"
                       "%y = aten.div.Tensor(%x, %z) return %y }"),
              HasSubstr("aten.reciprocal.default(%1)"));
  EXPECT_THAT(expanded("method @m(%x: f32[2,4]) { %c = constant @c : f32[4]\n"
                       "%y = aten.div.Tensor(%x, %c) return %y }"),
              AllOf(HasSubstr("constant @c@inverse : f32[4]"), HasSubstr("aten.mul.Tensor")));
  EXPECT_THAT(expanded("method @m(%x: f32[1,4,3,3]) { %w = constant @w : f32[4,2,3,3]\n"
                       "%b = constant @b : f32[4]\n"
                       "%y = aten.convolution.default(%x, %w, %b, [2, 2], [1, 1], [1, 1], true, "
                       "[1, 1], 2) return %y }"),
              AllOf(HasSubstr(", [1, 1], [1, 1], [1, 1], false, [0, 0], 2)"),
                    HasSubstr("@w@phases : f32[16,2,2,2]"), HasSubstr("@b@phases : f32[16]")));
  EXPECT_THAT(expanded("method @m(%x: f32[2,4]) {"
                       "%y = aten._log_softmax.default(%x, 1, false) return %y }"),
              AllOf(HasSubstr("aten.amax.default"), HasSubstr("aten.log.default")));
  EXPECT_THAT(expanded("method @m(%x: f32[2,4]) {"
                       "%y = aten.cumsum.default(%x, 0) return %y }"),
              HasSubstr("aten.linear.default"));
  EXPECT_THAT(
      expanded("method @m(%x: f32[2,4]) {"
               "%y = aten.var.correction(%x, [1], correction=1, keepdim=false) return %y }"),
      Not(HasSubstr("aten.var")));
  // A number has one dim.
  EXPECT_THAT(
      expanded("method @m(%x: f32[]) {"
               "%y = aten.var.correction(%x, [0], correction=0, keepdim=false) return %y }"),
      Not(HasSubstr("aten.var")));
  EXPECT_THAT(expanded("method @m(%x: f32[1,2,4,4]) {"
                       "%y = aten.upsample_bilinear2d.vec(%x, [8, 6], false, none) return %y }"),
              Not(HasSubstr("upsample")));
}

// Whose channels are no dim of the result.
TEST(AnnotateGraph, LeavesProductsWithAVector) {
  const auto graph = graph_of(R"(method @m(%x: f32[4,8]) { %w = constant @w : f32[8]
    %y = aten.linear.default(%x, %w) return %y })");
  ASSERT_NE(graph, nullptr);
  for (const QuantTarget target : {QuantTarget::kBackends, QuantTarget::kIntegers}) {
    const QuantAnnotation annotation = annotate_graph(*graph, {}, target);
    EXPECT_TRUE(annotation.nodes.empty());
    ASSERT_EQ(annotation.left.size(), 1u);
    EXPECT_THAT(annotation.left[0].reason, HasSubstr("has a weight or factors that integers have"));
  }
}

// Neither a call within the other for each, nor all before it looked at once more.
TEST(AnnotateGraph, FollowsThousandsOfScalingsInARow) {
  constexpr size_t kCount = 100000;
  Graph graph("m");
  Value* x = graph.add_input(TensorType::contiguous(ScalarType::kFloat, {4}), "x");
  Builder b(graph, nullptr);
  for (size_t i = 0; i < kCount; ++i) x = b.call(aten::mul_Scalar, {x, 1.5}).value();
  graph.set_outputs({x});
  EXPECT_EQ(annotate_graph(graph, {}, QuantTarget::kIntegers).nodes.size(), kCount);
}

}  // namespace
}  // namespace petrel::exir
