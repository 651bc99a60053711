// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/decompose/decompose.h"

#include <cmath>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/pass/framework/table_limit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Case = MethodCase;

class Decompose : public ::testing::TestWithParam<Case> {};

TEST_P(Decompose, GivesTheNormalForm) {
  EXPECT_EQ(after_pass(decompose, GetParam().method_before()), expected(GetParam().method_after()));
}

INSTANTIATE_TEST_SUITE_P(
    Products, Decompose,
    ::testing::Values(Case{"MatrixMatrix", "%x: f32[2,3], %y: f32[3,4]",
                           "%z = aten.matmul.default(%x, %y) return %z",
                           "%z = aten.mm.default(%x, %y) return %z"},
                      Case{"VectorVector", "%x: f32[3], %y: f32[3]",
                           "%z = aten.matmul.default(%x, %y) return %z",
                           "%b = aten.view.default(%y, [3, 1]) "
                           "%a = aten.view.default(%x, [1, 3]) "
                           "%m = aten.mm.default(%a, %b) "
                           "%z = aten.view.default(%m, []) return %z"},
                      Case{"BatchMatrix", "%x: f32[2,5,3], %y: f32[3,4]",
                           "%z = aten.matmul.default(%x, %y) return %z",
                           "%a = aten.view.default(%x, [10, 3]) "
                           "%m = aten.mm.default(%a, %y) "
                           "%z = aten.view.default(%m, [2, 5, 4]) return %z"},
                      Case{"BatchTransposedMatrixIsLinear", "%x: f32[2,5,3], %w: f32[4,3]",
                           "%t = aten.permute.default(%w, [1, 0]) "
                           "%z = aten.matmul.default(%x, %t) return %z",
                           "%t = aten.permute.default(%w, [1, 0]) "
                           "%z = aten.linear.default(%x, %w, none) return %z"},
                      Case{"BroadcastBatches", "%x: f32[7,1,2,3], %y: f32[5,3,4]",
                           "%z = aten.matmul.default(%x, %y) return %z",
                           "%a = aten.expand.default(%x, [7, 5, 2, 3]) "
                           "%c = aten.view.default(%a, [35, 2, 3]) "
                           "%b = aten.expand.default(%y, [7, 5, 3, 4]) "
                           "%d = aten.view.default(%b, [35, 3, 4]) "
                           "%m = aten.bmm.default(%c, %d) "
                           "%z = aten.view.default(%m, [7, 5, 2, 4]) return %z"},
                      Case{"VectorBatch", "%x: f32[3], %y: f32[5,3,4]",
                           "%z = aten.matmul.default(%x, %y) return %z",
                           "%v = aten.view.default(%x, [1, 3]) "
                           "%a = aten.expand.default(%v, [5, 1, 3]) "
                           "%m = aten.bmm.default(%a, %y) "
                           "%z = aten.view.default(%m, [5, 4]) return %z"},
                      Case{"EinsumOfMatrices", "%x: f32[2,3], %y: f32[4,3]",
                           "%z = aten.einsum.default(\"ij, kj -> ik\", [%x, %y]) return %z",
                           "%b = aten.permute.default(%y, [1, 0]) "
                           "%z = aten.mm.default(%x, %b) return %z"},
                      Case{"EinsumOfHeads", "%x: f32[2,3,4,5], %y: f32[2,6,4,5]",
                           "%z = aten.einsum.default(\"bqhd,bkhd->bhqk\", [%x, %y]) "
                           "return %z",
                           "%a = aten.permute.default(%x, [0, 2, 1, 3]) "
                           "%b = aten.permute.default(%y, [0, 2, 3, 1]) "
                           "%c = aten.view.default(%a, [8, 3, 5]) "
                           "%d = aten.view.default(%b, [8, 5, 6]) "
                           "%m = aten.bmm.default(%c, %d) "
                           "%z = aten.view.default(%m, [2, 4, 3, 6]) return %z"},
                      Case{"EinsumSumsWhatNobodyShares", "%x: f32[2,3], %y: f32[3,4]",
                           "%z = aten.einsum.default(\"ij,jk->k\", [%x, %y]) return %z",
                           "%s = aten.sum.dim_IntList(%x, [0]) "
                           "%a = aten.view.default(%s, [1, 3]) "
                           "%m = aten.mm.default(%a, %y) "
                           "%z = aten.view.default(%m, [4]) return %z"},
                      Case{"Baddbmm", "%s: f32[4], %x: f32[5,2,3], %y: f32[5,3,4]",
                           "%z = aten.baddbmm.default(%s, %x, %y, beta=2, alpha=0.5) "
                           "return %z",
                           "%m = aten.bmm.default(%x, %y) %n = aten.mul.Scalar(%m, 0.5) "
                           "%t = aten.mul.Scalar(%s, 2) "
                           "%z = aten.add.Tensor(%t, %n) return %z"},
                      Case{"WholeOnesStay", "%x: f32[2,3], %w: f32[4,3], %y: f32[3,4]",
                           "%a = aten.linear.default(%x, %w) "
                           "%b = aten.addmm.default(%a, %x, %y) return %b",
                           "%a = aten.linear.default(%x, %w) "
                           "%b = aten.addmm.default(%a, %x, %y) return %b"}),
    name_of_case<Case>);

