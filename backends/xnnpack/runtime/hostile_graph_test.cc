// SPDX-License-Identifier: Apache-2.0
//
// Payloads that pass every check of structure and shape, and on which XNNPACK as
// it comes ends the process or computes something else; what_xnnpack_assumes.md
// has the list.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/xnnpack/format/live_bytes.h"
#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/structure_bytes.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using DelegatePtr = std::unique_ptr<Delegate>;

runtime::Result<DelegatePtr> create(const Graph& graph, const TestMap* map = nullptr) {
  const std::vector<uint8_t> payload = write_payload(graph);
  return Delegate::create(payload.data(), payload.size(), map, {});
}

std::vector<int32_t> sizes_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

// Runs a graph of one input, value 0, and one output on -3, -2.5, -2, ...
std::vector<float> run(const Graph& graph, const TestMap* map = nullptr) {
  auto delegate = create(graph, map);
  EXPECT_TRUE(delegate.ok());
  if (!delegate.ok()) return {};
  Arguments args;
  const size_t count = count_elements(graph.values[0].dims);
  float* x = args.add(sizes_of(graph.values[0].dims));
  for (size_t i = 0; i < count; ++i) x[i] = -3 + 0.5f * static_cast<float>(i);
  const auto output = std::find_if(graph.values.begin(), graph.values.end(),
                                   [](const Value& value) { return value.is_output(); });
  const float* y = args.add(sizes_of(output->dims));
  EXPECT_EQ(args.run(**delegate), Error::Ok);
  return {y, y + count_elements(output->dims)};
}

std::vector<float> mapped(size_t count, const std::function<float(float)>& f) {
  std::vector<float> out;
  for (size_t i = 0; i < count; ++i) out.push_back(f(-3 + 0.5f * static_cast<float>(i)));
  return out;
}

// Phases of a transposed convolution that have no column, or no row, in the output.
TEST(HostileGraph, OfATransposedConvolutionWithAThinOutputRuns) {
  constexpr uint32_t kStride = 5;
  for (const uint32_t size : {1u, 2u}) {
    for (uint32_t before = 0; before < 2 * kStride; ++before) {
      const uint32_t whole = (size - 1) * kStride + kStride + 1;  // of a kernel of 6
      for (const uint32_t out : {1u, 2u, 3u, 4u, 6u}) {
        if (before + out > whole) continue;
        GraphBuilder b;
        const uint32_t x = b.input({1, 1, size, 1});
        const uint32_t filter = b.constant({1, 6, 6, 1}, "filter");
        const uint32_t y = b.output({1, 1, out, 1});
        Node& node = b.node(NodeKind::ConvTranspose2d, {x, filter, kNoId}, {y});
        Window& w = node.window;
        w.kernel_height = w.kernel_width = 6;
        w.stride_height = w.stride_width = kStride;
        w.padding_top = 2;
        w.padding_bottom = 3;
        w.padding_left = before;
        w.padding_right = whole - before - out;
        node.channels.group_input_channels = node.channels.group_output_channels = 1;
        TestMap map;
        for (int i = 0; i < 36; ++i) map.data["filter"].push_back(static_cast<float>(i) - 7);
        std::vector<float> expected(out, 0);
        for (uint32_t i = 0; i < size; ++i) {
          for (uint32_t k = 0; k < 6; ++k) {
            const uint32_t place = i * kStride + k;
            if (place < before || place >= before + out) continue;
            expected[place - before] +=
                (-3 + 0.5f * static_cast<float>(i)) * map.data["filter"][2 * 6 + k];
          }
        }
        EXPECT_EQ(run(b.graph, &map), expected) << size << ", " << before << ", " << out;
      }
    }
  }
}

// Each row sees padding above and below.
TEST(HostileGraph, OfAnAveragePoolOfFewRowsRuns) {
  for (const uint32_t rows : {1u, 3u, 5u, 6u, 9u}) {
    for (const uint32_t padding : {0u, 1u, 3u, 5u}) {
      if (rows + 2 * padding < 7) continue;
      const uint32_t out = (rows + 2 * padding - 7) / 2 + 1;
      GraphBuilder b;
      const uint32_t x = b.input({1, rows, 1, 1});
      const uint32_t y = b.output({1, out, 1, 1});
      Window& w = b.node(NodeKind::AvgPooling2d, {x}, {y}).window;
      w.kernel_height = 7;
      w.stride_height = 2;
      w.padding_top = w.padding_bottom = padding;
      std::vector<float> expected;
      for (uint32_t o = 0; o < out; ++o) {
        float sum = 0;
        int count = 0;
        for (uint32_t k = 2 * o; k < 2 * o + 7; ++k) {
          if (k < padding || k - padding >= rows) continue;
          sum += -3 + 0.5f * static_cast<float>(k - padding);
          ++count;
        }
        expected.push_back(sum / static_cast<float>(count));
      }
      const std::vector<float> found = run(b.graph);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t o = 0; o < out; ++o) {
        EXPECT_NEAR(found[o], expected[o], 1e-5) << rows << " rows, padding " << padding;
      }
    }
  }
}

