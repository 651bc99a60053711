// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/remove_identities.h"

#include <string>

#include "exir/pass/framework/pass_case.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

std::string method(const std::string& body) {
  return "method @m(%x: f32[2,1,3], %e: f32[0], %i: i64[4]) {" + body + "}";
}

using Case = PassCase;

class RemoveIdentities : public ::testing::TestWithParam<Case> {};

TEST_P(RemoveIdentities, KeepsWhatDoesSomething) {
  EXPECT_EQ(after_pass(remove_identities, method(GetParam().before)),
            expected(method(GetParam().after)));
}

INSTANTIATE_TEST_SUITE_P(
    All, RemoveIdentities,
    ::testing::Values(
        Case{"AChainOfThem",
             "%a = aten.dropout.default(%x, 0.5, false) "
             "%b = aten.clone.default(%a) %c = aten.detach.default(%b) "
             "%d = aten.contiguous.default(%c) "
             "%e2 = aten.lift_fresh.default(%d) "
             "%f = aten.neg.default(%e2) return %f",
             "%f = aten.neg.default(%x) return %f"},
        Case{"ACastToTheSameDtype",
             "%a = aten.to.dtype(%x, f32, false, true) "
             "%b = aten._to_copy.default(%a, dtype=f32) "
             "%c = aten.type_as.default(%b, %x) return %c",
             "return %x"},
        Case{"ARealCast", "%a = aten.to.dtype(%x, f16) return %a",
             "%a = aten._to_copy.default(%x, dtype=f16) return %a"},
        Case{"ACastLike",
             "%h = aten.to.dtype_layout(%x, dtype=f16, layout=0) "
             "%a = aten.to.other(%x, %h) return %a",
             "%h = aten._to_copy.default(%x, dtype=f16) "
             "%a = aten._to_copy.default(%x, dtype=f16) return %a"},
        Case{"ATensorOfANumberThatIsRead",
             "%a = aten.slice.Tensor(%i, 0, 1, 2) "
             "%n = aten._local_scalar_dense.default(%a) : int "
             "%t = aten.scalar_tensor.default(%n, i64) "
             "%d = aten.scalar_tensor.default(%n, f64) return %t, %d",
             "%a = aten.slice.Tensor(%i, 0, 1, 2) "
             "%n = aten._local_scalar_dense.default(%a) : int "
             "%t = aten.view.default(%a, []) "
             "%v = aten.view.default(%a, []) "
             "%d = aten._to_copy.default(%v, dtype=f64) return %t, %d"},
        Case{"ViewsOfViews",
             "%a = aten.view.default(%x, [6]) "
             "%b = aten.view.default(%a, [3, 2]) return %a, %b",
             "%a = aten.view.default(%x, [6]) "
             "%b = aten.view.default(%x, [3, 2]) return %a, %b"},
        Case{"ViewBackAgain",
             "%a = aten.view.default(%x, [6]) "
             "%b = aten.view.default(%a, [2, 1, 3]) return %b",
             "%a = aten.view.default(%x, [6]) return %x"},
        Case{"PermutationsOfPermutations",
             "%a = aten.permute.default(%x, [2, 0, 1]) "
             "%b = aten.permute.default(%a, [2, 0, 1]) return %b",
             "%a = aten.permute.default(%x, [2, 0, 1]) "
             "%b = aten.permute.default(%x, [1, 2, 0]) return %b"},
        Case{"InversePermutations",
             "%a = aten.permute.default(%x, [2, 0, 1]) "
             "%b = aten.permute.default(%a, [1, 2, 0]) return %b",
             "%a = aten.permute.default(%x, [2, 0, 1]) return %x"},
        Case{"APermutationOfDimsOfSizeOneIsAView",
             "%a = aten.permute.default(%x, [1, 0, 2]) return %a",
             "%a = aten.view.default(%x, [1, 2, 3]) return %a"},
        Case{"NoOps",
             "%a = aten.constant_pad_nd.default(%x, [0, 0, 0, 0]) "
             "%b = aten.slice.Tensor(%a, 2, 0, 3, 1) "
             "%c = aten.expand.default(%b, [2, 1, 3]) "
             "%d = aten.repeat.default(%c, [1, 1, 1, 1]) "
             "%f = aten.neg.default(%d) return %f",
             "%d = aten.view.default(%x, [1, 2, 1, 3]) "
             "%f = aten.neg.default(%d) return %f"},
        Case{"APadThatPads", "%a = aten.constant_pad_nd.default(%x, [0, 1]) return %a",
             "%a = aten.constant_pad_nd.default(%x, [0, 1]) return %a"},
        Case{"APadThatCropsAsMuchAsItAdds",
             "%a = aten.constant_pad_nd.default(%x, [1, -1]) return %a",
             "%a = aten.constant_pad_nd.default(%x, [1, -1]) return %a"},
        Case{"CatOfOne", "%a = aten.cat.default([%x], 1) return %a", "return %x"},
        Case{"CatDropsEmptyParts", "%a = aten.cat.default([%e, %x, %x], -1) return %a",
             "%a = aten.cat.default([%x, %x], 2) return %a"},
        Case{"Concat", "%a = aten.concat.default([%x, %x], 1) return %a",
             "%a = aten.cat.default([%x, %x], 1) return %a"},
        Case{"NeutralNumbers",
             "%a = aten.mul.Scalar(%x, 1) %b = aten.div.Scalar(%a, 1.0) "
             "%c = aten.sub.Scalar(%b, 0, 1) %d = aten.exp.default(%c) return %d",
             "%d = aten.exp.default(%x) return %d"},
        Case{"TwoNegations", "%a = aten.neg.default(%x) %b = aten.neg.default(%a) return %b",
             "%a = aten.neg.default(%x) return %x"},
        Case{"ThreeNegations",
             "%a = aten.neg.default(%x) %b = aten.neg.default(%a) "
             "%c = aten.neg.default(%b) return %c",
             "%a = aten.neg.default(%x) %c = aten.neg.default(%x) return %c"},
        Case{"IntegersOfIntegers", "%a = aten.mul.Scalar(%i, 1) return %a", "return %i"},
        Case{"OtherNumbers", "%a = aten.mul.Scalar(%x, -1) %b = aten.div.Scalar(%a, 2) return %b",
             "%a = aten.mul.Scalar(%x, -1) %b = aten.div.Scalar(%a, 2) return %b"},
        Case{"NumbersThatDecideTheType",
             "%a = aten.mul.Scalar(%i, 1.0) %b = aten.div.Scalar(%i, 1) return %a, %b",
             "%a = aten.mul.Scalar(%i, 1.0) %b = aten.div.Scalar(%i, 1) return %a, %b"},
        Case{"ZerosThatAreAdded",
             "%a = aten.add.Scalar(%x, 0, 1) %b = aten.sub.Scalar(%a, -0.0, 1) "
             "%c = aten.sub.Scalar(%b, 0, -1) return %c",
             "%a = aten.add.Scalar(%x, 0, 1) %b = aten.sub.Scalar(%a, -0.0, 1) "
             "%c = aten.sub.Scalar(%b, 0, -1) return %c"}),
    name_of_case<Case>);

