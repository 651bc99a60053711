// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/remove_neutral_numbers.h"

#include <string>

#include "exir/pass/framework/pass_case.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

struct Case {
  const char* name;
  const char* before;
  const char* after;
};

std::string method(const std::string& body) {
  return "method @m(%x: f32[2,3], %i: i64[4]) {" + body + "}";
}

class RemoveNeutralNumbers : public ::testing::TestWithParam<Case> {};

TEST_P(RemoveNeutralNumbers, KeepsWhatDoesSomething) {
  EXPECT_EQ(after_pass(remove_neutral_numbers, method(GetParam().before)),
            expected(method(GetParam().after)));
}

INSTANTIATE_TEST_SUITE_P(
    All, RemoveNeutralNumbers,
    ::testing::Values(
        Case{"AChainOfThem",
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
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace petrel::exir