TEST(HostileGraph, OfADeadChainRuns) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 6});
  const uint32_t h1 = b.inner({2, 6});
  const uint32_t h2 = b.inner({2, 6});
  const uint32_t h3 = b.inner({2, 6});
  const uint32_t y = b.output({2, 6});
  b.node(NodeKind::Abs, {x}, {h1});
  b.node(NodeKind::Negate, {h1}, {h2});
  b.node(NodeKind::Exp, {h2}, {h3});
  b.node(NodeKind::Square, {x}, {y});
  EXPECT_EQ(run(b.graph), mapped(12, [](float v) { return v * v; }));
}

TEST(HostileGraph, OfADeadChainBehindALiveNodeRuns) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 6});
  const uint32_t h = b.inner({2, 6});
  const uint32_t y = b.output({2, 6});
  const uint32_t dead = b.inner({2, 6});
  const uint32_t dead2 = b.inner({2, 6});
  b.node(NodeKind::Abs, {x}, {h});
  b.node(NodeKind::Square, {h}, {y});
  b.node(NodeKind::Negate, {y}, {dead});
  b.node(NodeKind::Copy, {dead}, {dead2});
  EXPECT_EQ(run(b.graph), mapped(12, [](float v) { return v * v; }));
}

TEST(HostileGraph, ThatReadsWeightsForNothingNeedsNone) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 6});
  const uint32_t filter = b.constant({3, 6}, "not there");
  const uint32_t dead = b.inner({2, 3});
  const uint32_t y = b.output({2, 6});
  b.node(NodeKind::FullyConnected, {x, filter, kNoId}, {dead});
  b.node(NodeKind::Negate, {x}, {y});
  EXPECT_EQ(run(b.graph), mapped(12, [](float v) { return -v; }));
}

TEST(HostileGraph, WithoutOutputsIsRefused) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 6});
  b.node(NodeKind::Negate, {x}, {b.inner({2, 6})});
  EXPECT_EQ(create(b.graph).error(), Error::InvalidProgram);
}

TEST(HostileGraph, MayHaveInputsThatNobodyReads) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 6});
  const uint32_t unread = b.input({3});
  const uint32_t y = b.output({2, 6});
  b.node(NodeKind::Negate, {x}, {y});
  b.node(NodeKind::Abs, {unread}, {b.inner({3})});
  auto delegate = create(b.graph);
  ASSERT_TRUE(delegate.ok());
  Arguments args;
  args.add({2, 6});
  args.add({3});
  args.add({2, 6});
  EXPECT_EQ(args.run(**delegate), Error::Ok);
}

// x [1,2,6,1] times 2, in a convolution of one by one.
uint32_t add_convolution(GraphBuilder& b, uint32_t x) {
  const uint32_t filter = b.constant({1, 1, 1, 1}, "two");
  const uint32_t h = b.inner({1, 2, 6, 1});
  Node& node = b.node(NodeKind::Conv2d, {x, filter, kNoId}, {h});
  node.channels.group_input_channels = node.channels.group_output_channels = 1;
  return h;
}

void add_clamp(GraphBuilder& b, uint32_t from, uint32_t to, float min, float max) {
  Node& node = b.node(NodeKind::Clamp, {from}, {to});
  node.output_min = min;
  node.output_max = max;
}

