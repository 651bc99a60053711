// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/update_state.h"

#include "exir/pass/framework/pass_case.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;

TEST(UpdateState, WritesOfRowsBecomeIndexPut) {
  constexpr char kBefore[] = R"(method @m(%x: f32[2,3]) {
    %s = state @state : f32[2,8]
    %a = aten.slice_scatter.default(%s, %x, 1, 1, -1, 2)
    write %a to %s
    return %a })";
  EXPECT_EQ(after_pass(update_state, kBefore), expected(R"(method @m(%x: f32[2,3]) {
              %s = state @state : f32[2,8]
              %i = constant @indices.1.7.2 : i64[3]
              %a = aten.index_put.default(%s, [none, %i], %x, false)
              write %a to %s
              return %a })"));
  const auto graph = graph_of(kBefore);
  ASSERT_TRUE(update_state(*graph, {}).ok());
  EXPECT_THAT(constant_elements(*graph, "indices.1.7.2"), ElementsAre(1, 3, 5));
}

TEST(UpdateState, FollowsWritesAndViewsToTheState) {
  EXPECT_EQ(after_pass(update_state, R"(method @m(%x: f32[4,4], %i: i64[1], %y: f32[8]) {
              %s = state @state : f32[8,4]
              %a = aten.slice_scatter.default(%s, %x, 0, 0, 4, 1)
              %v = aten.view.default(%a, [4,8])
              %b = aten.index_put.default(%v, [%i], %y, false)
              %w = aten.view.default(%b, [8,4])
              write %w to %s
              return %x })"),
            expected(R"(method @m(%x: f32[4,4], %i: i64[1], %y: f32[8]) {
              %s = state @state : f32[8,4]
              %r = constant @indices.0.4.1 : i64[4]
              %a = aten.index_put.default(%s, [%r], %x, false)
              %v = aten.view.default(%a, [4,8])
              %e = aten.view.default(%y, [1,8])
              %b = aten.index_put.default(%v, [%i], %e, false)
              %w = aten.view.default(%b, [8,4])
              write %w to %s
              return %x })"));
}

TEST(UpdateState, ValuesGetTheShapeOfThePlacesTheyGoTo) {
  EXPECT_EQ(
      after_pass(update_state, R"(method @m(%i: i64[2,3], %j: i64[], %x: f32[3,4], %y: f32[4]) {
              %s = state @state : f32[2,8,4]
              %a = aten.index_put.default(%s, [none, %i], %x, false)
              %b = aten.index_put.default(%a, [%j], %y, true)
              write %b to %s
              return })"),
      expected(R"(method @m(%i: i64[2,3], %j: i64[], %x: f32[3,4], %y: f32[4]) {
              %s = state @state : f32[2,8,4]
              %k = aten.view.default(%i, [6])
              %e = aten.expand.default(%x, [2,2,3,4])
              %f = aten.view.default(%e, [2,6,4])
              %a = aten.index_put.default(%s, [none, %k], %f, false)
              %l = aten.view.default(%j, [1])
              %g = aten.expand.default(%y, [8,4])
              %h = aten.view.default(%g, [1,8,4])
              %b = aten.index_put.default(%a, [%l], %h, true)
              write %b to %s
              return })"));
}

TEST(UpdateState, LeavesSeveralIndicesAlone) {
  constexpr char kText[] = R"(method @m(%i: i64[2], %x: f32[2]) {
    %s = state @state : f32[2,8]
    %a = aten.index_put.default(%s, [%i, %i], %x, false)
    write %a to %s
    return })";
  EXPECT_EQ(after_pass(update_state, kText), expected(kText));
}

TEST(UpdateState, LeavesValuesThatAreNoUpdatesAlone) {
  constexpr char kText[] = R"(method @m(%x: f32[2,3], %y: f32[2,8]) {
    %s = state @state : f32[2,8]
    %a = aten.slice_scatter.default(%y, %x, 1, 0, 3, 1)
    %n = aten.neg.default(%s)
    %b = aten.slice_scatter.default(%n, %x, 1, 0, 3, 1)
    write %b to %s
    return %a })";
  EXPECT_EQ(after_pass(update_state, kText), expected(kText));
}

}  // namespace
}  // namespace petrel::exir
