// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/functionalize.h"

#include <string>

#include "exir/pass/framework/pass_case.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

using Case = PassCase;

class Functionalize : public ::testing::TestWithParam<Case> {};

TEST_P(Functionalize, LeavesNoWrites) {
  EXPECT_EQ(after_pass(functionalize, GetParam().before), expected(GetParam().after));
}

INSTANTIATE_TEST_SUITE_P(All, Functionalize,
                         ::testing::Values(Case{"OneInPlaceOperator",
                                                R"(method @m(%x: f32[4]) {
               %a = aten.neg.default(%x)
               %b = aten.relu_.default(%a)
               return %b })",
                                                R"(method @m(%x: f32[4]) {
               %a = aten.neg.default(%x)
               %b = aten.relu.default(%a)
               return %b })"},
                                           // Who reads the old name later sees the new value.
                                           Case{"TheOldNameIsUsedLater",
                                                R"(method @m(%x: f32[4]) {
               %a = aten.neg.default(%x)
               %b = aten.exp.default(%a)
               %c = aten.add_.Tensor(%a, %b)
               %d = aten.mul.Tensor(%a, %c)
               return %a, %d })",
                                                R"(method @m(%x: f32[4]) {
               %a = aten.neg.default(%x)
               %b = aten.exp.default(%a)
               %c = aten.add.Tensor(%a, %b)
               %d = aten.mul.Tensor(%c, %c)
               return %c, %d })"},
                                           Case{"TheResultKeepsTheDtype",
                                                R"(method @m(%x: i32[4], %y: f32[4]) {
               %a = aten.neg.default(%x)
               %b = aten.copy_.default(%a, %y)
               return %b })",
                                                R"(method @m(%x: i32[4], %y: f32[4]) {
               %a = aten.neg.default(%x)
               %b = aten._to_copy.default(%y, dtype=i32)
               return %b })"},
                                           Case{"AnInputIsChanged",
                                                R"(method @m(%x: f32[4]) {
               %b = aten.relu_.default(%x)
               %c = aten.neg.default(%x)
               return %b, %c })",
                                                R"(method @m(%x: f32[4]) {
               %b = aten.relu.default(%x)
               %c = aten.neg.default(%b)
               return %b, %c })"},
                                           Case{"AWriteThroughASliceReachesTheBase",
                                                R"(method @m(%x: f32[4], %y: f32[2]) {
               %a = aten.neg.default(%x)
               %s = aten.slice.Tensor(%a, 0, 1, 3, 1)
               %w = aten.copy_.default(%s, %y)
               %d = aten.exp.default(%a)
               return %d, %s })",
                                                R"(method @m(%x: f32[4], %y: f32[2]) {
               %a = aten.neg.default(%x)
               %s = aten.slice.Tensor(%a, 0, 1, 3, 1)
               %n = aten.slice_scatter.default(%a, %y, 0, 1, 3, 1)
               %d = aten.exp.default(%n)
               return %d, %y })"},
                                           // The view was taken before its base changed.
                                           Case{"AWriteToTheBaseReachesItsViews",
                                                R"(method @m(%x: f32[4]) {
               %a = aten.neg.default(%x)
               %v = aten.view.default(%a, [2, 2])
               %s = aten.slice.Tensor(%v, 0, 0, 1, 1)
               %e = aten.exp.default(%s)
               %w = aten.mul_.Scalar(%a, 2)
               %f = aten.exp.default(%s)
               return %e, %f })",
                                                R"(method @m(%x: f32[4]) {
               %a = aten.neg.default(%x)
               %v = aten.view.default(%a, [2, 2])
               %s = aten.slice.Tensor(%v, 0, 0, 1, 1)
               %e = aten.exp.default(%s)
               %w = aten.mul.Scalar(%a, 2)
               %v2 = aten.view.default(%w, [2, 2])
               %s2 = aten.slice.Tensor(%v2, 0, 0, 1, 1)
               %f = aten.exp.default(%s2)
               return %e, %f })"},
                                           Case{"AWriteThroughViewsOfViews",
                                                R"(method @m(%x: f32[2,3], %y: f32[2]) {
               %a = aten.neg.default(%x)
               %p = aten.permute.default(%a, [1, 0])
               %s = aten.slice.Tensor(%p, 0, 2, 3, 1)
               %v = aten.view.default(%s, [2])
               %w = aten.add_.Tensor(%v, %y)
               return %a })",
                                                R"(method @m(%x: f32[2,3], %y: f32[2]) {
               %a = aten.neg.default(%x)
               %p = aten.permute.default(%a, [1, 0])
               %s = aten.slice.Tensor(%p, 0, 2, 3, 1)
               %v = aten.view.default(%s, [2])
               %w = aten.add.Tensor(%v, %y)
               %v2 = aten.view.default(%w, [1, 2])
               %p2 = aten.slice_scatter.default(%p, %v2, 0, 2, 3, 1)
               %a2 = aten.permute.default(%p2, [1, 0])
               return %a2 })"},
                                           Case{"ACloneIsATensorOfItsOwn",
                                                R"(method @m(%x: f32[4]) {
               %c = aten.clone.default(%x)
               %w = aten.neg_.default(%x)
               return %c, %x })",
                                                R"(method @m(%x: f32[4]) {
               %c = aten.clone.default(%x)
               %w = aten.neg.default(%x)
               return %c, %w })"},
                                           Case{"DetachAndDropoutAreTheSameTensor",
                                                R"(method @m(%x: f32[4]) {
               %c = aten.detach.default(%x)
               %d = aten.dropout_.default(%c, 0.5, false)
               %w = aten.neg_.default(%x)
               %e = aten.exp.default(%d)
               return %e })",
                                                R"(method @m(%x: f32[4]) {
               %c = aten.detach.default(%x)
               %d = aten.dropout_.default(%c, 0.5, false)
               %w = aten.neg.default(%x)
               %e = aten.exp.default(%w)
               return %e })"},
                                           Case{"ReshapeOfAContiguousTensorIsAView",
                                                R"(method @m(%x: f32[2,3]) {
               %r = aten.reshape.default(%x, [6])
               %w = aten.neg_.default(%r)
               return %x })",
                                                R"(method @m(%x: f32[2,3]) {
               %r = aten.view.default(%x, [6])
               %w = aten.neg.default(%r)
               %x2 = aten.view.default(%w, [2, 3])
               return %x2 })"},
                                           Case{"ReshapeOfATransposedTensorIsACopy",
                                                R"(method @m(%x: f32[2,3]) {
               %p = aten.permute.default(%x, [1, 0])
               %r = aten.reshape.default(%p, [6])
               %w = aten.neg_.default(%r)
               return %x, %w })",
                                                R"(method @m(%x: f32[2,3]) {
               %p = aten.permute.default(%x, [1, 0])
               %r = aten.view.default(%p, [6])
               %w = aten.neg.default(%r)
               return %x, %w })"},
                                           Case{"ACastToTheSameDtypeIsAView",
                                                R"(method @m(%x: f32[2]) {
               %a = aten.to.dtype(%x, f32)
               %b = aten.to.dtype(%x, f32, false, true)
               %w = aten.neg_.default(%x)
               %e = aten.exp.default(%a)
               %f = aten.exp.default(%b)
               return %e, %f })",
                                                R"(method @m(%x: f32[2]) {
               %a = aten.to.dtype(%x, f32)
               %b = aten.to.dtype(%x, f32, false, true)
               %w = aten.neg.default(%x)
               %e = aten.exp.default(%w)
               %f = aten.exp.default(%b)
               return %e, %f })"},
                                           Case{"StateIsWrittenBack",
                                                R"(method @m(%x: f32[2]) {
               %s = state @state.h : f32[2]
               %a = aten.mul_.Scalar(%s, 0.5)
               %b = aten.add_.Tensor(%s, %x)
               %c = aten.neg.default(%s)
               return %c })",
                                                R"(method @m(%x: f32[2]) {
               %s = state @state.h : f32[2]
               %a = aten.mul.Scalar(%s, 0.5)
               %b = aten.add.Tensor(%a, %x)
               %c = aten.neg.default(%b)
               write %b to %s
               return %c })"},
                                           Case{"ACacheIsWrittenThroughASlice",
                                                R"(method @m(%x: f32[1,2]) {
               %s = state @state.cache : f32[4,2]
               %v = aten.slice.Tensor(%s, 0, 2, 3, 1)
               %w = aten.copy_.default(%v, %x)
               return %s })",
                                                R"(method @m(%x: f32[1,2]) {
               %s = state @state.cache : f32[4,2]
               %v = aten.slice.Tensor(%s, 0, 2, 3, 1)
               %w = aten.slice_scatter.default(%s, %x, 0, 2, 3, 1)
               write %w to %s
               return %w })"},
                                           Case{"FillAndZeroForgetTheOldValue",
                                                R"(method @m(%x: f32[2,3]) {
               %a = aten.zero_.default(%x)
               %b = aten.slice.Tensor(%x, 1, 0, 1, 1)
               %c = aten.fill_.Scalar(%b, 7)
               return %x })",
                                                R"(method @m(%x: f32[2,3]) {
               %a = aten.full.default([2, 3], 0, dtype=f32)
               %b = aten.slice.Tensor(%a, 1, 0, 1, 1)
               %c = aten.full.default([2, 1], 7, dtype=f32)
               %d = aten.slice_scatter.default(%a, %c, 1, 0, 1, 1)
               return %d })"},
                                           Case{"AWriteToADiagonal",
                                                R"(method @m(%x: f32[2,3], %y: f32[2]) {
               %d = aten.diagonal.default(%x, 1, 0, 1)
               %c = aten.copy_.default(%d, %y)
               return %x })",
                                                R"(method @m(%x: f32[2,3], %y: f32[2]) {
               %d = aten.diagonal.default(%x, 1, 0, 1)
               %c = aten.diagonal_scatter.default(%x, %y, 1, 0, 1)
               return %c })"},
                                           Case{"ADiagonalOfOneNumber",
                                                R"(method @m(%x: f32[2,3]) {
               %a = aten.fill_diagonal_.default(%x, 7, false)
               return %x })",
                                                R"(method @m(%x: f32[2,3]) {
               %0 = aten.full.default([2], 7, dtype=f32)
               %a = aten.diagonal_scatter.default(%x, %0, 0, 0, 1)
               return %a })"},
                                           Case{"PowHasAnotherOverload",
                                                R"(method @m(%x: f32[2]) {
               %a = aten.pow_.Scalar(%x, 3)
               return %a })",
                                                R"(method @m(%x: f32[2]) {
               %a = aten.pow.Tensor_Scalar(%x, 3)
               return %a })"},
                                           Case{"TheSourceOfACopyChangesLater",
                                                R"(method @m(%x: f32[2], %y: f32[2]) {
               %a = aten.copy_.default(%x, %y)
               %b = aten.neg_.default(%y)
               return %x, %y })",
                                                R"(method @m(%x: f32[2], %y: f32[2]) {
               %b = aten.neg.default(%y)
               return %y, %b })"},
                                           Case{"CopyFormsOfViewsBecomeViews",
                                                R"(method @m(%x: f32[2,3]) {
               %a = aten.permute_copy.default(%x, [1, 0])
               %b = aten.view_copy.default(%a, [6])
               return %b })",
                                                R"(method @m(%x: f32[2,3]) {
               %a = aten.permute.default(%x, [1, 0])
               %b = aten.view.default(%a, [6])
               return %b })"}),
                         name_of_case<Case>);