// Kernels of scatter take places of 64 bits.
INSTANTIATE_TEST_SUITE_P(
    Scatters, Decompose,
    ::testing::Values(Case{"PlacesOf32Bits", "%x: f32[2,3], %i: i32[2,3], %y: f32[2,3]",
                           "%z = aten.scatter.src(%x, 0, %i, %y) return %z",
                           "%j = aten._to_copy.default(%i, dtype=i64) %z = aten.scatter.src(%x, 0, "
                           "%j, %y) return %z"},
                      Case{"PlacesOf32BitsForANumber", "%x: f32[2,3], %i: i32[2,3]",
                           "%z = aten.scatter.value(%x, 1, %i, 1.5) return %z",
                           "%j = aten._to_copy.default(%i, dtype=i64) "
                           "%z = aten.scatter.value(%x, 1, %j, 1.5) return %z"},
                      Case{"PlacesOf64BitsStay", "%x: f32[2,3], %i: i64[2,3]",
                           "%z = aten.scatter.value(%x, 1, %i, 1.5) return %z",
                           "%z = aten.scatter.value(%x, 1, %i, 1.5) return %z"}),
    name_of_case<Case>);

INSTANTIATE_TEST_SUITE_P(
    Pools, Decompose,
    ::testing::Values(Case{"MaxPoolWithoutIndices", "%x: f32[1,2,8,8]",
                           "%y, %i = aten.max_pool2d_with_indices.default(%x, [3], [2], "
                           "[1]) return %y",
                           "%y = aten.max_pool2d.default(%x, [3, 3], [2, 2], [1, 1], "
                           "[1, 1], false) return %y"},
                      Case{"MaxPoolWithIndicesStays", "%x: f32[1,2,8,8]",
                           "%y, %i = aten.max_pool2d_with_indices.default(%x, [2, 2], "
                           "[2, 2]) return %y, %i",
                           "%y, %i = aten.max_pool2d_with_indices.default(%x, [2, 2], "
                           "[2, 2]) return %y, %i"},
                      Case{"StrideIsTheKernel", "%x: f32[1,2,8,8]",
                           "%y = aten.max_pool2d.default(%x, [2, 4]) return %y",
                           "%y = aten.max_pool2d.default(%x, [2, 4], [2, 4], [0, 0], "
                           "[1, 1], false) return %y"},
                      Case{"Signal", "%x: f32[1,2,8]",
                           "%y = aten.max_pool1d.default(%x, [2], [2], [1]) return %y",
                           "%a = aten.view.default(%x, [1, 2, 1, 8]) "
                           "%p = aten.max_pool2d.default(%a, [1, 2], [1, 2], [0, 1], "
                           "[1, 1], false) "
                           "%y = aten.view.default(%p, [1, 2, 5]) return %y"},
                      Case{"AverageOfASignal", "%x: f32[2,8]",
                           "%y = aten.avg_pool1d.default(%x, [4]) return %y",
                           "%a = aten.view.default(%x, [1, 2, 1, 8]) "
                           "%p = aten.avg_pool2d.default(%a, [1, 4], [1, 4], [0, 0]) "
                           "%y = aten.view.default(%p, [2, 2]) return %y"},
                      Case{"GlobalAverage", "%x: f32[1,2,7,5]",
                           "%y = aten.adaptive_avg_pool2d.default(%x, [1, 1]) return %y",
                           "%y = aten.mean.dim(%x, [2, 3], true) return %y"},
                      Case{"AdaptiveDividing", "%x: f32[1,2,6,8]",
                           "%y = aten.adaptive_avg_pool2d.default(%x, [3, 2]) return %y",
                           "%y = aten.avg_pool2d.default(%x, [2, 4], [2, 4], [0, 0]) "
                           "return %y"},
                      Case{"AdaptiveNotDividing", "%x: f32[1,2,7,7]",
                           "%y = aten.adaptive_avg_pool2d.default(%x, [3, 3]) return %y",
                           "%y = aten._adaptive_avg_pool2d.default(%x, [3, 3]) return %y"},
                      Case{"AdaptiveToTheSame", "%x: f32[1,2,7,7]",
                           "%y = aten.adaptive_avg_pool2d.default(%x, [7, 7]) "
                           "%z = aten.neg.default(%y) return %z",
                           "%z = aten.neg.default(%x) return %z"},
                      Case{"NearestOfASignal", "%x: f32[1,2,4]",
                           "%y = aten.upsample_nearest1d.vec(%x, none, [2.0]) return %y",
                           "%a = aten.view.default(%x, [1, 2, 1, 4]) "
                           "%u = aten.upsample_nearest2d.vec(%a, none, [1.0, 2.0]) "
                           "%y = aten.view.default(%u, [1, 2, 8]) return %y"}),
    name_of_case<Case>);

