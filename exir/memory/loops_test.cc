// SPDX-License-Identifier: Apache-2.0
//
// Loops as the verifier holds them, and where what they carry lies.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/ir/text.h"
#include "exir/ir/verifier.h"
#include "exir/memory/storage.h"
#include "exir/ops/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Graph> parse(const std::string& text) {
  auto graph = parse_graph(text, find_op, nullptr);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : nullptr;
}

// Halves %x until its sum is less than that of %y.
std::string halving(const std::string& predicate, const std::string& body) {
  return absl::StrCat(R"(method @m(%x: f32[4], %y: f32[4]) {
    %r = petrel.while_loop.default([%x], [%y]) : f32[4] do {
      method @condition(%a: f32[4], %b: f32[4]) {
        %s = aten.sum.dim_IntList(%a, [0], false, none) : f32[]
        %t = aten.sum.dim_IntList(%b, [0], false, none) : f32[]
        %p = )",
                      predicate, R"(
        return %p
      }
      method @body(%a: f32[4], %b: f32[4]) {
        %h = )",
                      body, R"(
        return %h
      }
    }
    %o = aten.add.Tensor(%r, %x, 1) : f32[4]
    return %o
  })");
}

constexpr char kPredicate[] = "aten.gt.Tensor(%s, %t) : bool[]";
constexpr char kBody[] = "aten.sub.Tensor(%a, %b, 1) : f32[4]";

TEST(Loops, TakeWhatTheyGive) {
  auto graph = parse(halving(kPredicate, kBody));
  EXPECT_TRUE(verify_graph(*graph).ok()) << verify_graph(*graph);
  graph = parse(halving(kPredicate, "aten.sum.dim_IntList(%a, [0], false, none) : f32[]"));
  EXPECT_THAT(std::string(verify_graph(*graph).message()),
              HasSubstr("region 'body' gives f32[], must give f32[4]"));
  graph = parse(halving("aten.sub.Tensor(%s, %t, 1) : f32[]", kBody));
  EXPECT_THAT(std::string(verify_graph(*graph).message()),
              HasSubstr("region 'condition' gives f32[], must give bool[]"));
}

TEST(Loops, CarryInTheirResults) {
  auto graph = parse(halving(kPredicate, kBody));
  const Node* loop = graph->nodes().front().get();
  const Storage storage(*graph);
  const Graph& body = *loop->regions()[1];
  EXPECT_EQ(storage.root(body.inputs()[0]), loop->result());
  EXPECT_EQ(storage.root(body.inputs()[1]), graph->inputs()[1]);
  EXPECT_NE(storage.root(body.outputs()[0]), loop->result());
}

}  // namespace
}  // namespace petrel::exir
