// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/rewrite_dynamic.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "exir/pass/lower/lower_to_kernels.h"
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

// min(n, 998) is n at all sample points.
TEST(RewriteDynamic, TakesNoSizeForAnotherThatAgreesAtAllSamples) {
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

// min(n, 3) is 3 at all general sample points, and 2 for the smallest n.
TEST(RewriteDynamic, TakesNoPlaceForFixedThatIsSoAtAllSamples) {
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

// Columns moved by one: where they are cut is in no type.
absl::StatusOr<bool> roll_columns(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t columns = x->tensor().sizes[1];
  PETREL_ASSIGN_OR_RETURN(Value * last, b.slice(x, 1, columns - 1, columns));
  PETREL_ASSIGN_OR_RETURN(Value * others, b.slice(x, 1, 0, columns - 1));
  return done(b, node, b.call(aten::cat, {std::vector<Value*>{last, others}, 1}));
}

TEST(RewriteDynamic, ComputesFromTheSizeThatIsMeant) {
  std::unique_ptr<Graph> graph = graph_of(R"(
      method @f<n: 2..1000>(%x: f32[n,min(n, 998)]) {
        %y = aten.relu.default(%x)
        return %y
      })");
  ASSERT_NE(graph, nullptr);
  const auto changed = rewrite_dynamic(*graph, *graph->node_pointers()[0], roll_columns);
  ASSERT_TRUE(changed.ok()) << changed.status();
  for (const auto& node : graph->nodes()) {
    if (!node->is(aten::sym_size_int)) continue;
    EXPECT_EQ(node->argument(arg::dim), Argument(int64_t{1}));
  }
}

// A row that computes with a limit of its own, which only the largest sizes reach.
absl::StatusOr<bool> halve_columns_up_to_a_limit(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t columns = x->tensor().sizes[0];
  PETREL_ASSIGN_OR_RETURN(Value * half,
                          b.call(aten::mul_Scalar, {x, std::min(columns / 2, int64_t{499})}));
  return done(b, node, half);
}

TEST(RewriteDynamic, TriesTheLargestSizes) {
  std::unique_ptr<Graph> graph = graph_of(R"(
      method @f<n: 2..1000>(%x: f32[n,8]) {
        %y = aten.relu.default(%x)
        return %y
      })");
  ASSERT_NE(graph, nullptr);
  const auto changed =
      rewrite_dynamic(*graph, *graph->node_pointers()[0], halve_columns_up_to_a_limit);
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_FALSE(*changed);
}

// min(n, 3) is 3 at all general sample points, and 2 for the smallest n.
absl::StatusOr<bool> add_rows(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  return done(b, node, b.call(aten::add_Scalar, {x, x->tensor().sizes[0]}));
}

TEST(RewriteDynamic, TakesNoSizeForFixedThatIsSoAtAllSamples) {
  std::unique_ptr<Graph> graph = graph_of(R"(
      method @f<n: 2..1000>(%x: f32[min(n, 3),8]) {
        %y = aten.relu.default(%x)
        return %y
      })");
  ASSERT_NE(graph, nullptr);
  const auto changed = rewrite_dynamic(*graph, *graph->node_pointers()[0], add_rows);
  ASSERT_TRUE(changed.ok()) << changed.status();
  ASSERT_TRUE(*changed);
  const Argument& rows = graph->nodes().back()->argument(arg::other);
  ASSERT_TRUE(rows.is_value());
  EXPECT_TRUE(rows.value()->producer()->is(aten::sym_size_int));
}

// A row that takes the number of rows for a constant.
absl::StatusOr<bool> divide_by_rows(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * rows,
                          b.scalar(static_cast<double>(x->tensor().sizes[0]), ScalarType::kFloat));
  return done(b, node, b.binary(aten::div_Tensor, x, rows));
}

TEST(RewriteDynamic, LeavesWhatWouldTakeASizeForAConstant) {
  std::unique_ptr<Graph> graph = graph_of(R"(
      method @f<n: 1..16>(%x: f32[n,8]) {
        %y = aten.relu.default(%x)
        return %y
      })");
  ASSERT_NE(graph, nullptr);
  const std::string before = plain_text(*graph);
  const auto changed = rewrite_dynamic(*graph, *graph->node_pointers()[0], divide_by_rows);
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_FALSE(*changed);
  EXPECT_EQ(plain_text(*graph), before);
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