INSTANTIATE_TEST_SUITE_P(
    Others, Decompose,
    ::testing::Values(
        Case{"SoftmaxCastsFirst", "%x: f16[2,3]", "%y = aten.softmax.int(%x, -1, f32) return %y",
             "%c = aten._to_copy.default(%x, dtype=f32) "
             "%y = aten._softmax.default(%c, 1, false) return %y"},
        Case{"LogSoftmax", "%x: f32[2,3]", "%y = aten.log_softmax.int(%x, 0) return %y",
             "%y = aten._log_softmax.default(%x, 0, false) return %y"},
        Case{"LayerNorm", "%x: f32[2,3,4], %w: f32[4]",
             "%y = aten.layer_norm.default(%x, [4], %w, none, 1e-12) "
             "return %y",
             "%y, %m, %r = aten.native_layer_norm.default(%x, [4], %w, none, "
             "1e-12) return %y"},
        Case{"GroupNorm", "%x: f32[2,6,4,5]", "%y = aten.group_norm.default(%x, 3) return %y",
             "%y, %m, %r = aten.native_group_norm.default(%x, none, none, 2, "
             "6, 20, 3, 1e-05) return %y"},
        Case{"InstanceNormIsAGroupPerChannel", "%x: f32[2,6,4,5]",
             "%y = aten.instance_norm.default(%x, none, none, none, none, "
             "true, 0.1, 1e-05, true) return %y",
             "%y, %m, %r = aten.native_group_norm.default(%x, none, none, 2, "
             "6, 20, 6, 1e-05) return %y"},
        Case{"RmsNormOfHalves", "%x: f16[2,4], %w: f16[4]",
             "%y = aten.rms_norm.default(%x, [4], %w, 1e-06) return %y",
             "%c = aten._to_copy.default(%x, dtype=f32) "
             "%s = aten.pow.Tensor_Scalar(%c, 2) "
             "%m = aten.mean.dim(%s, [1], true) "
             "%e = aten.add.Scalar(%m, 1e-06) %r = aten.rsqrt.default(%e) "
             "%p = aten.mul.Tensor(%c, %r) %q = aten.mul.Tensor(%p, %w) "
             "%y = aten._to_copy.default(%q, dtype=f16) return %y"},
        Case{"Relu6", "%x: f32[2]", "%y = aten.relu6.default(%x) return %y",
             "%y = aten.hardtanh.default(%x, 0, 6) return %y"},
        Case{"ActivationsStayWhole", "%x: f32[2]",
             "%a = aten.silu.default(%x) %b = aten.hardswish.default(%a) "
             "%c = aten.gelu.default(%b) %d = aten.hardsigmoid.default(%c) "
             "%e = aten.mish.default(%d) %f = aten.softplus.default(%e) "
             "%g = aten.leaky_relu.default(%f) %h = aten.elu.default(%g) "
             "return %h",
             "%a = aten.silu.default(%x) %b = aten.hardswish.default(%a) "
             "%c = aten.gelu.default(%b) %d = aten.hardsigmoid.default(%c) "
             "%e = aten.mish.default(%d) %f = aten.softplus.default(%e) "
             "%g = aten.leaky_relu.default(%f) %h = aten.elu.default(%g) "
             "return %h"},
        Case{"AttentionStaysWhole", "%q: f32[1,2,3,4]",
             "%y = aten.scaled_dot_product_attention.default(%q, %q, %q) "
             "return %y",
             "%y = aten.scaled_dot_product_attention.default(%q, %q, %q) "
             "return %y"},
        Case{"Square", "%x: f32[2]", "%y = aten.square.default(%x) return %y",
             "%y = aten.pow.Tensor_Scalar(%x, 2) return %y"},
        Case{"Addcmul", "%x: f32[2], %y: f32[2]",
             "%z = aten.addcmul.default(%x, %y, %y, value=3) return %z",
             "%m = aten.mul.Tensor(%y, %y) %n = aten.mul.Scalar(%m, 3) "
             "%z = aten.add.Tensor(%x, %n) return %z"},
        Case{"ClampMin", "%x: f32[2]", "%y = aten.clamp_min.default(%x, 0.5) return %y",
             "%y = aten.clamp.default(%x, 0.5, none) return %y"},
        Case{"PadConstant", "%x: f32[2,3]", "%y = aten.pad.default(%x, [1, 2]) return %y",
             "%y = aten.constant_pad_nd.default(%x, [1, 2], 0) return %y"},
        Case{"PadReflect", "%x: f32[1,4,4]",
             "%y = aten.pad.default(%x, [1, 2, 1, 1], \"reflect\") return %y",
             "%y = aten.reflection_pad2d.default(%x, [1, 2, 1, 1]) return %y"},
        Case{"PadCircular", "%x: f32[1,4]",
             "%y = aten.pad.default(%x, [1, 2], \"circular\") return %y",
             "%a = aten.slice.Tensor(%x, 1, 3, 4, 1) "
             "%b = aten.slice.Tensor(%x, 1, 0, 2, 1) "
             "%y = aten.cat.default([%a, %x, %b], 1) return %y"},
        Case{"Stack", "%x: f32[2,3]", "%y = aten.stack.default([%x, %x], -1) return %y",
             "%a = aten.view.default(%x, [2, 3, 1]) "
             "%b = aten.view.default(%x, [2, 3, 1]) "
             "%y = aten.cat.default([%a, %b], 2) return %y"},
        Case{"Tile", "%x: f32[2,3]", "%y = aten.tile.default(%x, [2]) return %y",
             "%y = aten.repeat.default(%x, [1, 2]) return %y"},
        Case{"EinsumSumsIntegersIn64Bits", "%x: i32[2,3]",
             "%y = aten.einsum.default(\"ij->i\", [%x]) return %y",
             "%y = aten.sum.dim_IntList(%x, [1]) return %y"},
        Case{"RepeatInterleave", "%x: f32[2,3]",
             "%y = aten.repeat_interleave.self_int(%x, 2, 0) return %y",
             "%a = aten.view.default(%x, [2, 1, 3]) "
             "%b = aten.expand.default(%a, [2, 2, 3]) "
             "%y = aten.view.default(%b, [4, 3]) return %y"},
        Case{"MeanOfAll", "%x: f32[2,3]", "%y = aten.mean.default(%x) return %y",
             "%y = aten.mean.dim(%x, [0, 1]) return %y"},
        Case{"MeanCountsFromTheEnd", "%x: f32[2,3,4]",
             "%y = aten.mean.dim(%x, [-1, -2], true) return %y",
             "%y = aten.mean.dim(%x, [2, 1], true) return %y"},
        Case{"MeanInAnotherDtype", "%x: i32[2,3]",
             "%y = aten.mean.dim(%x, [1], dtype=f32) return %y",
             "%c = aten._to_copy.default(%x, dtype=f32) "
             "%y = aten.mean.dim(%c, [1]) return %y"},
        Case{"Norm", "%x: f32[2,3]",
             "%y = aten.linalg_vector_norm.default(%x, 2, [-1], true) "
             "return %y",
             "%p = aten.pow.Tensor_Scalar(%x, 2) "
             "%s = aten.sum.dim_IntList(%p, [1], true) "
             "%y = aten.sqrt.default(%s) return %y"},
        Case{"All", "%x: bool[2,3]", "%y = aten.all.dim(%x, -1) return %y",
             "%n = aten.logical_not.default(%x) "
             "%a = aten.any.dims(%n, [1], false) "
             "%y = aten.logical_not.default(%a) return %y"},
        Case{"Std", "%x: f32[2,3]", "%y = aten.std.correction(%x, [1], correction=0) return %y",
             "%v = aten.var.correction(%x, [1], correction=0) "
             "%y = aten.sqrt.default(%v) return %y"},
        Case{"ZerosLike", "%x: f16[2,3]",
             "%y = aten.zeros_like.default(%x, memory_format=contiguous_format)"
             " return %y",
             "%y = aten.full.default([2, 3], 0, dtype=f16) return %y"},
        Case{"Arange", "",
             "%y = aten.arange.default(4) %z = aten.arange.start(1, 2.5) "
             "return %y, %z",
             "%y = aten.arange.start_step(0, 4, 1, dtype=i64) "
             "%z = aten.arange.start_step(1, 2.5, 1, dtype=f32) "
             "return %y, %z"},
        Case{"IndexCopyAlongADim", "%x: f32[2,5], %i: i64[3], %s: f32[2,3]",
             "%y = aten.index_copy.default(%x, 1, %i, %s) return %y",
             "%y = aten.index_put.default(%x, [none, %i], %s, false) "
             "return %y"},
        Case{"CopyOfAnotherDtype", "%x: f32[2,3], %s: i64[3]",
             "%y = aten.copy.default(%x, %s) return %y",
             "%c = aten._to_copy.default(%s, dtype=f32) "
             "%y = aten.expand.default(%c, [2, 3]) return %y"},
        Case{"RowBehindAMask", "%x: f32[2,3], %m: bool[2], %v: f32[3]",
             "%y = aten.index_put.default(%x, [%m], %v, false) return %y",
             "%w = aten.view.default(%m, [2, 1]) "
             "%y = aten.where.self(%w, %v, %x) return %y"},
        Case{"MaskedFillOfATensor", "%x: f32[2], %m: bool[2], %v: f64[]",
             "%y = aten.masked_fill.Tensor(%x, %m, %v) return %y",
             "%c = aten._to_copy.default(%v, dtype=f32) "
             "%y = aten.where.self(%m, %c, %x) return %y"}),
    name_of_case<Case>);

