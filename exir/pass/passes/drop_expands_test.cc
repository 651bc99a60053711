// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/drop_expands.h"

#include <string>

#include "exir/pass/framework/pass_case.h"
#include "exir/pass/passes/remove_dead_code.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

absl::StatusOr<bool> drop(Graph& graph, const PassContext& context) {
  absl::StatusOr<bool> changed = drop_expands(graph, context);
  if (!changed.ok()) return changed;
  const absl::StatusOr<bool> swept = remove_dead_code(graph, context);
  if (!swept.ok()) return swept;
  return *changed || *swept;
}

void expect_pass(const std::string& before, const std::string& after) {
  EXPECT_EQ(after_pass(drop, before), expected(after));
}

TEST(DropExpands, OfEitherOperandOfArithmetic) {
  expect_pass(R"(method @m(%x: f32[4,3], %n: f32[4,1], %k: f32[3]) {
                %a = aten.expand.default(%n, [4, 3])
                %b = aten.div.Tensor(%x, %a)
                %c = aten.expand.default(%k, [4, 3])
                %d = aten.sub.Tensor(%c, %b)
                return %d })",
              R"(method @m(%x: f32[4,3], %n: f32[4,1], %k: f32[3]) {
                %b = aten.div.Tensor(%x, %n)
                %d = aten.sub.Tensor(%k, %b)
                return %d })");
}

TEST(DropExpands, WhereSizesVary) {
  expect_pass(R"(method @m<n: 1..9>(%x: f32[n,6], %k: f32[n,1]) {
                %n = aten.sym_size.int(%x, 0)
                %a = aten.expand.default(%k, [%n, 6])
                %b = aten.mul.Tensor(%x, %a)
                return %b })",
              R"(method @m<n: 1..9>(%x: f32[n,6], %k: f32[n,1]) {
                %b = aten.mul.Tensor(%x, %k)
                return %b })");
}

TEST(DropExpands, KeepsWhatMakesTheSizesOrTheTypeOfTheResult) {
  for (const char* graph : {
           R"(method @m(%x: f32[1,3], %n: f32[4,1]) {
                %a = aten.expand.default(%n, [4, 3])
                %b = aten.mul.Tensor(%x, %a)
                return %b })",
           R"(method @m(%x: i64[4,3], %n: f32[]) {
                %a = aten.expand.default(%n, [4, 3])
                %b = aten.mul.Tensor(%x, %a)
                return %b })",
           R"(method @m(%x: f32[4,3], %n: f32[4,1]) {
                %a = aten.expand.default(%n, [4, 3])
                %b = aten.cat.default([%x, %a], 1)
                return %b })"}) {
    expect_pass(graph, graph);
  }
}

}  // namespace
}  // namespace petrel::exir
