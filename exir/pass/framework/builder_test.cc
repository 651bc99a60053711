// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/builder.h"

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

TEST(Builder, CutsNoDimThatATensorLacks) {
  Graph graph("m");
  Value* x = graph.add_input(TensorType::contiguous(ScalarType::kFloat, {4}), "x");
  Builder b(graph, nullptr);
  for (const int64_t dim : {-1, 1, 5}) {
    EXPECT_THAT(std::string(b.slice(x, dim, 0, 1).status().message()),
                HasSubstr("to cut in f32[4]"));
  }
  EXPECT_TRUE(b.slice(x, 0, 0, 1).ok());
}

}  // namespace
}  // namespace petrel::exir