TEST(DecomposeContext, KeepsWholeWhatTheContextSays) {
  PassContext context;
  context.keep_whole = [](const OpInfo& op) {
    return op.name == "aten::square" || op.name == "aten::max_pool2d";
  };
  EXPECT_EQ(after_pass(decompose, R"(method @m(%x: f32[1,2,8,8]) {
              %a = aten.square.default(%x)
              %b = aten.max_pool2d.default(%a, [2])
              %c = aten.relu6.default(%b)
              return %c })",
                       context),
            expected(R"(method @m(%x: f32[1,2,8,8]) {
              %a = aten.square.default(%x)
              %b = aten.max_pool2d.default(%a, [2, 2], [2, 2], [0, 0], [1, 1])
              %c = aten.hardtanh.default(%b, 0, 6)
              return %c })"));
}

// What is written out step by step has few steps.
TEST(DecomposeMatrices, OfManyRowsStay) {
  for (const std::string call :
       {"aten.linalg_inv.default(%x)", "aten.linalg_det.default(%x)",
        "aten.linalg_cholesky.default(%x)", "aten.linalg_solve.default(%x, %x)"}) {
    EXPECT_THAT(after_pass(decompose, "method @m(%x: f32[17,17]) { %a = " + call + " return %a }"),
                HasSubstr(call.substr(0, call.find('('))));
  }
}