// XNNPACK keeps the paddings of a convolution where it keeps the bounds of a
// clamp, and once took these for those.
TEST(HostileGraph, OfAClampBehindAConvolutionKeepsItsPadding) {
  TestMap map;
  map.data["two"] = {2};
  for (const bool with_copy : {false, true}) {
    for (const auto& [min, max] : {std::pair<float, float>{0.5f, 6}, {-6, -0.5f}, {0, 6}}) {
      GraphBuilder b;
      const uint32_t x = b.input({1, 2, 6, 1});
      uint32_t h = add_convolution(b, x);
      if (with_copy) {
        const uint32_t copy = b.inner({1, 2, 6, 1});
        b.node(NodeKind::Copy, {h}, {copy});
        h = copy;
      }
      const uint32_t y = b.output({1, 2, 6, 1});
      add_clamp(b, h, y, min, max);
      const float low = min;
      const float high = max;
      EXPECT_EQ(run(b.graph, &map),
                mapped(12, [&](float v) { return std::clamp(2 * v, low, high); }))
          << min << " " << max << " " << with_copy;
    }
  }
}

TEST(HostileGraph, OfAClampBehindAPoolKeepsItsPadding) {
  GraphBuilder b;
  const uint32_t x = b.input({1, 2, 6, 1});
  const uint32_t h = b.inner({1, 1, 3, 1});
  const uint32_t y = b.output({1, 1, 3, 1});
  Window& window = b.node(NodeKind::MaxPooling2d, {x}, {h}).window;
  window.kernel_height = window.kernel_width = 2;
  window.stride_height = window.stride_width = 2;
  add_clamp(b, h, y, 0.75f, 2);
  EXPECT_EQ(run(b.graph), (std::vector<float>{0.75f, 1.5f, 2}));
}

TEST(HostileGraph, OfClampsWithoutACommonNumberRuns) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 6});
  const uint32_t h = b.inner({2, 6});
  const uint32_t y = b.output({2, 6});
  add_clamp(b, x, h, 0, 1);
  add_clamp(b, h, y, 2, 3);
  EXPECT_EQ(run(b.graph), mapped(12, [](float) { return 2.0f; }));
}

TEST(HostileGraph, OfClampsBehindAConvolutionWithoutACommonNumberRuns) {
  TestMap map;
  map.data["two"] = {2};
  GraphBuilder b;
  const uint32_t x = b.input({1, 2, 6, 1});
  const uint32_t h = add_convolution(b, x);
  b.graph.nodes.back().output_max = 1;
  const uint32_t y = b.output({1, 2, 6, 1});
  add_clamp(b, h, y, 2, 3);
  EXPECT_EQ(run(b.graph, &map), mapped(12, [](float) { return 2.0f; }));
}

TEST(HostileGraph, WithARangeOfOneNumberRuns) {
  TestMap map;
  map.data["two"] = {2};
  GraphBuilder b;
  const uint32_t x = b.input({1, 2, 6, 1});
  const uint32_t h = add_convolution(b, x);
  Node& node = b.graph.nodes.back();
  node.output_min = node.output_max = 1;
  b.node(NodeKind::Copy, {h}, {b.output({1, 2, 6, 1})});
  EXPECT_EQ(run(b.graph, &map), mapped(12, [](float) { return 1.0f; }));
}

TEST(HostileGraph, OfScalarsEndsWithAnAnswer) {
  for (const NodeKind kind :
       {NodeKind::Abs, NodeKind::Clamp, NodeKind::Copy, NodeKind::StaticReshape,
        NodeKind::StaticTranspose, NodeKind::StaticSlice, NodeKind::StaticConstantPad}) {
    GraphBuilder b;
    const uint32_t x = b.input({1});
    const uint32_t scalar = b.inner({});
    const uint32_t h = b.inner({});
    const uint32_t y = b.output({1});
    b.node(NodeKind::StaticReshape, {x}, {scalar});
    b.node(kind, {scalar}, {h});
    b.node(NodeKind::StaticReshape, {h}, {y}).list = {1};
    auto delegate = create(b.graph);
    if (!delegate.ok()) continue;
    Arguments args;
    args.add({1});
    args.add({1});
    EXPECT_NE(args.run(**delegate), Error::Internal) << static_cast<int>(kind);
  }
}

class BudgetTest : public ::testing::Test {
 protected:
  BudgetTest() { previous_ = runtime::set_log_hook({&keep, &said_}); }
  ~BudgetTest() override { runtime::set_log_hook(previous_); }

  static void keep(void* to, runtime::LogLevel, const char* message) {
    *static_cast<std::string*>(to) += message;
  }
  // `bytes` beyond what describes the graph.
  Error create_within(uint64_t bytes, const Graph& graph, const TestMap* map = nullptr) {
    runtime::Budget memory("max_delegate_bytes", structure_bytes(graph) + bytes);
    const std::vector<uint8_t> payload = write_payload(graph);
    Delegate::Options options;
    options.memory = &memory;
    return Delegate::create(payload.data(), payload.size(), map, options).error();
  }

