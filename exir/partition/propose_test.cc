// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "exir/partition/partition.h"
#include "exir/partition/recording_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::vector<std::string>> names(const std::vector<std::vector<Node*>>& groups) {
  std::vector<std::vector<std::string>> names;
  for (const std::vector<Node*>& group : groups) {
    names.emplace_back();
    for (const Node* node : group) {
      names.back().push_back(node->result(0)->name());
    }
  }
  return names;
}

TEST(ProposePartitions, CutsWhereAPathLeavesTheBackend) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %s = aten.sigmoid.default(%a) : f32[2]
      %b = aten.add.Tensor(%s, %a, 1) : f32[2]
      return %b
    })");
  ASSERT_NE(graph, nullptr);
  std::vector<LeftBehind> left;
  const auto groups = propose_partitions(*graph, AddPartitioner(), &left);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("a"), ElementsAre("b")));
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].node, "s");
  EXPECT_EQ(left[0].op, "aten.sigmoid.default");
  EXPECT_EQ(left[0].reason, "does not support aten::sigmoid");
}

TEST(ProposePartitions, TakesWhatDependsOnConstantsWhereItIsUsed) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2]) {
      %w = constant @w : f32[2]
      %c = aten.add.Tensor(%w, %w, 1) : f32[2]
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %s = aten.sigmoid.default(%a) : f32[2]
      %b = aten.add.Tensor(%s, %c, 1) : f32[2]
      return %b
    })");
  ASSERT_NE(graph, nullptr);
  const auto groups = propose_partitions(*graph, AddPartitioner(), nullptr);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("c", "b"), ElementsAre("a")));
}

// `c` is there after `s`, and only `b` reads it.
TEST(ProposePartitions, DelaysWhatOnlyALaterPartitionReads) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %s = aten.sigmoid.default(%a) : f32[2]
      %c = aten.add.Tensor(%s, %s, 1) : f32[2]
      %r = aten.relu.default(%c) : f32[2]
      %t = aten.add.Tensor(%s, %a, 1) : f32[2]
      %u = aten.sigmoid.default(%t) : f32[2]
      %b = aten.add.Tensor(%u, %r, 1) : f32[2]
      return %b
    })");
  ASSERT_NE(graph, nullptr);
  const auto groups = propose_partitions(*graph, AddPartitioner(), nullptr);
  EXPECT_THAT(names(groups),
              ElementsAre(ElementsAre("a"), ElementsAre("c", "r", "b"), ElementsAre("t")));
}

TEST(ProposePartitions, TakesBranchesTogether) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2], %y: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %s = aten.sigmoid.default(%y) : f32[2]
      %b = aten.relu.default(%s) : f32[2]
      %c = aten.add.Tensor(%a, %b, 1) : f32[2]
      return %c
    })");
  ASSERT_NE(graph, nullptr);
  const auto groups = propose_partitions(*graph, AddPartitioner(), nullptr);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("a", "b", "c")));
}

TEST(ProposePartitions, RefusesGroupsThatAreNotWorthwhile) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %s = aten.sigmoid.default(%a) : f32[2]
      %r = aten.relu.default(%s) : f32[2]
      %t = aten.sigmoid.default(%r) : f32[2]
      %b = aten.add.Tensor(%t, %t, 1) : f32[2]
      return %b
    })");
  ASSERT_NE(graph, nullptr);
  AddPartitioner partitioner;
  partitioner.takes_relu_alone = false;
  std::vector<LeftBehind> left;
  const auto groups = propose_partitions(*graph, partitioner, &left);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("a"), ElementsAre("b")));
  ASSERT_EQ(left.size(), 3u);
  EXPECT_EQ(left[1].reason, "its group of 1 node is not worth a delegate call");
}

constexpr char kThreeChains[] = R"(
    method @forward(%x: f32[2], %y: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %b = aten.add.Tensor(%x, %y, 1) : f32[2]
      %c = aten.relu.default(%a) : f32[2]
      %d = aten.relu.default(%y) : f32[2]
      %e = aten.relu.default(%d) : f32[2]
      return %b, %c, %e, %d
    })";