// The operators of ExecuTorch's decoders.
TEST(FunctionalizeCaches, RowsAreWrittenByIndex) {
  EXPECT_EQ(after_pass(functionalize, R"(method @m(%x: f32[1,3,2,4], %i: i64[1,3]) {
    %s = state @state.cache : f32[1,9,2,4]
    %u = llama.update_cache.default(%x, %s, 2)
    %v = llama.update_cache_with_indices.default(%x, %s, 0, %i)
    %y = aten.neg.default(%s)
    return %y })"),
            expected(R"(method @m(%x: f32[1,3,2,4], %i: i64[1,3]) {
    %s = state @state.cache : f32[1,9,2,4]
    %n = aten.arange.default(3)
    %p = aten.add.Scalar(%n, 2)
    %u = aten.index_put.default(%s, [none, %p], %x)
    %q = aten.squeeze.dim(%i, 0)
    %v = aten.index_put.default(%u, [none, %q], %x)
    %y = aten.neg.default(%v)
    write %v to %s
    return %y })"));
}

TEST(FunctionalizeCaches, AttentionReadsWhatItWrote) {
  EXPECT_EQ(after_pass(functionalize, R"(method @m(%q: f32[1,1,4,4], %k: f32[1,1,2,4]) {
    %s = state @state.keys : f32[1,9,2,4]
    %t = state @state.values : f32[1,9,2,4]
    %y = llama.sdpa_with_kv_cache.default(%q, %k, %k, %s, %t, 2, 1, none, 0.0, true)
    return %y })"),
            expected(R"(method @m(%q: f32[1,1,4,4], %k: f32[1,1,2,4]) {
    %s = state @state.keys : f32[1,9,2,4]
    %t = state @state.values : f32[1,9,2,4]
    %n = aten.arange.default(1)
    %p = aten.add.Scalar(%n, 2)
    %u = aten.index_put.default(%s, [none, %p], %k)
    %m = aten.arange.default(1)
    %r = aten.add.Scalar(%m, 2)
    %v = aten.index_put.default(%t, [none, %r], %k)
    %y = llama.custom_sdpa.default(%q, %u, %v, 2, none, 0.0, true)
    write %u to %s
    write %v to %t
    return %y })"));
}

