// SPDX-License-Identifier: Apache-2.0
//
// Calls that no rule takes, and what is said of each.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/ir/graph.h"
#include "exir/ir/text.h"
#include "exir/ops/table.h"

namespace petrel::exir {
namespace {

struct Wrong {
  const char* call;     // the node, results of any type
  const char* message;  // part of the error
};

constexpr Wrong kWrong[] = {
    {"aten.add.Tensor(%a, %b, 1)", "[4,5] do not broadcast"},
    {"aten.conv2d.default(%x, %w, none, [0,0], [0,0], [1,1], 1)",
     "argument 'stride' has 0, must be in [1, 2^31)"},
    {"aten.conv2d.default(%x, %w, none, [1,1], [0,0], [1,1], 0)", "argument 'groups' is 0"},
    {"aten.conv2d.default(%x, %w, none, [1,1], [-1,0], [1,1], 1)", "argument 'padding' has -1"},
    {"aten.conv2d.default(%x, %w, none, [1,1], [0,0], [9,9], 1)", "does not fit dim 2 of 8"},
    {"aten.max_pool2d.default(%x, [0,2], [], [0,0], [1,1], false)", "argument 'kernel_size' has 0"},
    {"aten.view.default(%a, [-1,-1])", "more than one -1"},
    {"aten.view.default(%a, [4])", "do not hold 6 elements"},
    {"aten.view.default(%a, [4194305,4194305,211106198978564])", "not sizes of a tensor"},
    {"aten.expand.default(%a, [2147483647,2147483647,2,3], false)", "more than 2^63 bytes"},
    {"aten.slice.Tensor(%a, 0, 0, 1, 0)", "argument 'step' is 0"},
    {"aten.select.int(%a, 0, 2)", "argument 'index' is 2"},
    {"aten.select.int(%a, 2, 0)", "argument 'dim' is 2"},
    {"aten.split.Tensor(%a, 0, 0)", "into parts of 0"},
    {"aten.softmax.int(%a, 7, none)", "argument 'dim' is 7"},
    {"aten.sum.dim_IntList(%a, [0,-2], false, none)", "dimension 0 twice"},
    {"aten.arange.start_step(0, 5, 0, none, none, none, none)", "in steps of 0"},
    {"aten.linear.default(%a, %b, none)", "do not multiply"},
    {"aten.dropout.default(%a, 0.5, true)", "in training mode"},
    {"aten.batch_norm.default(%x, none, none, none, none, false, 0.1, 0.1,"
     " true)",
     "neither training"},
    {"aten.add.Tensor(none, %b, 1)", "argument 'self' is none"},
    {"aten.add.Tensor(%a, %b, \"x\")", "argument 'alpha' has the wrong kind"},
    {"aten.upsample_nearest2d.vec(%x, none, [inf,1.0])", "argument 'scale_factors' has inf"},
    {"aten.upsample_nearest2d.vec(%x, none, [nan,1.0])", "has nan"},
    // What decompositions take for granted.
    {"aten.logcumsumexp.default(%a, 2)", "argument 'dim' is 2, must be in [-2, 2)"},
    {"aten.flip.default(%a, [2147483648])", "argument 'dims' is 2147483648"},
    {"aten.triu.default(%v)", "argument 'self' has rank 1, must be at least 2"},
    {"aten.channel_shuffle.default(%x, 2)", "argument 'groups' is 2, must divide"},
    {"aten.index_copy.default(%a, 2147483648, %i, %a)", "argument 'dim' is 2147483648"},
    {"aten.index_add.default(%a, 0, %i, %b)", "must be f32[4,3]"},
    {"aten.index_fill.int_Scalar(%a, 0, %b, 1)", "an index is f32"},
    {"aten.prelu.default(%a, %v)", "argument 'weight' is [4], must be [3] or [1]"},
    {"aten.silu.default(%i)", "a tensor is i64, must be of floats"},
    {"aten.glu.default(%i)", "a tensor is i64, must be of floats"},
    {"aten.hypot.default(%i, %i)", "its tensors are i64, must be of floats"},
    {"aten.lerp.Scalar(%i, %i, 0.5)", "a tensor is i64, must be of floats"},
    {"aten.kl_div.default(%v, %i)", "a tensor is i64, must be of floats"},
    {"aten.hinge_embedding_loss.default(%i, %v)", "a loss of i64"},
    {"aten.cosine_similarity.default(%i, %i, 0)", "arguments are i64, must be of floats"},
    {"aten.linalg_cross.default(%a, %i)", "do not broadcast"},
    {"aten.linalg_vecdot.default(%o, %o)", "arguments are bool, must be numbers"},
    {"aten.cdist.default(%j, %j)", "a tensor is i64, must be of floats"},
    {"aten._weight_norm.default(%a, %b)", "do not broadcast"},
    {"aten.bucketize.Tensor(%v, %a)", "argument 'boundaries' has rank 2, must be 1"},
    {"aten.searchsorted.Tensor(%a, %v)", "which does not fit [4]"},
    {"aten.scaled_dot_product_attention.default(%x, %a, %a, none, 0.0, false, none, true)",
     "do not fit"},
    {"aten.scaled_dot_product_attention.default(%c, %c, %c, none, 0.0, false, none, true)",
     "need a dim of heads"},
    {"aten.index_put.default(%a, [%k], %j, false)", "argument 'values' is i64, must be f32"},
    {"aten.masked_fill.Tensor(%a, %o, %v)", "argument 'value' has rank 1, must be 0"},
    {"aten.masked_scatter.default(%a, %o, %j)", "argument 'source' is i64, must be f32"},
    {"aten.slice_scatter.default(%v, %n, 0, 0, 4, 1)", "argument 'src' is [], must be [4]"},
    {"aten.slice_scatter.default(%a, %l, 0, 0, 2, 1)", "argument 'src' is [1,3], must be [2,3]"},
    {"aten.slice_scatter.default(%a, %j, 0, 0, 2, 1)", "argument 'src' is i64, must be f32"},
    {"aten.slice_scatter.default(%v, %v, 0, 0, 4, 2147483648)",
     "argument 'step' is 2147483648, must be in [1, 2^31)"},
    {"aten.slice.Tensor(%v, 0, 1, 4, 9223372036854775807)", "must be in [1, 2^31)"},
    {"aten.select_scatter.default(%a, %n, 0, 1)", "argument 'src' is [], must be [3]"},
    {"aten.select_scatter.default(%j, %c, 0, 1)", "argument 'src' is f32, must be i64"},
    {"aten.diagonal_scatter.default(%a, %n)", "argument 'src' is [], must be [2]"},
    {"aten.affine_grid_generator.default(%a, [2,1,4,4], true)", "must be floats [2,2,3]"},
    {"aten.constant_pad_nd.default(%a, [5,-4])", "cuts more from dim 1 than its size 3"},
    {"torchao.choose_qparams_affine.default(none, \"SYMMETRIC\", [], i8)",
     "argument 'input' is none"},
    {"aten.arange.start_step(-9223372036854775808, 9223372036854775807, 3)", "in steps of 3"},
    {"aten.arange.start_step(0, 9223372036854775807, 9223372036854775807)", "in steps of"},
    {"aten.index_put.default(%a, [%v], %a, false)", "an index is f32"},
    {"aten.convolution.default(%p, %e, none, [1], [0], [1], true, [0], 4611686018427387904)",
     "argument 'groups' is 4611686018427387904"},
    {"aten.einsum.default(\"....->\", [%c])", "has '....', must be letters and at most one ..."},
    {"aten.einsum.default(\"a...b...->a\", [%a])", "has 'a...b...', must be letters"},
    {"aten.einsum.default(\"ab->.\", [%a])", "has '.', must be letters"},
    {"aten.einsum.default(\"9b->9\", [%a])", "has '9b', must be letters"},
    {"aten.einsum.default(\"ab->aa\", [%a])", "has 'a' twice in its result"},
    {"aten.einsum.default(\"ab->c\", [%a])", "has no operand with 'c'"},
    {"aten.einsum.default(\"ab,b\", [%a])", "does not name 1 operands"},
    {"aten.einsum.default(\"abc\", [%a])", "gives operand 0 3 dimensions, it has 2"},
    {"aten.reflection_pad2d.default(%x, [])", "argument 'padding' has 0 items, must have 4"},
    {"aten.reflection_pad1d.default(%a, [0,0,-1,0])", "has 4 items, must have 2"},
    {"aten.replication_pad2d.default(%v, [1,1,1,1])", "argument 'self' has rank 1, must be 3 or 4"},
    {"aten.pad.default(%v, [1,1,1,1], \"circular\")", "argument 'self' has rank 1, must be 3 or 4"},
    {"aten.upsample_nearest2d.vec(%y, none, [2.0])", "argument 'input' has rank 3, must be 4"},
    {"aten.upsample_bilinear2d.default(%y, [8,8], false)", "argument 'self' has rank 3, must be 4"},
    {"aten.native_group_norm.default(%x, none, none, 1000, 3, 64, 1, 0.1)",
     "arguments 'N', 'C' and 'HxW' are 1000, 3 and 64, argument 'input' is [1,3,8,8]"},
    {"aten.native_group_norm.default(%x, none, none, 1, 3, 65, 1, 0.1)",
     "arguments 'N', 'C' and 'HxW' are 1, 3 and 65, argument 'input' is [1,3,8,8]"},
    {"quantized_decomposed.embedding_byte.default(%q, %z, none, -128, 127, %i)",
     "argument 'weight_scales' has 0 groups, must divide rows of 3"},
    {"quantized_decomposed.embedding_byte.default(%q, %t, none, -128, 127, %i)",
     "argument 'weight_scales' has 2 groups, must divide rows of 3"},
    {"quantized_decomposed.embedding_byte.default(%q, %v, %c, -128, 127, %i)",
     "argument 'weight_zero_points' is [3,3], must be [4]"},
    {"quantized_decomposed.embedding_byte.default(%q, %v, none, -128, 127, %v)",
     "an index is f32, must be i64 or i32"},
    {"aten.clamp.Tensor(%v, none, none)", "neither argument 'min' nor 'max' is given"},
    {"aten.clip.Tensor(%v, none, none)", "neither argument 'min' nor 'max' is given"},
    {"aten.histc.default(%i, 4, 0, 1)", "argument 'self' is i64, must be floating point"},
    {"aten.histc.default(%v, 0, 0, 1)", "argument 'bins' is 0, must be in [1, 2^31 - 1)"},
    {"aten.histc.default(%v, 2147483647, 0, 1)", "argument 'bins' is 2147483647"},
    {"aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default(%a, %n, %n, %v, -128, "
     "127)",
     "argument 'fake_quant_enabled' has 4 elements, must have 1"},
    {"aten.histc.default(%v, 4, 2, 1)", "argument 'max' is 1, must be finite and at least 'min'"},
    {"aten.histc.default(%v, 4, nan, 1)", "must be finite and at least 'min', nan"},
    {"aten.histc.default(%v, 4, 0, 1e300)", "argument 'max' is 1e+300, must be finite"},
    {"aten._is_all_true.default(%v)", "argument 'self' is f32, must be bool"},
    {"aten._grouped_mm.default(%c, %m, %k, none, none)",
     "argument 'offs' is [2], must have one end for each of 5 groups"},
    {"aten._grouped_mm.default(%c, %m, %a, none, none)", "an index is f32"},
    {"aten._grouped_mm.default(%c, %m, none, none, none)", "ranks are 2 and 3, must be 3 and 3"},
    {"aten._grouped_mm.default(%c, %c, %k, none, none)", "ranks are 2 and 2, must be 2 and 3"},
    {"aten._grouped_mm.default(%c, %m, %h, %v, none)", "argument 'bias' must be none"},
    {"aten._grouped_mm.default(%c, %m, %h, none, f64)", "must be the dtype of 'self'"},
    {"aten._grouped_mm.default(%j, %m, %h, none, none)", "rows are i64 and matrices f32"},
    {"transformers.grouped_mm_fallback.default(%t, %m, %h)",
     "sizes [4,2] and [5,3,2] do not multiply in groups"},
    {"transformers.grouped_mm_fallback.default(%x, %m, %h)", "ranks are 4 and 3"},
    // What generated C takes for granted: it has no checks of sizes.
    {"aten.gather.default(%a, 0, %g, false)",
     "argument 'index' is [1,100], which does not lie in argument 'self' [2,3]"},
    {"aten.gather.default(%x, 0, %j, false)", "does not lie in argument 'self' [1,3,8,8]"},
    {"aten.scatter.src(%c, 0, %k, %c)", "'index' is [2], which does not lie in"},
    {"aten.scatter.src(%a, 0, %a, %a)", "an index is f32, must be i64 or i32"},
    {"aten.scatter.src(%a, 0, %j, %j)", "argument 'src' is i64, must be f32"},
    {"aten.scatter.src(%a, 0, %j, %l)", "which does not lie in argument 'src' [1,3]"},
    {"aten.scatter.value(%a, 0, %g, 1)", "which does not lie in argument 'self'"},
    {"aten.scatter.value(%a, 2, %j, 1)", "argument 'dim' is 2"},
    {"aten.scatter_add.default(%a, 0, %j, %v)", "which does not lie in argument 'src' [4]"},
    {"aten.scatter_reduce.two(%a, 0, %i, %a, \"sum\", true)", "does not lie in argument 'self'"},
    {"aten.fill.Tensor(%a, %d)", "argument 'value' has 0 elements, must have one"},
    {"aten.fill.Tensor(%a, %v)", "argument 'value' has 4 elements, must have one"},
    {"aten.roll.default(%a, [1,1], [0])", "'shifts' has 2 items, must have 1 as there are 1"},
    {"aten.roll.default(%a, [1,1], [])", "'shifts' has 2 items, must have 1 as there are 0"},
    {"aten.roll.default(%a, [], [])", "'shifts' has 0 items"},
    {"aten.roll.default(%n, [1], [0])", "argument 'self' has no dims"},
    {"aten.conv2d.default(%x, %w, %f, [1,1], [0,0], [1,1], 1)",
     "argument 'bias' is bool[4], must be f32[4]"},
    {"aten.replication_pad1d.default(%x, [1,1])", "argument 'self' has rank 4, must be 2 or 3"},
    {"aten._native_batch_norm_legit.no_stats(%x, none, none, false, 0.1, 0.1)",
     "neither training nor given a mean"},
    {"aten._adaptive_avg_pool2d.default(%x, [0,2])", "argument 'output_size' has 0"},
    {"aten.upsample_nearest2d.vec(%x, [5], none)", "'output_size' has 1 items, must have 2"},
    {"aten.flip.default(%a, [0,-2])", "argument 'dims' has dimension 0 twice"},
    {"aten.gelu.default(%a, \"other\")", "is 'other', must be 'none' or 'tanh'"},
    {"aten.bitwise_not.default(%a)", "argument 'self' is f32, must be integers or bool"},
    {"aten.div.Scalar_mode(%a, 2, \"other\")", "is 'other', must be 'trunc' or 'floor'"},
};

TEST(RefusedCalls, NameTheArgumentThatDoesNotFit) {
  for (const Wrong& wrong : kWrong) {
    const std::string text = absl::StrCat(
        "method @m(%a: f32[2,3], %b: f32[4,5], %x: f32[1,3,8,8], "
        "%w: f32[4,3,3,3], %v: f32[4], %i: i64[4], %j: i64[2,3], %o: bool[3], %c: f32[3,3], "
        "%k: i64[2], %n: f32[], %l: f32[1,3], %y: f32[1,1,4], %q: i8[4,3], "
        "%z: f32[4,0], %t: f32[4,2], %p: f32[1,0,5], %e: f32[0,4,1], "
        "%g: i64[1,100], %d: f32[0], %f: bool[4], %m: f32[5,3,2], %h: i64[5]) {\n  %r = ",
        wrong.call, " : f32[1]\n  return %r\n}\n");
    const auto graph = parse_graph(text, find_op, nullptr);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const Node& node = *(*graph)->nodes().front();
    const auto inferred = node.op().infer(node.op(), node.arguments());
    ASSERT_FALSE(inferred.ok()) << wrong.call;
    EXPECT_TRUE(absl::StrContains(inferred.status().message(), wrong.message))
        << wrong.call << ": " << inferred.status();
  }
}

// Passes read them where they stand, as they do not read sizes.
TEST(RefusedCalls, WhatASchemaCallsAnIntOrAFloatIsWrittenInTheProgram) {
  const auto error_of = [](const std::string& call) {
    const auto graph = parse_graph(
        "method @m<s: 1..3>(%x: f32[s,4,4], %c: f32[3,3], %v: f32[8]) {\n"
        "  %n = aten.sym_size.int(%x, 0)\n  %r = " +
            call + " : f32[1]\n  return %r\n}\n",
        find_op, nullptr);
    if (!graph.ok()) return std::string(graph.status().message());
    const Node& node = *(*graph)->nodes().back();
    return std::string(node.op().infer(node.op(), node.arguments()).status().message());
  };
  for (const auto& [name, call] : std::vector<std::pair<std::string, std::string>>{
           {"dims", "aten.permute.default(%c, [%n,0])"},
           {"dim", "aten.softmax.int(%c, %n, none)"},
           {"step", "aten.unfold.default(%v, 0, 2, %n)"},
           {"size", "aten.unfold.default(%v, 0, %n, 1)"},
           {"kernel_size", "aten.max_pool2d.default(%x, [%n,2])"},
           {"eps", "aten.layer_norm.default(%c, [3], none, none, %n)"}}) {
    EXPECT_TRUE(absl::StrContains(
        error_of(call), absl::StrCat("argument '", name, "' is computed at run time as 'n'")))
        << call << ": " << error_of(call);
  }
  for (const char* call : {"aten.slice.Tensor(%v, 0, 0, %n, %n)", "aten.mul.Scalar(%c, %n)",
                           "aten.expand.default(%c, [%n,3,3])"}) {
    EXPECT_EQ(error_of(call), "") << call;
  }
}

}  // namespace
}  // namespace petrel::exir