  std::string said_;
  runtime::LogHook previous_;
};

TEST_F(BudgetTest, PaysForValuesBetweenNodes) {
  GraphBuilder b;
  const uint32_t x = b.input({1024, 1024});
  const uint32_t h = b.inner({1024, 1024});
  const uint32_t y = b.output({1024, 1024});
  b.node(NodeKind::Abs, {x}, {h});
  b.node(NodeKind::Square, {h}, {y});
  EXPECT_EQ(create_within(4 << 20, b.graph), Error::Ok);
  EXPECT_EQ(create_within((4 << 20) - 1, b.graph), Error::OutOfResources);
  EXPECT_NE(said_.find("needs 4194304 of max_delegate_bytes"), std::string::npos) << said_;
}

// A few bytes of a payload describe a value, many bytes of memory do.
TEST_F(BudgetTest, PaysForValuesAndNodes) {
  GraphBuilder b;
  const uint32_t x = b.input({1});
  b.node(NodeKind::Abs, {x}, {b.output({1})});
  EXPECT_EQ(create_within(0, b.graph), Error::Ok) << said_;
  const uint64_t bytes = structure_bytes(b.graph);
  for (int i = 0; i < 1000; ++i) b.inner({1});
  EXPECT_GE(structure_bytes(b.graph), bytes + 1000 * sizeof(Value));
  const std::vector<uint8_t> payload = write_payload(b.graph);
  runtime::Budget memory("max_delegate_bytes", structure_bytes(b.graph) - 1);
  Delegate::Options options;
  options.memory = &memory;
  EXPECT_EQ(Delegate::create(payload.data(), payload.size(), nullptr, options).error(),
            Error::OutOfResources);
  EXPECT_NE(said_.find("the values and nodes of an XNNPACK payload"), std::string::npos) << said_;
}

// Inputs without elements are no way around it.
TEST_F(BudgetTest, PaysForTheWayThroughTheGraph) {
  GraphBuilder b;
  uint32_t x = b.input({1});
  for (int i = 0; i < 99; ++i) {
    const uint32_t h = b.inner({1});
    b.node(NodeKind::Abs, {x}, {h});
    x = h;
  }
  b.node(NodeKind::Abs, {x}, {b.output({1})});
  auto delegate = create(b.graph);
  ASSERT_TRUE(delegate.ok());
  for (const int32_t size : {0, 1}) {
    Arguments args;
    args.add({size});
    args.add({size});
    // Sizes that it has not had are planned for.
    const uint64_t planning = size == 0 ? 0 : count_planning_steps(b.graph);
    runtime::Budget enough("max_element_operations", 16 * 100 + 101 + 100 + planning);
    EXPECT_EQ(args.run(**delegate, nullptr, &enough), Error::Ok) << said_;
    EXPECT_EQ(enough.left(), size == 0 ? 100u : 0u);
    runtime::Budget less("max_element_operations", 16 * 100 + 100);
    EXPECT_EQ(args.run(**delegate, nullptr, &less), Error::OutOfResources);
  }
}

// abs and square of [1, 1024] with a value between them.
Graph squares() {
  GraphBuilder b;
  const uint32_t x = b.input({1, 1024});
  const uint32_t h = b.inner({1, 1024});
  b.node(NodeKind::Abs, {x}, {h});
  b.node(NodeKind::Square, {h}, {b.output({1, 1024})});
  return std::move(b.graph);
}

DelegatePtr squares_within(runtime::Budget* memory) {
  const std::vector<uint8_t> payload = write_payload(squares());
  Delegate::Options options;
  options.memory = memory;
  runtime::Result<DelegatePtr> made =
      Delegate::create(payload.data(), payload.size(), nullptr, options);
  return made.ok() ? *std::move(made) : nullptr;
}