TEST(DecomposeErrors, CeluOfAlphaZeroIsRefused) {
  EXPECT_THAT(pass_error(decompose, R"(method @m(%x: f32[2,3,4]) {
                %a = aten.celu.default(%x, 0)
                return %a })"),
              HasSubstr("argument 'alpha' is 0"));
}

// A few bytes of an archive state any size, and any count of steps.
TEST(DecomposeErrors, NeitherTablesNorNodesWithoutEnd) {
  const char* const kTables[] = {
      "aten.adaptive_max_pool2d.default(%x, [5, 2147483647])",
      "aten._upsample_bicubic2d_aa.default(%x, [2147483647, 2], false, none, none)",
      "aten._upsample_nearest_exact2d.default(%x, [3, 1073741824], none, none)",
      "aten.diag_embed.default(%v, 0, -2, -1)",
      "aten.im2col.default(%l, [3000, 3000], [1, 1], [0, 0], [1, 1])",
      "aten.affine_grid_generator.default(%t, [1, 1, 1000000, 1000000], true)",
  };
  for (const std::string call : kTables) {
    const bool two = call.find("max_pool") != std::string::npos;
    EXPECT_THAT(pass_error(decompose,
                           "method @m(%x: f32[1,2,3,4], %v: f32[100000], "
                           "%l: f32[1,1,4000,4000], %t: f32[1,2,3]) {\n" +
                               std::string(two ? "%y, %i = " : "%y = ") + call + "\nreturn %y }"),
                HasSubstr("of which there may be 33554432"))
        << call;
  }
  EXPECT_THAT(pass_error(decompose, R"(method @m(%x: f32[1,2,3,4]) {
                %y = aten._upsample_nearest_exact2d.default(%x, [6, 8], 1e-300, 2.0)
                return %y })"),
              HasSubstr("scale factor 1e-300 of dim 2"));
  EXPECT_THAT(pass_error(decompose, R"(method @m(%x: f32[2000000]) {
                %y = aten.diff.default(%x, 1000000)
                return %y })"),
              HasSubstr("becomes more than 131072 nodes, which is the limit for one"));
}

