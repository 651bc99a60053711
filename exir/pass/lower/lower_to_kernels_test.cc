// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/lower/lower_to_kernels.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/lower/require_kernels.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Case = MethodCase;

class LowerToKernels : public ::testing::TestWithParam<Case> {};

TEST_P(LowerToKernels, LeavesOnlyOperatorsWithKernels) {
  const std::string after = after_pass(lower_to_kernels, GetParam().method_before());
  EXPECT_EQ(after, expected(GetParam().method_after()));
  EXPECT_EQ(pass_error(require_kernels, GetParam().method_after()), "");
}

INSTANTIATE_TEST_SUITE_P(
    All, LowerToKernels,
    ::testing::Values(Case{"LinearWithBias", "%x: f32[2,5,3], %w: f32[4,3], %b: f32[4]",
                           "%y = aten.linear.default(%x, %w, %b) return %y",
                           "%a = aten.view.default(%x, [10, 3]) "
                           "%t = aten.permute.default(%w, [1, 0]) "
                           "%m = aten.addmm.default(%b, %a, %t) "
                           "%y = aten.view.default(%m, [2, 5, 4]) return %y"},
                      Case{"LinearWithoutBias", "%x: f32[3], %w: f32[4,3]",
                           "%y = aten.linear.default(%x, %w) return %y",
                           "%a = aten.view.default(%x, [1, 3]) "
                           "%t = aten.permute.default(%w, [1, 0]) "
                           "%m = aten.mm.default(%a, %t) "
                           "%y = aten.view.default(%m, [4]) return %y"},
                      Case{"Silu", "%x: f32[2]", "%y = aten.silu.default(%x) return %y",
                           "%s = aten.sigmoid.default(%x) "
                           "%y = aten.mul.Tensor(%x, %s) return %y"},
                      Case{"SiluRoundsToHalfOnce", "%x: f16[2]",
                           "%y = aten.silu.default(%x) return %y",
                           "%w = aten._to_copy.default(%x, f32) "
                           "%s = aten.sigmoid.default(%w) %m = aten.mul.Tensor(%w, %s) "
                           "%y = aten._to_copy.default(%m, f16) return %y"},
                      Case{"Hardswish", "%x: f32[2]", "%y = aten.hardswish.default(%x) return %y",
                           "%a = aten.add.Scalar(%x, 3) "
                           "%c = aten.clamp.default(%a, 0, 6) %m = aten.mul.Tensor(%x, %c) "
                           "%y = aten.div.Scalar(%m, 6) return %y"},
                      Case{"MaxPool", "%x: f32[1,2,8,8]",
                           "%y = aten.max_pool2d.default(%x, [2, 2], [2, 2], [0, 0], "
                           "[1, 1], false) return %y",
                           "%y, %i = aten.max_pool2d_with_indices.default(%x, [2, 2], "
                           "[2, 2], [0, 0], [1, 1], false) return %y"},
                      Case{"Attention", "%q: f32[1,2,3,4], %k: f32[1,2,5,4]",
                           "%y = aten.scaled_dot_product_attention.default(%q, %k, %k) "
                           "return %y",
                           "%s = aten.mul.Scalar(%q, 0.5) "
                           "%a = aten.view.default(%s, [2, 3, 4]) "
                           "%t = aten.permute.default(%k, [0, 1, 3, 2]) "
                           "%b = aten.view.default(%t, [2, 4, 5]) "
                           "%v = aten.view.default(%k, [2, 5, 4]) "
                           "%m = aten.bmm.default(%a, %b) "
                           "%p = aten._softmax.default(%m, 2, false) "
                           "%o = aten.bmm.default(%p, %v) "
                           "%y = aten.view.default(%o, [1, 2, 3, 4]) return %y"},
                      Case{"KernelsStay", "%x: f32[2]",
                           "%a = aten.gelu.default(%x) %b = aten.hardtanh.default(%a) "
                           "%c = aten.elu.default(%b) return %c",
                           "%a = aten.gelu.default(%x) %b = aten.hardtanh.default(%a) "
                           "%c = aten.elu.default(%b) return %c"}),
    name_of_case<Case>);

// A backend may keep an operator of any family whole and then leave it.
TEST(LowerToKernels, TakesApartWhatABackendKeptAndLeft) {
  for (const char* op :
       {"embedding_bag.default", "_embedding_bag.default", "_embedding_bag_forward_only.default"}) {
    const std::string text = after_pass(
        lower_to_kernels, std::string("method @m(%w: f32[5,2], %i: i64[6], %o: i64[3]) { "
                                      "%y, %a, %b, %c = aten.") +
                              op + "(%w, %i, %o) return %y }");
    EXPECT_THAT(text, HasSubstr("aten.embedding.default")) << op;
    EXPECT_THAT(text, Not(HasSubstr("embedding_bag"))) << op;
  }
}

