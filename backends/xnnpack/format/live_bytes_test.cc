// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/live_bytes.h"

#include <gtest/gtest.h>

#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/shape_rules.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

TEST(LiveBytes, CountsOnlyWhatLiesBetweenNodes) {
  GraphBuilder b;
  const uint32_t x = b.input({100});
  const uint32_t y = b.output({100});
  b.node(NodeKind::Negate, {x}, {y});
  EXPECT_EQ(peak_live_bytes(b.graph), 0u);
}

TEST(LiveBytes, ForgetsAValueBehindItsLastReader) {
  GraphBuilder b;
  uint32_t value = b.input({100});
  for (int i = 0; i < 10; ++i) {
    const uint32_t next = b.inner({100});
    b.node(NodeKind::Negate, {value}, {next});
    value = next;
  }
  b.node(NodeKind::Negate, {value}, {b.output({100})});
  EXPECT_EQ(peak_live_bytes(b.graph), 2 * 400u);
}

TEST(LiveBytes, KeepsAValueThatIsReadLate) {
  GraphBuilder b;
  const uint32_t x = b.input({100});
  const uint32_t early = b.inner({100});
  b.node(NodeKind::Negate, {x}, {early});
  const uint32_t a = b.inner({100});
  b.node(NodeKind::Abs, {early}, {a});
  const uint32_t c = b.inner({100});
  b.node(NodeKind::Negate, {a}, {c});
  b.node(NodeKind::Add, {early, c}, {b.output({100})});
  EXPECT_EQ(peak_live_bytes(b.graph), 3 * 400u);
}

// XNNPACK puts the parts into what is joined, and leaves what is cut where it is.
TEST(LiveBytes, KeepsJoinsAndCutsAsLongAsTheirParts) {
  GraphBuilder b;
  const uint32_t x = b.input({1, 5, 5, 4});  // 400 bytes
  const uint32_t left = b.inner({1, 5, 5, 4}), right = b.inner({1, 5, 5, 4});
  const uint32_t joined = b.inner({1, 5, 5, 8}), part = b.inner({1, 5, 5, 4});
  b.node(NodeKind::Negate, {x}, {left});
  b.node(NodeKind::Abs, {left}, {right});
  b.node(NodeKind::Concatenate2, {left, right}, {joined}).axis = 3;
  Node& cut = b.node(NodeKind::StaticSlice, {joined}, {part});
  cut.list = {0, 0, 0, 4};
  cut.list2 = {0, 0, 0, 4};
  // Its part is read for the last time by the last node.
  const uint32_t other = b.inner({1, 5, 5, 4}), another = b.inner({1, 5, 5, 4});
  b.node(NodeKind::Abs, {part}, {other});
  b.node(NodeKind::Negate, {other}, {another});
  EXPECT_EQ(peak_live_bytes(b.graph), 800u + 2 * 400u);
  b.node(NodeKind::Add, {another, part}, {b.output({1, 5, 5, 4})});
  EXPECT_EQ(peak_live_bytes(b.graph), 800u + 3 * 400u);
}

