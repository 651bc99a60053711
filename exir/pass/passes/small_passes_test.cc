// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "exir/ops/table.h"
#include "exir/pass/passes/contiguous_constants.h"
#include "exir/pass/passes/drop_assertions.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/passes/remove_dead_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;

TEST(DropAssertions, DropsOnlyChecks) {
  EXPECT_EQ(after_pass(drop_assertions, R"(method @m(%x: f32[2]) {
              aten._assert_tensor_metadata.default(%x, none, none, f32)
              %y = aten.neg.default(%x)
              return %y })"),
            expected(R"(method @m(%x: f32[2]) {
              %y = aten.neg.default(%x)
              return %y })"));
}

TEST(RemoveDeadCode, DropsChainsAndTheirConstants) {
  EXPECT_EQ(after_pass(remove_dead_code, R"(method @m(%x: f32[2]) {
              %w = constant @w : f32[2]
              %counter = constant @bn.num_batches_tracked : i64[]
              %v = constant @v : f32[2]
              %a = aten.add.Tensor(%x, %w)
              %b = aten.neg.default(%a)
              %c = aten.add.Tensor(%x, %v)
              return %c })"),
            expected(R"(method @m(%x: f32[2]) {
              %v = constant @v : f32[2]
              %c = aten.add.Tensor(%x, %v)
              return %c })"));
}

TEST(RemoveDeadCode, KeepsWritesAndEffects) {
  constexpr char kText[] = R"(method @m(%x: f32[2]) {
    %s = state @state : f32[2]
    aten._assert_async.msg(%x, "true")
    %a = aten.neg.default(%x)
    write %a to %s
    return })";
  EXPECT_EQ(after_pass(remove_dead_code, kText), expected(kText));
}

TEST(RemoveDeadCode, KeepsANodeOfWhichOneResultIsUsed) {
  constexpr char kText[] = R"(method @m(%x: f32[2]) {
    %a, %b = aten.max.dim(%x, 0)
    return %b })";
  EXPECT_EQ(after_pass(remove_dead_code, kText), expected(kText));
}

// Eager draws its numbers whether they are used or not.
TEST(RemoveDeadCode, KeepsEveryDrawOfRandomNumbers) {
  constexpr char kText[] = R"(method @m(%x: f32[2]) {
    %a, %b = aten.native_dropout.default(%x, 0.5, none)
    %c = aten.randn.default([2])
    %d = aten.rand.default([2])
    return %d })";
  EXPECT_EQ(after_pass(remove_dead_code, kText), expected(kText));
}

TEST(RemoveDeadCode, KeepsABranchThatDrawsRandomNumbers) {
  for (const char* op : {"aten.rand_like.default", "aten.neg.default"}) {
    auto graph =
        graph_of("method @m(%p: bool[], %x: f32[2]) { %y = aten.neg.default(%x) return %y }");
    ASSERT_NE(graph, nullptr);
    std::vector<std::shared_ptr<Graph>> branches;
    for (int i = 0; i < 2; ++i) {
      branches.push_back(graph_of(std::string("method @b(%x: f32[2]) { %y = ") +
                                  (i == 0 ? "aten.neg.default" : op) + "(%x) return %y }"));
    }
    Value* x = graph->inputs()[1];
    Node* cond = graph->insert_before(graph->nodes().front().get(), exir::op("petrel.cond.default"),
                                      {Argument(graph->inputs()[0]), Argument::of_values({x})},
                                      {x->type()}, "cond");
    cond->set_regions(std::move(branches));
    auto changed = remove_dead_code(*graph, {});
    ASSERT_TRUE(changed.ok()) << changed.status();
    EXPECT_EQ(*changed, std::string(op) == "aten.neg.default");
  }
}

TEST(ContiguousConstants, RearrangesTheBytes) {
  constexpr char kText[] = R"(method @m() {
    %w = constant @w : f32[1,2,1,3]{0,2,3,1}
    return %w })";
  auto graph = graph_of(kText);
  // The bytes as they lie: (c0,x0), (c1,x0), (c0,x1), ...
  std::vector<double> stored;
  {
    Constant as_stored = *graph->constants()[0]->constant();
    as_stored.type.dim_order = {0, 1, 2, 3};
    auto flat = std::make_shared<Constant>(as_stored);
    Graph plain("p");
    plain.set_outputs({plain.add_constant(flat)});
    stored = constant_elements(plain, "w");
  }
  auto changed = contiguous_constants(*graph, {});
  ASSERT_TRUE(changed.ok() && *changed);
  EXPECT_EQ(to_string(graph->outputs()[0]->type()), "f32[1,2,1,3]");
  EXPECT_THAT(constant_elements(*graph, "w"),
              ElementsAre(stored[0], stored[2], stored[4], stored[1], stored[3], stored[5]));
  EXPECT_EQ(after_pass(contiguous_constants, kText),
            expected("method @m() { %w = constant @w : f32[1,2,1,3] "
                     "return %w }"));
}

TEST(ContiguousConstants, MovesTheWritesOfState) {
  EXPECT_EQ(after_pass(contiguous_constants,
                       "method @m(%x: f32[2,3]) { "
                       "%s = state @state : f32[2,3] write %x to %s return }"),
            expected("method @m(%x: f32[2,3]) { "
                     "%s = state @state : f32[2,3] write %x to %s return }"));
}

}  // namespace
}  // namespace petrel::exir
