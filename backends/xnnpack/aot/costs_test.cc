// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "backends/xnnpack/aot/test_partition.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "backends/xnnpack/format/node_kind.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

constexpr char kImage[] = R"(method @forward(%x: f32[1,8,16,16]) {
  %w = constant @w : f32[8,8,3,3]
  %c = aten.convolution.default(%x, %w, none, [1,1], [1,1], [1,1], false, [0,0], 1)
  %r = aten.relu.default(%c)
  %s = aten.add.Tensor(%r, %x)
  %p = aten.max_pool2d.default(%s, [2,2])
  return %p
})";

exir::GroupCosts costs_of(const exir::Graph& partition) {
  const auto costs = xnnpack_backend()->partitioner().costs(partition);
  EXPECT_TRUE(costs.has_value());
  return costs.value_or(exir::GroupCosts());
}

exir::GroupCosts costs(const std::string& text) {
  const auto partition = parse_partition(text);
  return partition == nullptr ? exir::GroupCosts() : costs_of(*partition);
}

TEST(Costs, NameTheNodesByFamily) {
  EXPECT_EQ(costs(kImage).nodes, "1 convolution, 2 elementwise nodes, 1 pool, 6,656 elements");
  EXPECT_EQ(costs(R"(method @forward(%x: f32[2,3]) {
  %w = constant @w : f32[4,3]
  %y = aten.linear.default(%x, %w)
  %z = aten._softmax.default(%y, 1, false)
  return %z
})")
                .nodes,
            "1 matrix product, 1 softmax, 16 elements");
}

TEST(Costs, GrowWithTheWork) {
  const auto chain = [](const std::string& sizes) {
    return costs("method @forward(%x: f32[" + sizes +
                 "]) {\n"
                 "  %y = aten.tanh.default(%x)\n  return %y\n}");
  };
  const exir::GroupCosts small = chain("1,64");
  const exir::GroupCosts large = chain("64,1024");
  EXPECT_GT(small.kernels, 0);
  EXPECT_GT(small.delegated, 0);
  EXPECT_GT(large.kernels, 100 * small.kernels);
  EXPECT_GT(large.delegated, 100 * small.delegated);
  EXPECT_GT(small.call, 0);
  EXPECT_EQ(small.call, large.call);
}

// What the report calls layout copies are the transposes of the payload.
TEST(Costs, CountTheTransposesThatTheLoweringMakes) {
  for (const std::string& text :
       {std::string(kImage), std::string(R"(method @forward(%x: f32[1,8,16,16]) {
  %w = constant @w : f32[8,8,3,3]
  %c = aten.convolution.default(%x, %w, none, [1,1], [1,1], [1,1], false, [0,0], 1)
  %m = aten.mean.dim(%c, [2,3], false)
  return %m
})"),
        std::string(R"(method @forward(%x: f32[1,8,16,16]) {
  %t = aten.tanh.default(%x)
  %p = aten.max_pool2d.default(%t, [2,2])
  return %t, %p
})"),
        std::string(R"(method @forward(%x: f32[1,8,16,16]) {
  %t = aten.tanh.default(%x)
  return %t
})")}) {
    const auto partition = parse_partition(text);
    ASSERT_NE(partition, nullptr);
    const LoweredPartition lowered = lower_partition(*partition);
    const auto transposes =
        std::count_if(lowered.graph.nodes.begin(), lowered.graph.nodes.end(),
                      [](const Node& node) { return node.kind == NodeKind::StaticTranspose; });
    EXPECT_EQ(costs_of(*partition).layout_copies, static_cast<size_t>(transposes)) << text;
  }
}

TEST(Costs, AnActivationIsPartOfTheNodeBefore) {
  const std::string sum = "method @forward(%x: f32[64,64]) {\n  %a = aten.add.Tensor(%x, %x)\n";
  const exir::GroupCosts alone = costs(sum + "  return %a\n}");
  const exir::GroupCosts both = costs(sum + "  %r = aten.relu.default(%a)\n  return %r\n}");
  EXPECT_EQ(both.delegated, alone.delegated);
  EXPECT_GT(both.kernels, alone.kernels);
}

TEST(Costs, FavourXnnpackForConvolutions) {
  const exir::GroupCosts image = costs(kImage);
  EXPECT_LT(image.delegated + image.call, image.kernels);
}

}  // namespace
}  // namespace petrel::backends::xnnpack::aot