TEST(FunctionalizeState, AParameterThatIsWrittenBecomesState) {
  const std::string after = after_pass(functionalize, R"(method @m() {
    %s = constant @count : i64[]
    %a = aten.add_.Scalar(%s, 1)
    return })");
  EXPECT_THAT(after, HasSubstr("%count = state @count : i64[]"));
  EXPECT_THAT(after, HasSubstr("write %0 to %count"));
}

TEST(FunctionalizeErrors, RefusesAWriteThroughAnExpandedTensor) {
  EXPECT_THAT(pass_error(functionalize, R"(method @m(%x: f32[1,3]) {
                %e = aten.expand.default(%x, [2, 3])
                %w = aten.neg_.default(%e)
                return %x })"),
              HasSubstr("a write through the view of node 'e' "
                        "(aten.expand.default) is not supported"));
}

TEST(FunctionalizeErrors, RefusesDiagonalsOfCubesAndThoseThatStartAnew) {
  EXPECT_THAT(pass_error(functionalize, R"(method @m(%x: f32[3,3,3]) {
                %w = aten.fill_diagonal_.default(%x, 1, false)
                return %x })"),
              HasSubstr("f32[3,3,3] is not a matrix of known size"));
  EXPECT_THAT(pass_error(functionalize, R"(method @m(%x: f32[7,3]) {
                %w = aten.fill_diagonal_.default(%x, 1, true)
                return %x })"),
              HasSubstr("a diagonal that starts anew is not supported"));
}