TEST(RemoveIdentities, DropoutStaysUnlessItDropsNothing) {
  const std::string text = "method @m(%x: f32[2]) { %y, %m = aten.native_dropout.default(%x, ";
  const std::string drops = text + "0.5, none) return %y }";
  EXPECT_EQ(after_pass(remove_identities, drops), expected(drops));
  for (const char* rest : {"0.5, false)", "0, none)"}) {
    EXPECT_EQ(after_pass(remove_identities, text + rest + " return %y }"),
              expected("method @m(%x: f32[2]) { return %x }"));
  }
}

// n and m are the same at every sample point. The view checks at run time that
// they are, the slice takes less where m is less.
TEST(RemoveIdentities, KeepsWhatIsOneAtSamplePointsOnly) {
  const std::string text =
      "method @m<m: 1..16 at 16|1|2|5|7|10|12|14, n: 1..16 at 16|1|2|5|7|10|12|14>"
      "(%x: f32[n,6], %y: f32[m,6]) {"
      "  %k = aten.sym_size.int(%y, 0)"
      "  %a = aten.view.default(%x, [%k, 6])"
      "  %b = aten.slice.Tensor(%x, 0, 0, %k)"
      "  return %a, %b }";
  EXPECT_EQ(after_pass(remove_identities, text), expected(text));
}

TEST(RemoveIdentities, TakesAwayWhatIsProvenToBeOne) {
  EXPECT_EQ(after_pass(remove_identities,
                       "method @m<n: 1..16>(%x: f32[n,6]) {"
                       "  %k = aten.sym_size.int(%x, 0)"
                       "  %d = executorch_prim.mul.Scalar(%k, 4)"
                       "  %h = executorch_prim.floordiv.Scalar(%d, 4)"
                       "  %a = aten.view.default(%x, [%h, 6])"
                       "  %b = aten.relu.default(%a)"
                       "  return %b }"),
            expected("method @m<n: 1..16>(%x: f32[n,6]) {"
                     "  %k = aten.sym_size.int(%x, 0)"
                     "  %d = executorch_prim.mul.Scalar(%k, 4)"
                     "  %h = executorch_prim.floordiv.Scalar(%d, 4)"
                     "  %b = aten.relu.default(%x)"
                     "  return %b }"));
}

}  // namespace
}  // namespace petrel::exir