// The masks: rows that see nothing give 0, a causal mask sees the top left.
TEST(LowerAttention, MasksKeepWhatTheyMean) {
  const std::string masked =
      after_pass(lower_to_kernels, R"(method @m(%q: f32[2,3,4], %m: bool[3,3]) {
        %y = aten.scaled_dot_product_attention.default(%q, %q, %q, %m)
        return %y })");
  EXPECT_THAT(masked, HasSubstr("aten.ne.Scalar"));
  EXPECT_THAT(masked, HasSubstr("aten.any.dims"));
  const std::string causal = after_pass(lower_to_kernels, R"(method @m(%q: f32[2,3,4]) {
        %y = aten.scaled_dot_product_attention.default(%q, %q, %q,
                                                       is_causal=true)
        return %y })");
  EXPECT_THAT(causal, HasSubstr("aten.full.default([3, 3], true, bool"));
  EXPECT_THAT(causal, HasSubstr("aten.tril.default"));
}

PassContext with_petrel_ops() {
  PassContext context;
  context.allow_petrel_ops = true;
  return context;
}

// Rounded up, a size is one expression where every window that hangs over begins inside.
TEST(LowerToKernels, PoolsImagesOfVaryingSizesRoundedUp) {
  for (const char* window : {"[3, 3], [2, 2], [0, 0]", "[3, 3], [2, 2], [1, 1]",
                             "[2, 2], [2, 2], [0, 0]", "[4, 4], [3, 3], [1, 1]"}) {
    const std::string text =
        after_pass(lower_to_kernels, absl::StrCat(R"(method @m<n: 4..16>(%x: f32[1,2,n,n]) {
        %y = aten.max_pool2d.default(%x, )",
                                                  window, R"(, [1, 1], true)
        return %y })"));
    EXPECT_THAT(text, HasSubstr("aten.max_pool2d_with_indices")) << window;
  }
}

TEST(LowerAttention, BecomesOneKernelWhereThatIsAllowed) {
  const std::string text = after_pass(lower_to_kernels,
                                      R"(method @m(%q: f32[8,3,4], %k: f32[2,5,4], %m: bool[3,5]) {
        %y = aten.scaled_dot_product_attention.default(
            %q, %k, %k, %m, scale=0.25, enable_gqa=true)
        return %y })",
                                      with_petrel_ops());
  EXPECT_THAT(text, HasSubstr("petrel.attention.default(%3, %4, %5, %2, false, 0.25)"));
  EXPECT_THAT(text, Not(HasSubstr("bmm")));
}

// Batches that broadcast are not for the kernel.
TEST(LowerAttention, StaysAProductOfMatricesWhereTheKernelDoesNotFit) {
  const std::string text = after_pass(lower_to_kernels,
                                      R"(method @m(%q: f32[2,2,3,4], %k: f32[1,2,5,4]) {
        %y = aten.scaled_dot_product_attention.default(%q, %k, %k)
        return %y })",
                                      with_petrel_ops());
  EXPECT_THAT(text, HasSubstr("aten.bmm.default"));
  EXPECT_THAT(text, Not(HasSubstr("petrel.attention")));
}

TEST(LowerAttention, OfALengthThatIsComputed) {
  for (const char* mask : {"none", "%f", "%b"}) {
    const std::string text =
        after_pass(lower_to_kernels, absl::StrCat(R"(method @f<b: 1..4, n: 20..400>(
            %q: f32[b,2,n//10 - 1,16], %f: f32[b,1,n//10 - 1,n//10 - 1],
            %b: bool[b,1,n//10 - 1,n//10 - 1]) {
          %y = aten.scaled_dot_product_attention.default(%q, %q, %q, )",
                                                  mask, ") return %y }"));
    EXPECT_THAT(text, HasSubstr("aten.bmm.default")) << mask;
  }
}

TEST(LowerAttention, GroupedHeadsRepeat) {
  EXPECT_THAT(after_pass(lower_to_kernels,
                         R"(method @m(%q: f32[1,8,3,4], %k: f32[1,2,3,4]) {
        %y = aten.scaled_dot_product_attention.default(%q, %k, %k,
                                                       enable_gqa=true)
        return %y })"),
              HasSubstr("aten.expand.default(%2, [1, 2, 4, 3, 4], false)"));
}

TEST(RequireKernels, NamesAllOperatorsAtOnce) {
  EXPECT_EQ(pass_error(require_kernels, R"(method @m(%x: f32[2]) {
              %a, %b = aten.sort.default(%x)
              %c, %d = aten.sort.default(%a)
              %e = aten.silu.default(%c)
              %f = aten.neg.default(%e)
              return %f })"),
            "2 operators have no kernel: aten.silu.default (1 node), "
            "aten.sort.default (2 nodes)");
}

}  // namespace
}  // namespace petrel::exir