// There may be none, of which slices leave as many as the rule says. Decoders with positions of
// their own find out in this way where one sequence ends.
TEST(DecomposeVarying, DifferencesOfAsManyAsThereAre) {
  const std::string after = after_pass(decompose, R"(
      method @f<n: 0..16>(%x: i64[2,n], %p: i64[2,min(1, n)], %v: f32[n]) {
        %y = aten.diff.default(%x, 1, -1, %p)
        %z = aten.diff.default(%v)
        return %y, %z
      })");
  EXPECT_THAT(after, HasSubstr("aten.sub.Tensor"));
  EXPECT_THAT(after, Not(HasSubstr("aten.diff")));
}

TEST(DecomposeVarying, CountsAndGroupsOfAnyNumberOfRows) {
  const std::string after = after_pass(decompose, R"(
      method @f<n: 0..16>(%x: f32[n], %r: f32[n,4], %w: f32[3,4,5], %e: i32[3]) {
        %y = aten.histc.default(%x, 3, 0, 2)
        %z = aten._grouped_mm.default(%r, %w, %e)
        return %y, %z
      })");
  EXPECT_THAT(after, HasSubstr("aten.scatter_add"));
  EXPECT_THAT(after, HasSubstr("aten.mm"));
  EXPECT_THAT(after, Not(HasSubstr("aten.histc")));
  EXPECT_THAT(after, Not(HasSubstr("grouped")));
}

// One element along the other dims is gone through all the same.
TEST(DecomposeErrors, ATableWithoutElementsCountsItsOtherDims) {
  EXPECT_TRUE(check_table({0, kMostTableElements}).ok());
  EXPECT_FALSE(check_table({0, kMostTableElements + 1}).ok());
  const TableScope scope;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(check_table({kMostTableElements, 0}).ok());
  EXPECT_FALSE(check_table({0}).ok());
}

// The numbers of the definition, of which eager records only those of small betas.
TEST(DecomposeNumbers, KaiserWindowsOfLargeBetasAreThoseOfTheDefinition) {
  const auto bessel = [](long double x) {
    long double sum = 1, term = 1;
    for (int k = 1; k < 2000; ++k) sum += term *= (x / 2 / k) * (x / 2 / k);
    return sum;
  };
  for (const char* text : {"0.0", "8.6", "19.9", "20.0", "20.1", "40.0", "300.0", "700.0"}) {
    const double beta = std::stod(text);
    const auto graph =
        graph_of(absl::StrCat("method @m() { %y = aten.kaiser_window.beta(21, false, ", text,
                              ", dtype=f64) return %y }"));
    ASSERT_NE(graph, nullptr);
    ASSERT_TRUE(decompose(*graph, {}).ok());
    const Value* made = graph->outputs()[0];
    ASSERT_TRUE(made->is_constant());
    const auto window = decode_constant(*made->constant());
    ASSERT_TRUE(window.ok());
    ASSERT_EQ(window->size(), 21u);
    for (size_t i = 0; i < 21; ++i) {
      const long double from_middle = (static_cast<long double>(i) - 10) / 10;
      const auto wanted = static_cast<double>(
          bessel(beta * std::sqrt(1 - from_middle * from_middle)) / bessel(beta));
      EXPECT_NEAR((*window)[i], wanted, 1e-12 * wanted) << text << " " << i;
    }
  }
}

