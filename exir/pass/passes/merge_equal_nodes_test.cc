// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/merge_equal_nodes.h"

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/pass/framework/pass_case.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

TEST(MergeEqualNodes, MergesChainsFromTheirBeginning) {
  EXPECT_EQ(after_pass(merge_equal_nodes, R"(method @m(%x: f32[4,3], %i: i64[1,2]) {
              %a = aten.expand.default(%i, [3, 2])
              %b = aten.gather.default(%x, 0, %a)
              %c = aten.expand.default(%i, [3, 2])
              %d = aten.gather.default(%x, 0, %c)
              %e = aten.add.Tensor(%b, %d)
              return %e })"),
            expected(R"(method @m(%x: f32[4,3], %i: i64[1,2]) {
              %a = aten.expand.default(%i, [3, 2])
              %b = aten.gather.default(%x, 0, %a)
              %e = aten.add.Tensor(%b, %b)
              return %e })"));
}

TEST(MergeEqualNodes, MergesAllResultsOfANodeAndOutputs) {
  EXPECT_EQ(after_pass(merge_equal_nodes, R"(method @m(%x: f32[4,3]) {
              %a, %i = aten.max.dim(%x, 0)
              %b, %j = aten.max.dim(%x, 0)
              return %a, %j })"),
            expected(R"(method @m(%x: f32[4,3]) {
              %a, %i = aten.max.dim(%x, 0)
              return %a, %i })"));
}

TEST(MergeEqualNodes, MergesNumbersThatAreProvenEqual) {
  EXPECT_EQ(
      after_pass(merge_equal_nodes, R"(method @m<m: 1..9, n: 1..9>(%x: f32[n,6], %y: f32[m,6]) {
              %n = aten.sym_size.int(%x, 0)
              %t = aten.permute.default(%x, [1, 0])
              %k = aten.sym_size.int(%t, 1)
              %d = executorch_prim.mul.Scalar(%k, 2)
              %m = aten.sym_size.int(%y, 0)
              %e = executorch_prim.mul.Scalar(%n, 2)
              %a = aten.view.default(%t, [%d, 3])
              %b = aten.view.default(%x, [%e, 3])
              %c = aten.view.default(%y, [%m, 2, 3])
              return %a, %b, %c })"),
      expected(R"(method @m<m: 1..9, n: 1..9>(%x: f32[n,6], %y: f32[m,6]) {
              %n = aten.sym_size.int(%x, 0)
              %t = aten.permute.default(%x, [1, 0])
              %d = executorch_prim.mul.Scalar(%n, 2)
              %m = aten.sym_size.int(%y, 0)
              %a = aten.view.default(%t, [%d, 3])
              %b = aten.view.default(%x, [%d, 3])
              %c = aten.view.default(%y, [%m, 2, 3])
              return %a, %b, %c })"));
}

TEST(MergeEqualNodes, KeepsWhatDiffersInANumberOrATypeOrTheSignOfZero) {
  constexpr char kText[] = R"(method @m(%x: f32[4,3]) {
    %a = aten.sum.dim_IntList(%x, [0])
    %b = aten.sum.dim_IntList(%x, [1])
    %c = aten.add.Scalar(%x, 0.0)
    %d = aten.add.Scalar(%x, -0.0)
    %e = aten._to_copy.default(%x, f16)
    %f = aten._to_copy.default(%x, f64)
    return %a, %b, %c, %d, %e, %f })";
  EXPECT_EQ(after_pass(merge_equal_nodes, kText), expected(kText));
}

TEST(MergeEqualNodes, KeepsEveryDrawOfRandomNumbers) {
  constexpr char kText[] = R"(method @m(%x: f32[4,3]) {
    %a, %i = aten.native_dropout.default(%x, 0.5, none)
    %b, %j = aten.native_dropout.default(%x, 0.5, none)
    %c = aten.rand.default([4])
    %d = aten.rand.default([4])
    return %a, %b, %c, %d })";
  EXPECT_EQ(after_pass(merge_equal_nodes, kText), expected(kText));
}

// Nodes that differ in a size alone, which data decides: far less time than all pairs take.
TEST(MergeEqualNodes, FindsNodesAmongManyThatDifferInASize) {
  constexpr int kMany = 12'000;
  std::string symbols, nodes;
  for (int i = 0; i < kMany; ++i) {
    absl::StrAppend(&symbols, i == 0 ? "" : ", ", "u", i, ": 0..9");
    absl::StrAppend(&nodes, "%z", i, " = aten.nonzero.default(%x) : i64[u", i, ",2]\n");
  }
  const auto graph = graph_of(absl::StrCat("method @m<", symbols, ">(%x: f32[3,3]) {\n", nodes,
                                           "return %z0, %z", kMany - 1, " }"));
  ASSERT_NE(graph, nullptr);
  const auto start = std::chrono::steady_clock::now();
  const auto changed = merge_equal_nodes(*graph, PassContext());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_FALSE(*changed);
  EXPECT_LT(seconds.count(), 3);
}

TEST(MergeEqualNodes, KeepsChecks) {
  constexpr char kText[] = R"(method @m(%x: f32[2]) {
    aten._assert_async.msg(%x, "true")
    aten._assert_async.msg(%x, "true")
    return })";
  EXPECT_EQ(after_pass(merge_equal_nodes, kText), expected(kText));
}

}  // namespace
}  // namespace petrel::exir
