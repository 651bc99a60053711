// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/normalize_convolutions.h"

#include <string>

#include "exir/pass/framework/pass_case.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

std::string method(const std::string& body) {
  return "method @m(%x: f32[1,4,9,9], %u: f32[4,9,9], %s: f32[1,4,9]) {"
         "%w = constant @w : f32[8,4,3,3] "
         "%e = constant @e : f32[8,4,2,3] "
         "%d = constant @d : f32[8,2,3,3] "
         "%t = constant @t : f32[4,3,3,3] "
         "%v = constant @v : f32[8,4,4] "
         "%b = constant @b : f32[8] " +
         body + "}";
}

using Case = PassCase;

class NormalizeConvolutions : public ::testing::TestWithParam<Case> {};

TEST_P(NormalizeConvolutions, GivesOneOperator) {
  EXPECT_EQ(after_pass(normalize_convolutions, method(GetParam().before)),
            expected(method(GetParam().after)));
}

INSTANTIATE_TEST_SUITE_P(
    All, NormalizeConvolutions,
    ::testing::Values(
        Case{"Plain", "%y = aten.conv2d.default(%x, %w, %b, [2, 2], [1, 1]) return %y",
             "%y = aten.convolution.default(%x, %w, %b, [2, 2], [1, 1], "
             "[1, 1], false, [0, 0], 1) return %y"},
        Case{"ShortLists", "%y = aten.conv2d.default(%x, %w, none, [2], [1]) return %y",
             "%y = aten.convolution.default(%x, %w, none, [2, 2], [1, 1], "
             "[1, 1], false, [0, 0], 1) return %y"},
        Case{"ShortListsOfAConvolution",
             "%y = aten.convolution.default(%x, %w, none, [2], [1], [1], "
             "false, [0], 1) return %y",
             "%y = aten.convolution.default(%x, %w, none, [2, 2], [1, 1], "
             "[1, 1], false, [0, 0], 1) return %y"},
        Case{"Groups",
             "%y = aten.conv2d.default(%x, %d, none, [1, 1], [0, 0], [1, 1], "
             "2) return %y",
             "%y = aten.convolution.default(%x, %d, none, [1, 1], [0, 0], "
             "[1, 1], false, [0, 0], 2) return %y"},
        Case{"NoBatch", "%y = aten.conv2d.default(%u, %w) return %y",
             "%a = aten.view.default(%u, [1, 4, 9, 9]) "
             "%c = aten.convolution.default(%a, %w, none, [1, 1], [0, 0], "
             "[1, 1], false, [0, 0], 1) "
             "%y = aten.view.default(%c, [8, 7, 7]) return %y"},
        Case{"Valid",
             "%y = aten.conv2d.padding(%x, %w, none, [1, 1], \"valid\") "
             "return %y",
             "%y = aten.convolution.default(%x, %w, none, [1, 1], [0, 0], "
             "[1, 1], false, [0, 0], 1) return %y"},
        Case{"SameSymmetric",
             "%y = aten.conv2d.padding(%x, %w, none, [1, 1], \"same\", "
             "[2, 1]) return %y",
             "%y = aten.convolution.default(%x, %w, none, [1, 1], [2, 1], "
             "[2, 1], false, [0, 0], 1) return %y"},
        // A window of 2 needs one row more, below.
        Case{"SameAsymmetric",
             "%y = aten.conv2d.padding(%x, %e, none, [1, 1], \"same\") "
             "return %y",
             "%p = aten.constant_pad_nd.default(%x, [0, 0, 0, 1], 0) "
             "%y = aten.convolution.default(%p, %e, none, [1, 1], [0, 1], "
             "[1, 1], false, [0, 0], 1) return %y"},
        Case{"Signal", "%y = aten.conv1d.padding(%s, %v, %b, [1], \"same\") return %y",
             "%p = aten.constant_pad_nd.default(%s, [0, 1], 0) "
             "%y = aten.convolution.default(%p, %v, %b, [1], [1], [1], "
             "false, [0], 1) return %y"},
        Case{"Transposed",
             "%y = aten.conv_transpose2d.input(%x, %t, none, [2, 2], [1, 1], "
             "[1, 1]) return %y",
             "%y = aten.convolution.default(%x, %t, none, [2, 2], [1, 1], "
             "[1, 1], true, [1, 1], 1) return %y"}),
    name_of_case<Case>);

// The padding follows from the size of the window at run time.
TEST(NormalizeConvolutionsVarying, WindowsThatAreComputedStay) {
  const std::string text =
      "method @m<k: 1..3>(%q: f32[k], %s: f32[1,4,9], %v: f32[8,4,2]) {"
      "%n = aten.sym_size.int(%q, 0) "
      "%y = aten.conv1d.padding(%s, %v, none, [1], \"same\", [%n]) return %y }";
  EXPECT_EQ(after_pass(normalize_convolutions, text), expected(text));
}

}  // namespace
}  // namespace petrel::exir
