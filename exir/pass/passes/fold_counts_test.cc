// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/fold_counts.h"

#include <cstddef>

#include "absl/types/span.h"
#include "exir/ir/blob.h"
#include "exir/ir/constant.h"
#include "exir/ir/graph.h"
#include "exir/pass/framework/pass_case.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

// How many nodes a weight of so many bytes takes, one after the other.
size_t most_of(size_t bytes) {
  const Graph graph("m");
  FoldCounts counts(graph);
  Constant weight;
  weight.data = Blob::produced(bytes, [](absl::Span<uint8_t>) {});
  for (size_t nodes = 0;; ++nodes) {
    if (!counts.takes_more(weight)) return nodes;
    counts.note(weight, weight);
  }
}

TEST(FoldCounts, WhatIsReadThroughOneAnotherHasFewBytes) {
  EXPECT_EQ(most_of(0), FoldCounts::kMost);
  EXPECT_EQ(most_of(size_t{4} << 20), FoldCounts::kMost);
  EXPECT_EQ(most_of(size_t{8} << 20), 32u);
  EXPECT_EQ(most_of(size_t{100} << 20), FoldCounts::kFew);
  EXPECT_EQ(most_of(size_t{1} << 40), FoldCounts::kFew);
}

TEST(FoldCounts, BytesEndWithThoseOfTheArchive) {
  const auto graph = graph_of(R"(method @m() {
    %w = constant @w : f32[25]
    %v = constant @v : f32[25]
    return %v })");
  ASSERT_NE(graph, nullptr);
  FoldCounts counts(*graph, 100);
  EXPECT_TRUE(counts.take(100));
  // What is made of it counts for nothing.
  for (const Value* value : graph->constants()) {
    if (value->constant()->fqn == "v") counts.note(*value->constant(), *value->constant());
  }
  EXPECT_TRUE(counts.take(400));
  EXPECT_FALSE(counts.take(1));
}

TEST(FoldCounts, WhatComesInThePlaceOfAnotherAddsNothing) {
  const auto graph = graph_of(R"(method @m() {
    %w = constant @w : f32[25]
    %v = constant @v : f32[25]
    %a = aten.neg.default(%w)
    %b = aten.add.Tensor(%v, %v)
    return %a, %b })");
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(FoldCounts::bytes_beside(*graph->find_constant("w")), 0);
  EXPECT_EQ(FoldCounts::bytes_beside(*graph->find_constant("v")), 100);
}

}  // namespace
}  // namespace petrel::exir