absl::StatusOr<bool> largest_table(Builder&, Node&) {
  const absl::Status status = check_table({kMostTableElements});
  if (!status.ok()) return status;
  return false;
}
constexpr Rewrite kTableOfEach[] = {{aten::relu, largest_table}};

// A call of a few bytes for each of them.
TEST(DecomposeErrors, TablesOfAGraphHaveAnEndTogether) {
  std::string text = "method @m(%x0: f32[2]) {\n";
  for (int i = 0; i < 5; ++i) {
    const auto graph = graph_of(absl::StrCat(text, "return %x", i, " }"));
    ASSERT_NE(graph, nullptr);
    const absl::Status status = apply_rewrites(*graph, {Rewrites(kTableOfEach)}).status();
    EXPECT_EQ(status.ok(), i <= 4) << i << status;
    absl::StrAppend(&text, "%x", i + 1, " = aten.relu.default(%x", i, ")\n");
  }
  const auto graph = graph_of(absl::StrCat(text, "return %x5 }"));
  ASSERT_NE(graph, nullptr);
  EXPECT_THAT(std::string(apply_rewrites(*graph, {Rewrites(kTableOfEach)}).status().message()),
              HasSubstr("with which there are more than 134217728 in all tables of the graph"));
}

TEST(DecomposeShapes, WhatNeedsNumbersThatAreComputedStays) {
  const std::string text =
      "method @m<s: 1..3>(%t: f32[s,2,3], %x: f32[4,4]) {%n = aten.sym_size.int(%t, 0) "
      "%y, %z = aten.gradient.scalarint(%x, spacing=%n) return %y, %z }";
  EXPECT_EQ(after_pass(decompose, text), expected(text));
}

TEST(DecomposeShapes, TablesOfOneNameAreToldApart) {
  const std::string text = after_pass(decompose, R"(method @m() {
      %a = aten.tril_indices.default(3, 3, 0)
      %b = aten.tril_indices.default(2, 4, -1)
      %c = aten.tril_indices.default(3, 3, 0)
      %d = aten.triu_indices.default(3, 3, 0)
      return %a, %b, %c, %d })");
  EXPECT_THAT(text, HasSubstr("return %triangle.places, "));
}

TEST(DecomposeShapes, LinesOfAnyNumberMakeTheirProduct) {
  std::string lines = "%x";
  for (int i = 1; i < 40; ++i) absl::StrAppend(&lines, ", %x");
  const std::string text = after_pass(
      decompose, absl::StrCat("method @m(%x: f32[1]) { %y = aten.cartesian_prod.default([", lines,
                              "]) return %y }"));
  EXPECT_THAT(text, HasSubstr("f32[1,40]"));
}

TEST(DecomposeShapes, ANumberHasOneDim) {
  EXPECT_THAT(after_pass(decompose, R"(method @m(%x: f32[]) {
                %v, %i = aten.median.dim(%x, -1)
                return %v })"),
              HasSubstr("aten.topk.default"));
  EXPECT_THAT(after_pass(decompose, R"(method @m(%x: f32[]) {
                %y = aten.repeat_interleave.self_int(%x, 12, 0)
                return %y })"),
              HasSubstr("[12]) : f32[12]"));
}

// What joins nothing may have another rank.
TEST(DecomposeShapes, TheFirstDecidesWhereHstackJoins) {
  EXPECT_THAT(after_pass(decompose, R"(method @m(%x: f32[3,4], %e: f32[0]) {
                %a = aten.hstack.default([%x, %x, %e])
                return %a })"),
              HasSubstr("1) : f32[3,8]"));
}

TEST(DecomposeNorms, BatchNormInTrainingUsesTheBatch) {
  EXPECT_THAT(after_pass(decompose, R"(method @m(%x: f32[2,3]) {
                %a = aten.batch_norm.default(%x, none, none, none, none, true,
                                             0.1, 1e-05, false)
                return %a })"),
              HasSubstr("aten._native_batch_norm_legit.no_stats"));
}

}  // namespace
}  // namespace petrel::exir