// A run of bytes lies in what it is cut from, and so does a copy of it, unless that is large and
// nobody else needs it.
TEST(LiveBytes, KeepsWhatRunsLieIn) {
  const auto peak = [](uint32_t size) {
    GraphBuilder b;
    const uint32_t whole = b.inner({1, size}), part = b.inner({1, 10}), flat = b.inner({10});
    b.node(NodeKind::Negate, {b.input({1, size})}, {whole});
    Node& slice = b.node(NodeKind::StaticSlice, {whole}, {part});
    slice.list = {0, 4};
    slice.list2 = {1, 10};
    b.node(NodeKind::StaticReshape, {part}, {flat}).list = {10};
    const uint32_t other = b.inner({10}), another = b.inner({10});
    b.node(NodeKind::Abs, {flat}, {other});
    b.node(NodeKind::Negate, {other}, {another});
    b.node(NodeKind::Add, {another, flat}, {b.output({10})});
    return peak_live_bytes(b.graph);
  };
  EXPECT_EQ(peak(100), 400u + 3 * 40u);
  EXPECT_EQ(peak(100'000), 400'000u + 40u);
}

TEST(LiveBytes, LetsGraphsBeLongButNotWide) {
  // Each value has a quarter of the limit.
  const Dims dims = {1 << 15, 1 << 15};
  ASSERT_EQ(count_elements(dims) * sizeof(float) * 4, kMaxValueBytes);
  const auto chain = [&dims](bool reads_all) {
    GraphBuilder b;
    std::vector<uint32_t> values = {b.input(dims)};
    for (int i = 0; i < 8; ++i) {
      values.push_back(b.inner(dims));
      b.node(NodeKind::Negate, {values[values.size() - 2]}, {values.back()});
    }
    uint32_t sum = values.back();
    for (size_t i = 1; reads_all && i + 1 < values.size(); ++i) {
      const uint32_t next = b.inner(dims);
      b.node(NodeKind::Add, {sum, values[i]}, {next});
      sum = next;
    }
    b.node(NodeKind::Negate, {sum}, {b.output(dims)});
    return check_graph(b.graph);
  };
  EXPECT_TRUE(chain(false).ok());
  EXPECT_NE(chain(true).text().find("bytes at the same time, the limit is 17179869184"),
            std::string::npos);
}

// `nodes` in a chain, or all of one value; then a sum of all, or of none.
Problem check_many(int nodes, bool is_chain, bool reads_all) {
  GraphBuilder b;
  std::vector<uint32_t> values = {b.input({1})};
  const uint32_t output = b.output({1});
  for (int i = 0; i < nodes; ++i) {
    const uint32_t from = is_chain ? values.back() : values[0];
    values.push_back(b.inner({1}));
    b.node(NodeKind::Negate, {from}, {values.back()});
  }
  uint32_t sum = values.back();
  for (size_t i = 1; reads_all && i + 1 < values.size(); ++i) {
    const uint32_t next = b.inner({1});
    b.node(NodeKind::Add, {sum, values[i]}, {next});
    sum = next;
  }
  b.node(NodeKind::Negate, {sum}, {output});
  return check_graph(b.graph);
}

TEST(LiveBytes, LetsNoGraphTakeMinutesToPlan) {
  EXPECT_TRUE(check_many(60'000, true, false).ok());
  EXPECT_TRUE(check_many(30'000, false, true).ok());
  const Problem problem = check_many(100'000, false, true);
  EXPECT_NE(problem.text().find("steps to find places for their values"), std::string::npos);
}

// Each is three nodes for XNNPACK.
TEST(LiveBytes, PlansWhatIsWidened) {
  const auto steps = [](NodeKind kind) {
    GraphBuilder b;
    uint32_t value = b.input({4});
    b.graph.values[value].datatype = Datatype::FP16;
    for (int i = 0; i < 100; ++i) {
      const uint32_t next = i == 99 ? b.output({4}) : b.inner({4});
      b.graph.values[next].datatype = Datatype::FP16;
      b.node(kind, {value}, {next});
      value = next;
    }
    return count_planning_steps(b.graph);
  };
  EXPECT_GT(steps(NodeKind::Tanh), 3 * steps(NodeKind::Abs));
}

// So are a conversion to levels and the product behind it, where they are one node each of floats.
TEST(LiveBytes, PlansWhatIsWidenedForLevels) {
  const auto steps = [](Datatype datatype) {
    GraphBuilder b;
    const uint32_t filter = b.constant({4, 4}, "filter");
    b.graph.values[filter].datatype = Datatype::QCINT8;
    uint32_t value = b.input({4, 4});
    b.graph.values[value].datatype = datatype;
    for (int i = 0; i < 50; ++i) {
      const uint32_t levels = b.inner({4, 4});
      b.graph.values[levels].datatype = Datatype::QDINT8;
      const uint32_t next = i == 49 ? b.output({4, 4}) : b.inner({4, 4});
      b.graph.values[next].datatype = datatype;
      b.node(NodeKind::Convert, {value}, {levels});
      b.node(NodeKind::FullyConnected, {levels, filter, kNoId}, {next});
      value = next;
    }
    return count_planning_steps(b.graph);
  };
  EXPECT_GT(2 * steps(Datatype::FP16), 3 * steps(Datatype::FP32));
}

}  // namespace
}  // namespace petrel::backends::xnnpack