// A program with more would not load.
TEST(ProposePartitions, SharesOutWhatHasMoreInputsAndOutputsThanTheBackendTakes) {
  const auto graph = parse(kThreeChains);
  ASSERT_NE(graph, nullptr);
  AddPartitioner partitioner;
  EXPECT_THAT(names(propose_partitions(*graph, partitioner, nullptr)),
              ElementsAre(ElementsAre("a", "b", "c", "d", "e")));
  // x to c; x and y to b; y to d and e.
  partitioner.most = 5;
  EXPECT_THAT(names(propose_partitions(*graph, partitioner, nullptr)),
              ElementsAre(ElementsAre("a", "b", "c"), ElementsAre("d", "e")));
  partitioner.most = 3;
  EXPECT_THAT(names(propose_partitions(*graph, partitioner, nullptr)),
              ElementsAre(ElementsAre("a", "c"), ElementsAre("b"), ElementsAre("d", "e")));
  partitioner.most = 2;
  std::vector<LeftBehind> left;
  EXPECT_THAT(names(propose_partitions(*graph, partitioner, &left)),
              ElementsAre(ElementsAre("a", "c")));
  ASSERT_EQ(left.size(), 3u);
  EXPECT_EQ(left[0].reason, "its group has 3 inputs and outputs, the backend takes at most 2");
}

// Additions and rectifiers of one shape per partition.
class ShapePartitioner final : public AddPartitioner {
 public:
  std::string group(const Node& node) const override { return to_string(node.result()->tensor()); }
};

TEST(ProposePartitions, KeepsGroupsApart) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2], %y: f32[3,2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %b = aten.add.Tensor(%y, %y, 1) : f32[3,2]
      %c = aten.add.Tensor(%b, %a, 1) : f32[3,2]
      %d = aten.relu.default(%a) : f32[2]
      %e = aten.add.Tensor(%c, %d, 1) : f32[3,2]
      return %e
    })");
  ASSERT_NE(graph, nullptr);
  EXPECT_THAT(names(propose_partitions(*graph, ShapePartitioner(), nullptr)),
              ElementsAre(ElementsAre("a", "d"), ElementsAre("b", "c", "e")));
  EXPECT_THAT(names(propose_partitions(*graph, AddPartitioner(), nullptr)),
              ElementsAre(ElementsAre("a", "b", "c", "d", "e")));
}

TEST(ProposePartitions, LeavesToKernelsWhatTheyDoFaster) {
  const auto graph = parse(kOneAndFour);
  ASSERT_NE(graph, nullptr);
  std::vector<LeftBehind> left;
  const auto groups = propose_partitions(*graph, WeighingPartitioner(), &left);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("b", "c", "d", "e")));
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].node, "a");
  EXPECT_EQ(left[0].reason, "left to kernels: 1 nodes: 1.0 us as kernels, 2.0 us delegated");
}

TEST(ProposePartitions, DelegatesAllThatIsSupportedWhenAsked) {
  const auto graph = parse(kOneAndFour);
  ASSERT_NE(graph, nullptr);
  const auto groups =
      propose_partitions(*graph, WeighingPartitioner(), nullptr, Delegate::kSupported);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("a"), ElementsAre("b", "c", "d", "e")));
}

TEST(ProposePartitions, DelegatesAMethodThatNeedsNoKernelsWhole) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      return %a
    })");
  ASSERT_NE(graph, nullptr);
  WeighingPartitioner partitioner;
  partitioner.node = 100;
  const auto groups = propose_partitions(*graph, partitioner, nullptr);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("a")));
}

TEST(ProposePartitions, GroupsOfOneLevelShareTheirCall) {
  // Neither is worth a call of its own.
  const auto graph = parse(R"(
    method @forward(%x: f32[2], %y: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      %b = aten.add.Tensor(%y, %y, 1) : f32[2]
      %s = aten.sigmoid.default(%a) : f32[2]
      return %s, %b
    })");
  ASSERT_NE(graph, nullptr);
  const auto groups = propose_partitions(*graph, WeighingPartitioner(), nullptr);
  EXPECT_THAT(names(groups), ElementsAre(ElementsAre("a", "b")));
}

TEST(ProposePartitions, LeavesDeadNodesBehind) {
  const auto graph = parse(R"(
    method @forward(%x: f32[2]) {
      %a = aten.add.Tensor(%x, %x, 1) : f32[2]
      return %x
    })");
  ASSERT_NE(graph, nullptr);
  std::vector<LeftBehind> left;
  EXPECT_THAT(propose_partitions(*graph, AddPartitioner(), &left), IsEmpty());
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].reason, "has no results that are used");
}

}  // namespace
}  // namespace petrel::exir
