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

// Adds rows of %x and of %y, of which there are so many.
std::string sums_of_rows(const std::string& dims, const std::string& x, const std::string& y) {
  return absl::StrCat("method @m", dims, "(%x: f32[", x, ",3], %y: f32[", y, ",3]) {\n",
                      "  %r = petrel.map.default([%x, %y], []) : f32[", x, R"(,3] do {
      method @body(%a: f32[3], %b: f32[3]) {
        %s = aten.add.Tensor(%a, %b, 1) : f32[3]
        return %s
      }
    }
    return %r
  })");
}

// The rows of one are counted, and as many are read of all.
TEST(Loops, MapOverTensorsOfAsManyRows) {
  EXPECT_TRUE(verify_graph(*parse(sums_of_rows("", "5", "5"))).ok());
  EXPECT_TRUE(verify_graph(*parse(sums_of_rows("<n: 2..9>", "n", "n"))).ok());
  const auto problem_of = [](const std::string& text) {
    return std::string(verify_graph(*parse(text)).message());
  };
  const auto tells = HasSubstr("maps over 'x' and 'y', which have other numbers of rows");
  EXPECT_THAT(problem_of(sums_of_rows("", "5", "2")), tells);
  EXPECT_THAT(problem_of(sums_of_rows("<n: 2..9>", "9", "n")), tells);
  EXPECT_THAT(problem_of(sums_of_rows("<n: 2..9, k: 2..9>", "n", "k")), tells);
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
