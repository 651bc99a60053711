// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/normalize_views.h"

#include <string>

#include "exir/pass/framework/pass_case.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

std::string method(const std::string& body) {
  return "method @m(%x: f32[2,3,4], %v: f32[6], %w: f32[2]) {" + body + "}";
}

using Case = PassCase;

class NormalizeViews : public ::testing::TestWithParam<Case> {};

TEST_P(NormalizeViews, GivesTheFiveKinds) {
  EXPECT_EQ(after_pass(normalize_views, method(GetParam().before)),
            expected(method(GetParam().after)));
}

INSTANTIATE_TEST_SUITE_P(
    All, NormalizeViews,
    ::testing::Values(
        Case{"ViewWildcard", "%y = aten.view.default(%x, [-1, 4]) return %y",
             "%y = aten.view.default(%x, [6, 4]) return %y"},
        Case{"ViewToTheSame", "%y = aten.view.default(%x, [2, 3, -1]) return %y", "return %x"},
        Case{"Unsqueeze", "%y = aten.unsqueeze.default(%v, -1) return %y",
             "%y = aten.view.default(%v, [6, 1]) return %y"},
        Case{"SqueezeAll",
             "%a = aten.view.default(%v, [1, 6, 1]) "
             "%y = aten.squeeze.default(%a) return %y",
             "%a = aten.view.default(%v, [1, 6, 1]) "
             "%y = aten.view.default(%a, [6]) return %y"},
        Case{"SqueezeOfALargeDimIsNothing", "%y = aten.squeeze.dim(%x, 0) return %y", "return %x"},
        Case{"SqueezeInPlaceIsAView",
             "%a = aten.view.default(%v, [1, 6]) "
             "%y = aten.squeeze_.dim(%a, 0) return %y",
             "%a = aten.view.default(%v, [1, 6]) "
             "%y = aten.view.default(%a, [6]) return %y"},
        Case{"FlattenMayCopy", "%y = aten.flatten.using_ints(%x, 1) return %y",
             "%y = aten.reshape.default(%x, [2, 12]) return %y"},
        Case{"ReshapeWildcard", "%y = aten.reshape.default(%x, [-1, 12]) return %y",
             "%y = aten.reshape.default(%x, [2, 12]) return %y"},
        Case{"Unflatten", "%y = aten.unflatten.int(%v, 0, [2, -1]) return %y",
             "%y = aten.view.default(%v, [2, 3]) return %y"},
        Case{"TransposeNegative", "%y = aten.transpose.int(%x, -1, 0) return %y",
             "%y = aten.permute.default(%x, [2, 1, 0]) return %y"},
        Case{"TransposeOfADimWithItself", "%y = aten.transpose.int(%x, 1, -2) return %y",
             "return %x"},
        Case{"TOfAVector", "%y = aten.t.default(%v) return %y", "return %v"},
        Case{"PermuteNegative", "%y = aten.permute.default(%x, [-1, 0, 1]) return %y",
             "%y = aten.permute.default(%x, [2, 0, 1]) return %y"},
        Case{"MoveDim", "%y = aten.movedim.int(%x, 0, -1) return %y",
             "%y = aten.permute.default(%x, [1, 2, 0]) return %y"},
        Case{"MoveDims", "%y = aten.movedim.intlist(%x, [0, 1], [-1, 0]) return %y",
             "%y = aten.permute.default(%x, [1, 2, 0]) return %y"},
        Case{"MatrixTranspose", "%y = aten.mT.default(%x) return %y",
             "%y = aten.permute.default(%x, [0, 2, 1]) return %y"},
        Case{"ExpandKeepsWithMinusOne",
             "%a = aten.view.default(%v, [6, 1]) "
             "%y = aten.expand.default(%a, [2, -1, 5]) return %y",
             "%a = aten.view.default(%v, [6, 1]) "
             "%y = aten.expand.default(%a, [2, 6, 5]) return %y"},
        Case{"SliceClamps",
             "%y = aten.slice.Tensor(%x, -1, -3, 9223372036854775807) "
             "return %y",
             "%y = aten.slice.Tensor(%x, 2, 1, 4, 1) return %y"},
        Case{"SliceBehindTheEndIsEmpty", "%y = aten.slice.Tensor(%x, 1, 3, 2) return %y",
             "%y = aten.slice.Tensor(%x, 1, 3, 3, 1) return %y"},
        Case{"WholeSlice", "%y = aten.slice.Tensor(%x, 1) return %y", "return %x"},
        Case{"Steps", "%y = aten.slice.Tensor(%x, 2, none, none, 2) return %y",
             "%y = aten.slice.Tensor(%x, 2, 0, 4, 2) return %y"},
        Case{"SelectLast", "%y = aten.select.int(%x, 1, -1) return %y",
             "%s = aten.slice.Tensor(%x, 1, 2, 3, 1) "
             "%y = aten.view.default(%s, [2, 4]) return %y"},
        Case{"Narrow", "%y = aten.narrow.default(%x, 2, 1, 2) return %y",
             "%y = aten.slice.Tensor(%x, 2, 1, 3, 1) return %y"},
        Case{"SplitDropsUnusedParts", "%a, %b = aten.split.Tensor(%x, 2, 1) return %b",
             "%b = aten.slice.Tensor(%x, 1, 2, 3, 1) return %b"},
        Case{"SplitWithSizes",
             "%a, %b = aten.split_with_sizes.default(%x, [1, 3], -1) "
             "return %a, %b",
             "%a = aten.slice.Tensor(%x, 2, 0, 1, 1) "
             "%b = aten.slice.Tensor(%x, 2, 1, 4, 1) return %a, %b"},
        Case{"ChunkTakesCeilSizes", "%a, %b = aten.chunk.default(%x, 2, 1) return %a, %b",
             "%a = aten.slice.Tensor(%x, 1, 0, 2, 1) "
             "%b = aten.slice.Tensor(%x, 1, 2, 3, 1) return %a, %b"},
        Case{"TensorSplitAtIndices",
             "%a, %b, %c = aten.tensor_split.indices(%v, [1, -2]) "
             "return %a, %b, %c",
             "%a = aten.slice.Tensor(%v, 0, 0, 1, 1) "
             "%b = aten.slice.Tensor(%v, 0, 1, 4, 1) "
             "%c = aten.slice.Tensor(%v, 0, 4, 6, 1) return %a, %b, %c"},
        Case{"TensorSplitOverlapping",
             "%a, %b, %c = aten.tensor_split.indices(%v, [4, 2]) "
             "return %a, %b, %c",
             "%a = aten.slice.Tensor(%v, 0, 0, 4, 1) "
             "%b = aten.slice.Tensor(%v, 0, 4, 4, 1) "
             "%c = aten.slice.Tensor(%v, 0, 2, 6, 1) return %a, %b, %c"},
        Case{"Unbind", "%a, %b = aten.unbind.int(%x) return %a, %b",
             "%s = aten.slice.Tensor(%x, 0, 0, 1, 1) "
             "%a = aten.view.default(%s, [3, 4]) "
             "%t = aten.slice.Tensor(%x, 0, 1, 2, 1) "
             "%b = aten.view.default(%t, [3, 4]) return %a, %b"},
        Case{"MeshgridByColumns",
             "%a, %b = aten.meshgrid.indexing([%v, %w], \"xy\") "
             "return %a, %b",
             "%c = aten.view.default(%v, [1, 6]) "
             "%a = aten.expand.default(%c, [2, 6]) "
             "%d = aten.view.default(%w, [2, 1]) "
             "%b = aten.expand.default(%d, [2, 6]) return %a, %b"}),
    name_of_case<Case>);

}  // namespace
}  // namespace petrel::exir