TEST_F(BudgetTest, PaysForLargerInputsOfAllDelegates) {
  runtime::Budget memory("max_delegate_bytes", (6 << 20) + 2 * structure_bytes(squares()));
  const DelegatePtr first = squares_within(&memory);
  const DelegatePtr second = squares_within(&memory);
  EXPECT_EQ(memory.left(), (6u << 20) - 2 * 4096);
  Arguments args;
  args.add({1024, 1024});
  args.add({1024, 1024});
  EXPECT_EQ(args.run(*first, &memory), Error::Ok) << said_;
  EXPECT_EQ(args.run(*second, &memory), Error::OutOfResources);
  EXPECT_NE(said_.find("needs 4190208 of max_delegate_bytes"), std::string::npos) << said_;
  const uint64_t left = memory.left();
  EXPECT_EQ(args.run(*first, &memory), Error::Ok) << said_;
  EXPECT_EQ(memory.left(), left);
}

TEST_F(BudgetTest, PaysForCopiesOfArguments) {
  runtime::Budget memory("max_delegate_bytes", 1 << 20);
  const DelegatePtr delegate = squares_within(&memory);
  const uint64_t left = memory.left();
  GuardedFloats guarded(1024);
  Arguments args;
  args.add({1, 1024}, guarded.data());
  args.add({1, 1024});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(args.run(*delegate, &memory), Error::Ok) << said_;
    EXPECT_EQ(memory.left(), left - 4096);
  }
  runtime::Budget less("max_delegate_bytes", 8191 + structure_bytes(squares()));
  EXPECT_EQ(args.run(*squares_within(&less), &less), Error::OutOfResources);
  EXPECT_NE(said_.find("a copy of an argument needs 4096"), std::string::npos) << said_;
}

// `count` products with one key, in as many values of their own.
Graph products_of_one_filter(uint32_t count, TestMap* map) {
  constexpr uint32_t kSide = 64;
  map->data["filter"] = std::vector<float>(kSide * kSide, 1);
  GraphBuilder b;
  const uint32_t x = b.input({1, kSide});
  const uint32_t first = b.constant({kSide, kSide}, "filter");
  std::vector<uint32_t> filters = {first};
  while (filters.size() < count) filters.push_back(b.constant({kSide, kSide}, "filter"));
  uint32_t from = x;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t to = i + 1 == count ? b.output({1, kSide}) : b.inner({1, kSide});
    b.node(NodeKind::FullyConnected, {from, filters[i], kNoId}, {to});
    from = to;
  }
  return std::move(b.graph);
}

TEST_F(BudgetTest, PaysForFiltersThatAreNamedAgain) {
  TestMap map;
  constexpr uint64_t kBytes = 64 * 64 * sizeof(float), kValues = 2 * 64 * sizeof(float);
  EXPECT_EQ(create_within(0, products_of_one_filter(1, &map), &map), Error::Ok) << said_;
  const Graph graph = products_of_one_filter(50, &map);
  EXPECT_EQ(create_within(49 * 2 * kBytes + kValues, graph, &map), Error::Ok) << said_;
  EXPECT_EQ(create_within(48 * 2 * kBytes + kValues, graph, &map), Error::OutOfResources);
  EXPECT_NE(said_.find("names again needs 32768 of max_delegate_bytes"), std::string::npos)
      << said_;
}

// One that a loop of the model uses again is not packed again.
TEST_F(BudgetTest, OneFilterOfManyNodesIsFree) {
  TestMap map;
  Graph graph = products_of_one_filter(50, &map);
  for (Node& node : graph.nodes) node.inputs[1] = graph.nodes[0].inputs[1];
  EXPECT_EQ(create_within(2 * 64 * sizeof(float), graph, &map), Error::Ok) << said_;
}

// The channels of each group are filled up to those of a tile.
TEST_F(BudgetTest, PaysForFiltersThatPackingMakesLarger) {
  TestMap map;
  GraphBuilder b;
  constexpr uint32_t kGroups = 1 << 16;
  map.data["filter"] = std::vector<float>(2 * kGroups, 1);
  const uint32_t x = b.input({1, 1, 1, 2 * kGroups});
  const uint32_t filter = b.constant({kGroups, 1, 1, 2}, "filter");
  Node& node = b.node(NodeKind::Conv2d, {x, filter, kNoId}, {b.output({1, 1, 1, kGroups})});
  node.channels.groups = kGroups;
  node.channels.group_input_channels = 2;
  node.channels.group_output_channels = 1;
  EXPECT_EQ(create_within(0, b.graph, &map), Error::OutOfResources);
  EXPECT_NE(said_.find("packing filters"), std::string::npos) << said_;
  EXPECT_EQ(create_within(uint64_t{1} << 30, b.graph, &map), Error::Ok) << said_;
}

}  // namespace
}  // namespace petrel::backends::xnnpack
