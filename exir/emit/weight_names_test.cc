// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/weight_names.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "exir/ir/size_expression.h"
#include "exir/ir/type.h"

namespace petrel::exir {
namespace {

std::vector<LeastSize> least_of(std::vector<SizeExpression> sizes) {
  Graph graph("forward");
  graph.add_input(TensorType::dynamic(ScalarType::kFloat, std::move(sizes)), "x");
  return least_sizes(graph);
}

TEST(WeightNames, LeastSizesAreThoseOfTheRanges) {
  const SizeExpression n("n", {3, 1000});
  const std::vector<LeastSize> rows = least_of({n, *multiply(n, 2), 8});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].size, 3);
  EXPECT_EQ(rows[1].size, 6);
  EXPECT_EQ(rows[2].size, 8);
}

// (n - 500)^2 + 1 is 1 in the middle of the range and large at both ends.
TEST(WeightNames, ALeastSizeIsNoneOfTheSamples) {
  const SizeExpression n("n", {1, 1000});
  const SizeExpression from_middle = *subtract(n, 500);
  const SizeExpression size = *add(*multiply(from_middle, from_middle), 1);
  for (const LeastSize& row : least_of({size})) EXPECT_LE(row.size, 1);
}

}  // namespace
}  // namespace petrel::exir
