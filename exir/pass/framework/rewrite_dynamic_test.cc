// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/rewrite_dynamic.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/pass/decompose/decompose.h"
#include "exir/pass/lower/lower_to_kernels.h"
#include "exir/pass/passes/normalize_scalars.h"
#include "exir/pass/passes/normalize_views.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/lower/require_kernels.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

TEST(RewriteDynamic, LeavesOneSizeToTheView) {
  EXPECT_EQ(after_pass(normalize_views, R"(
      method @f<n: 1..16>(%x: f32[n,8]) {
        %y = aten.unsqueeze.default(%x, 1)
        %z = aten.flatten.using_ints(%y, 0, 2)
        return %z
      })"),
            expected(R"(
      method @f<n: 1..16>(%x: f32[n,8]) {
        %y = aten.view.default(%x, [-1, 1, 8])
        %z = aten.reshape.default(%y, [-1])
        return %z
      })"));
}

TEST(RewriteDynamic, ComputesTheSizesThatAViewCannotInfer) {
  EXPECT_EQ(after_pass(lower_to_kernels, R"(
      method @f<m: 1..9, n: 1..16>(%x: f32[n,m,8], %w: f32[4,8]) {
        %y = aten.linear.default(%x, %w, none)
        return %y
      })"),
            expected(R"(
      method @f<m: 1..9, n: 1..16>(%x: f32[n,m,8], %w: f32[4,8]) {
        %a = aten.view.default(%x, [-1, 8])
        %b = aten.permute.default(%w, [1, 0])
        %c = aten.mm.default(%a, %b)
        %n = aten.sym_size.int(%x, 0)
        %y = aten.view.default(%c, [%n, -1, 4])
        return %y
      })"));
}

// A window of the size of the image cannot be written.
TEST(RewriteDynamic, TakesTheLargestOfAnImageWhoseSizeVaries) {
  EXPECT_EQ(after_pass(decompose, R"(
      method @f<h: 2..16, w: 2..16>(%x: f32[1,3,h,w]) {
        %y, %i = aten.adaptive_max_pool2d.default(%x, [1, 1])
        return %y
      })"),
            expected(R"(
      method @f<h: 2..16, w: 2..16>(%x: f32[1,3,h,w]) {
        %y = aten.amax.default(%x, [2, 3], true)
        return %y
      })"));
}

TEST(RewriteDynamic, TakesALayerOfATransformerApart) {
  for (const char* mask : {"", ", %k, 1", ", %s, 0"}) {
    const std::string text = after_pass(decompose, absl::StrCat(R"(
      method @f<b: 1..4, n: 2..9>(%x: f32[b,n,4], %k: f32[b,n], %s: bool[n,n], %w: f32[12,4],
                                  %c: f32[12], %p: f32[4,4], %d: f32[4]) {
        %y = aten._transformer_encoder_layer_fwd.default(%x, 4, 2, %w, %c, %p, %d, true, false,
                                                         1e-05, %d, %d, %d, %d, %p, %d, %p, %d)",
                                                                mask, R"()
        return %y
      })"));
    EXPECT_EQ(text.find("encoder_layer"), std::string::npos) << text;
  }
}

TEST(RewriteDynamic, ComputesBoundsOfSlices) {
  EXPECT_EQ(after_pass(normalize_views, R"(
      method @f<n: 1..16>(%x: f32[n,8]) {
        %a, %b = aten.split_with_sizes.default(%x, [3, 5], 1)
        %c = aten.select.int(%x, 0, -1)
        return %a, %b, %c
      })"),
            expected(R"(
      method @f<n: 1..16>(%x: f32[n,8]) {
        %a = aten.slice.Tensor(%x, 1, 0, 3, 1)
        %b = aten.slice.Tensor(%x, 1, 3, 8, 1)
        %n = aten.sym_size.int(%x, 0)
        %last = executorch_prim.add.Scalar(%n, -1)
        %s = aten.slice.Tensor(%x, 0, %last, 9223372036854775807, 1)
        %c = aten.view.default(%s, [8])
        return %a, %b, %c
      })"));
}

// min(n, 998) is n for nearly all n.
TEST(RewriteDynamic, TakesNoSizeForAnotherThatIsItForMost) {
  EXPECT_EQ(after_pass(normalize_views, R"(
      method @f<n: 2..1000>(%x: f32[n,min(n, 998)]) {
        %c = aten.select.int(%x, 1, -1)
        return %c
      })"),
            expected(R"(
      method @f<n: 2..1000>(%x: f32[n,min(n, 998)]) {
        %n = aten.sym_size.int(%x, 1)
        %last = executorch_prim.add.Scalar(%n, -1)
        %s = aten.slice.Tensor(%x, 1, %last, 9223372036854775807, 1)
        %c = aten.view.default(%s, [-1])
        return %c
      })"));
}

// min(n, 3) is 3 but for the smallest n.
TEST(RewriteDynamic, TakesNoPlaceForFixedThatIsSoForMost) {
  EXPECT_EQ(after_pass(normalize_views, R"(
      method @f<n: 2..1000>(%x: f32[min(n, 3),8]) {
        %c = aten.select.int(%x, 0, -2)
        return %c
      })"),
            expected(R"(
      method @f<n: 2..1000>(%x: f32[min(n, 3),8]) {
        %n = aten.sym_size.int(%x, 0)
        %start = executorch_prim.add.Scalar(%n, -2)
        %m = aten.sym_size.int(%x, 0)
        %end = executorch_prim.add.Scalar(%m, -1)
        %s = aten.slice.Tensor(%x, 0, %start, %end, 1)
        %c = aten.view.default(%s, [8])
        return %c
      })"));
}

// What `row` makes of the only node of a method; no text where it leaves the node.
std::string after_row(RewriteFn row, const std::string& text) {
  std::unique_ptr<Graph> graph = graph_of(text);
  if (graph == nullptr) return "bad text";
  const std::string before = plain_text(*graph);
  const auto changed = rewrite_dynamic(*graph, *graph->node_pointers()[0], row);
  EXPECT_TRUE(changed.ok()) << changed.status();
  if (changed.ok() && *changed) return plain_text(*graph);
  EXPECT_EQ(plain_text(*graph), before);
  return "";
}

constexpr const char* kRelu = R"(
      method @f<n: 2..1000>(%x: f32[n,8]) {
        %y = aten.relu.default(%x)
        return %y
      })";

// Columns moved by one: where they are cut is in no type.
absl::StatusOr<bool> roll_columns(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const rules::Size columns = sizes_of(x)[1];
  PETREL_ASSIGN_OR_RETURN(Value * last, b.slice(x, 1, columns - 1, columns));
  PETREL_ASSIGN_OR_RETURN(Value * others, b.slice(x, 1, 0, columns - 1));
  return done(b, node, b.call(aten::cat, {std::vector<Value*>{last, others}, 1}));
}

TEST(RewriteDynamic, ComputesFromTheSizeThatIsMeant) {
  EXPECT_EQ(after_row(roll_columns, R"(
      method @f<n: 2..1000>(%x: f32[n,min(n, 998)]) {
        %y = aten.relu.default(%x)
        return %y
      })"),
            expected(R"(
      method @f<n: 2..1000>(%x: f32[n,min(n, 998)]) {
        %n = aten.sym_size.int(%x, 1)
        %a = executorch_prim.add.Scalar(%n, -1)
        %last = aten.slice.Tensor(%x, 1, %a, 9223372036854775807, 1)
        %m = aten.sym_size.int(%x, 1)
        %b = executorch_prim.add.Scalar(%m, -1)
        %others = aten.slice.Tensor(%x, 1, 0, %b, 1)
        %y = aten.cat.default([%last, %others], 1)
        return %y
      })"));
}

absl::StatusOr<bool> scaled(Builder& b, Node& node, const rules::Size& factor) {
  return done(b, node, b.call(aten::mul_Scalar, {tensor_at(node, arg::self), factor}));
}

rules::Size rows_of(const Node& node) { return sizes_of(tensor_at(node, arg::self))[0]; }

// A limit that only the largest sizes reach is computed, too.
absl::StatusOr<bool> halve_rows_up_to_a_limit(Builder& b, Node& node) {
  return scaled(b, node, smallest(rows_of(node) / 2, 499));
}

TEST(RewriteDynamic, ComputesMinimaOfWhatIsDivided) {
  EXPECT_EQ(after_row(halve_rows_up_to_a_limit, kRelu), expected(R"(
      method @f<n: 2..1000>(%x: f32[n,8]) {
        %n = aten.sym_size.int(%x, 0)
        %half = executorch_prim.floordiv.Scalar(%n, 2)
        %s = executorch_prim.sym_min.Scalar(499, %half)
        %y = aten.mul.Scalar(%x, %s)
        return %y
      })"));
}

// A branch that one size of a thousand takes.
template <int64_t limit>
absl::StatusOr<bool> another_factor_beyond(Builder& b, Node& node) {
  return scaled(b, node, rows_of(node) > limit ? rules::Size(3) : rules::Size(2));
}

TEST(RewriteDynamic, LeavesWhatBranchesByASize) {
  EXPECT_EQ(after_row(another_factor_beyond<999>, kRelu), "");
  EXPECT_EQ(after_row(another_factor_beyond<2>, kRelu), "");
  EXPECT_EQ(after_row(another_factor_beyond<637>, kRelu), "");
  EXPECT_NE(after_row(another_factor_beyond<1000>, kRelu), "");
  EXPECT_NE(after_row(another_factor_beyond<1>, kRelu), "");
}

// Branches that write the same are one: 2 is n where n is 2.
absl::StatusOr<bool> rows_or_two(Builder& b, Node& node) {
  const rules::Size rows = rows_of(node);
  return scaled(b, node, rows == 2 ? rules::Size(2) : rows);
}

TEST(RewriteDynamic, TakesBranchesThatDoTheSame) {
  EXPECT_EQ(after_row(rows_or_two, kRelu), expected(R"(
      method @f<n: 2..1000>(%x: f32[n,8]) {
        %n = aten.sym_size.int(%x, 0)
        %y = aten.mul.Scalar(%x, %n)
        return %y
      })"));
}

// As many steps as a size has bits: another number at 513 and above.
absl::StatusOr<bool> steps_by_size(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  for (int64_t i = 1; rows_of(node) > i; i *= 2) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::neg, {x}));
  }
  return done(b, node, x);
}

TEST(RewriteDynamic, LeavesWhatTakesAsManyStepsAsASizeSays) {
  EXPECT_EQ(after_row(steps_by_size, kRelu), "");
  EXPECT_NE(after_row(steps_by_size, R"(
      method @f<n: 257..512>(%x: f32[n,8]) {
        %y = aten.relu.default(%x)
        return %y
      })"),
            "");
}

// Two sizes of the same values at many points are two.
absl::StatusOr<bool> once_if_square(Builder& b, Node& node) {
  const rules::Sizes sizes = sizes_of(tensor_at(node, arg::self));
  return scaled(b, node, sizes[0] == sizes[1] ? rules::Size(1) : rules::Size(2));
}

TEST(RewriteDynamic, TellsSizesApartThatAreNotProvenToBeEqual) {
  EXPECT_EQ(after_row(once_if_square, R"(
      method @f<n: 2..1000000>(%x: f32[n,min(n, 999998)]) {
        %y = aten.relu.default(%x)
        return %y
      })"),
            "");
  EXPECT_NE(after_row(once_if_square, R"(
      method @f<n: 2..1000000>(%x: f32[n,n]) {
        %y = aten.relu.default(%x)
        return %y
      })"),
            "");
}

// min(n, 3) is 3 but for the smallest n.
TEST(RewriteDynamic, TakesNoSizeForFixedThatIsSoForMost) {
  const auto add_rows = [](Builder& b, Node& node) -> absl::StatusOr<bool> {
    return done(b, node, b.call(aten::add_Scalar, {tensor_at(node, arg::self), rows_of(node)}));
  };
  EXPECT_EQ(after_row(add_rows, R"(
      method @f<n: 2..1000>(%x: f32[min(n, 3),8]) {
        %y = aten.relu.default(%x)
        return %y
      })"),
            expected(R"(
      method @f<n: 2..1000>(%x: f32[min(n, 3),8]) {
        %n = aten.sym_size.int(%x, 0)
        %y = aten.add.Scalar(%x, %n)
        return %y
      })"));
}

// A row that takes the number of rows for a constant.
absl::StatusOr<bool> divide_by_rows(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * rows,
                          b.scalar(static_cast<double>(rows_of(node)), ScalarType::kFloat));
  return done(b, node, b.binary(aten::div_Tensor, x, rows));
}

TEST(RewriteDynamic, LeavesWhatWouldTakeASizeForAConstant) {
  EXPECT_EQ(after_row(divide_by_rows, kRelu), "");
}

// A bound that is negative for some sizes counts from the end there.
template <int64_t less>
absl::StatusOr<bool> rows_from_the_end(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const rules::Size rows = rows_of(node);
  PETREL_ASSIGN_OR_RETURN(Value * last, b.slice(x, 0, rows - less, rows));
  PETREL_ASSIGN_OR_RETURN(Value * others, b.slice(x, 0, 0, rows - less));
  return done(b, node, b.call(aten::cat, {std::vector<Value*>{last, others}, 0}));
}

TEST(RewriteDynamic, LeavesBoundsThatMayCountFromTheEnd) {
  EXPECT_NE(after_row(rows_from_the_end<2>, kRelu), "");
  EXPECT_EQ(after_row(rows_from_the_end<3>, kRelu), "");
}

TEST(RewriteDynamic, MakesTensorsOfSizes) {
  EXPECT_EQ(after_pass(normalize_scalars, R"(
      method @f<n: 2..9>(%c: bool[n], %x: f32[n], %n: int(n)) {
        %y = aten.where.ScalarOther(%c, %x, %n)
        return %y
      })"),
            expected(R"(
      method @f<n: 2..9>(%c: bool[n], %x: f32[n], %n: int(n)) {
        %f = aten.full.default([], %n, f32)
        %y = aten.where.self(%c, %x, %f)
        return %y
      })"));
  EXPECT_EQ(after_pass(decompose, R"(
      method @f<n: 2..9>(%x: f32[n], %n: int(n)) {
        %y = aten.full_like.default(%x, %n)
        return %y
      })"),
            expected(R"(
      method @f<n: 2..9>(%x: f32[n], %n: int(n)) {
        %y = aten.full.default([%n], %n, f32)
        return %y
      })"));
}

// As many steps as the largest size takes.
TEST(RewriteDynamic, TakesRunningProductsOfAnyLength) {
  EXPECT_EQ(after_pass(decompose, R"(
      method @f<n: 2..3>(%x: f32[n]) {
        %y = aten.cumprod.default(%x, 0)
        return %y
      })"),
            expected(R"(
      method @f<n: 2..3>(%x: f32[n]) {
        %n = aten.sym_size.int(%x, 0)
        %a = executorch_prim.add.Scalar(%n, -1)
        %s = aten.slice.Tensor(%x, 0, 0, %a, 1)
        %p = aten.constant_pad_nd.default(%s, [1, 0], 1.0)
        %z = aten.mul.Tensor(%p, %x)
        %m = aten.sym_size.int(%x, 0)
        %b = executorch_prim.add.Scalar(%m, -2)
        %t = aten.slice.Tensor(%z, 0, 0, %b, 1)
        %q = aten.constant_pad_nd.default(%t, [2, 0], 1.0)
        %y = aten.mul.Tensor(%q, %z)
        return %y
      })"));
}

// What is known to be below nothing is cut, beside amounts that nobody knows.
TEST(RewriteDynamic, CutsWherePaddingIsNegative) {
  EXPECT_EQ(after_pass(decompose, R"(
      method @f(%x: f32[4, 3]) {
        %y = aten.constant_pad_nd.default(%x, [-1, 2, 0, -3], 2.0)
        %z = aten.constant_pad_nd.default(%x, [-1, 0], 2.0)
        return %y, %z
      })"),
            expected(R"(
      method @f(%x: f32[4, 3]) {
        %a = aten.slice.Tensor(%x, 1, 1, 3, 1)
        %b = aten.slice.Tensor(%a, 0, 0, 1, 1)
        %y = aten.constant_pad_nd.default(%b, [0, 2, 0, 0], 2.0)
        %z = aten.slice.Tensor(%x, 1, 1, 3, 1)
        return %y, %z
      })"));
  EXPECT_EQ(after_pass(decompose, R"(
      method @f<n: 2..9>(%x: f32[n, 3], %n: int(n), %k: int(9 - n)) {
        %y = aten.constant_pad_nd.default(%x, [-1, 1, %k, %n], 2.0)
        return %y
      })"),
            expected(R"(
      method @f<n: 2..9>(%x: f32[n, 3], %n: int(n), %k: int(9 - n)) {
        %s = aten.slice.Tensor(%x, 1, 1, 3, 1)
        %y = aten.constant_pad_nd.default(%s, [0, 1, %k, %n], 2.0)
        return %y
      })"));
}

TEST(RewriteDynamic, TakesPlacesThatFollowFromSizes) {
  EXPECT_EQ(after_pass(decompose, R"(
      method @f<n: 3..9>(%x: f32[n], %k: int(n - 1)) {
        %y, %i = aten.kthvalue.default(%x, %k, 0)
        return %y, %i
      })"),
            expected(R"(
      method @f<n: 3..9>(%x: f32[n], %k: int(n - 1)) {
        %v, %p = aten.topk.default(%x, %k, 0, false, true)
        %a = executorch_prim.add.Scalar(%k, -1)
        %s = aten.slice.Tensor(%v, 0, %a, 9223372036854775807, 1)
        %y = aten.view.default(%s, [])
        %b = executorch_prim.add.Scalar(%k, -1)
        %t = aten.slice.Tensor(%p, 0, %b, 9223372036854775807, 1)
        %i = aten.view.default(%t, [])
        return %y, %i
      })"));
}

// Numbers that are computed at run time are read like sizes, or not at all.
TEST(RewriteDynamic, LeavesRowsThatNeedAWrittenNumber) {
  const auto read = [](Builder& b, Node& node) -> absl::StatusOr<bool> {
    const int64_t dim = fixed_int(node.argument(arg::diagonal));
    return done(b, node, b.call(aten::tril, {tensor_at(node, arg::self), dim}));
  };
  EXPECT_EQ(after_row(read, R"(
      method @f<n: 2..9>(%x: f32[n,8], %n: int(n)) {
        %y = aten.triu.default(%x, %n)
        return %y
      })"),
            "");
}

TEST(RequireKernels, NamesTheDimThatVaries) {
  EXPECT_NE(pass_error(require_kernels, R"(
      method @f<n: 1..16>(%x: f32[n,8]) {
        %y = aten.flatten.using_ints(%x, 0, 1)
        return %y
      })")
                .find("node 'y': dim 0 of 'x' varies; export it with a fixed "
                      "size"),
            std::string::npos);
}

}  // namespace
}  // namespace petrel::exir