// Each write in constant time, and views of views without a stack as deep as they are.
TEST(FunctionalizeLongChains, OfWritesAndOfViews) {
  constexpr int kMany = 20'000;
  std::string writes = "method @m(%x: f32[4]) {\n  %v0 = aten.neg.default(%x)\n";
  std::string views = writes, relus = writes;
  for (int i = 1; i <= kMany; ++i) {
    const std::string to = "  %v" + std::to_string(i), from = "(%v" + std::to_string(i - 1);
    writes += to + " = aten.relu_.default" + from + ")\n";
    relus += to + " = aten.relu.default" + from + ")\n";
    views += to + " = aten.view.default" + from + ", [4])\n";
  }
  const std::string last = std::to_string(kMany);
  EXPECT_EQ(after_pass(functionalize, writes + "  return %v" + last + " }"),
            expected(relus + "  return %v" + last + " }"));
  const std::string viewed = after_pass(
      functionalize, views + "  %w = aten.relu_.default(%v0)\n  return %v" + last + " }");
  // The last view, made anew of what was written, behind as many of the old ones.
  EXPECT_THAT(viewed, HasSubstr("%20002 = aten.relu.default(%1)"));
  EXPECT_THAT(viewed, HasSubstr("return %40002"));
}

// Such a slice is in no normal form: its dim may count from the end.
TEST(FunctionalizeSlices, BoundsAndStepsMayBeComputed) {
  for (const char* slice : {"(%x, -1, %n, none, 2)", "(%x, 1, none, none, %n)"}) {
    const std::string text = std::string("method @m<s: 1..3>(%q: f32[s], %x: f32[4,8]) {\n") +
                             "  %n = aten.sym_size.int(%q, 0)\n  %v = aten.slice.Tensor" + slice +
                             "\n  %w = aten.";
    const std::string after = ".default(%x)\n  return %w }";
    EXPECT_EQ(after_pass(functionalize, text + "relu_" + after), expected(text + "relu" + after));
  }
}

// A thousand views of views and a thousand writes through all of them would be a million nodes.
TEST(FunctionalizeLongChains, RefusesMoreNodesThanTheGraphIsWorth) {
  std::string text = "method @m(%x: f32[4]) {\n  %v0 = aten.neg.default(%x)\n";
  for (int i = 1; i <= 1000; ++i) {
    text +=
        "  %v" + std::to_string(i) + " = aten.view.default(%v" + std::to_string(i - 1) + ", [4])\n";
  }
  for (int i = 0; i < 1000; ++i) {
    text += "  %w" + std::to_string(i) + " = aten.relu_.default(%v1000)\n";
  }
  EXPECT_THAT(pass_error(functionalize, text + "  return %v0 }"),
              HasSubstr("writes through views of views become more than 64 nodes"));
}

}  // namespace
}  // namespace petrel::exir
