// SPDX-License-Identifier: Apache-2.0
//
// What XNNPACK takes for more nodes of a kind that share all their constants, against what
// operator_bytes.h, live_bytes.h and structure_bytes.h say of them: what a file can ask for again
// and again in a few bytes, whatever else a delegate takes.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "backends/xnnpack/format/live_bytes.h"
#include "backends/xnnpack/format/operator_bytes.h"
#include "backends/xnnpack/format/structure_bytes.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/counted_xnnpack.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;

// A graph of so many nodes, or one that grows with the number in another way.
struct Case {
  std::string name;
  std::function<void(GraphBuilder*, TestMap*, uint32_t)> build;
};

constexpr uint32_t kChannels = 100'000;

// `count` nodes with one input and one output each, which `add` makes of the input.
Case of_nodes(const std::string& name, const Dims& in, const Dims& out,
              const std::function<void(GraphBuilder*, uint32_t, uint32_t, uint32_t)>& add,
              const Dims& constant = {}) {
  return {name, [=](GraphBuilder* b, TestMap* map, uint32_t count) {
            const uint32_t x = b->input(in);
            uint32_t filter = kNoId;
            if (!constant.empty()) {
              filter = b->constant(constant, "constant");
              map->data["constant"].resize(count_elements(constant), 1);
            }
            std::vector<uint32_t> outputs;
            for (uint32_t i = 0; i < count; ++i) outputs.push_back(b->output(out));
            for (const uint32_t y : outputs) add(b, x, filter, y);
          }};
}

Node& convolution(GraphBuilder* b, NodeKind kind, const std::vector<uint32_t>& ids, uint32_t groups,
                  uint32_t in, uint32_t out) {
  Node& node = b->node(kind, {ids[0], ids[1], kNoId}, {ids[2]});
  node.channels.groups = groups;
  node.channels.group_input_channels = in;
  node.channels.group_output_channels = out;
  return node;
}

std::vector<Case> windows() {
  return {
      of_nodes("padded pool", {1, 1, 1, kChannels}, {1, 1, 1, kChannels},
               [](GraphBuilder* b, uint32_t x, uint32_t, uint32_t y) {
                 Node& node = b->node(NodeKind::AvgPooling2d, {x}, {y});
                 node.window.kernel_width = 2;
                 node.window.padding_left = 1;
               }),
      of_nodes("pool", {1, 1, 2, kChannels}, {1, 1, 1, kChannels},
               [](GraphBuilder* b, uint32_t x, uint32_t, uint32_t y) {
                 b->node(NodeKind::AvgPooling2d, {x}, {y}).window.kernel_width = 2;
               }),
      of_nodes("mean", {1, 2, 2, kChannels}, {1, 1, 1, kChannels},
               [](GraphBuilder* b, uint32_t x, uint32_t, uint32_t y) {
                 b->node(NodeKind::GlobalAvgPooling2d, {x}, {y}).flags = kKeepDims;
               }),
      of_nodes(
          "depthwise", {1, 1, 1, kChannels}, {1, 1, 1, kChannels},
          [](GraphBuilder* b, uint32_t x, uint32_t filter, uint32_t y) {
            Node& node = convolution(b, NodeKind::DepthwiseConv2d, {x, filter, y}, kChannels, 1, 1);
            node.window.kernel_width = 2;
            node.window.padding_left = 1;
          },
          {1, 1, 2, kChannels}),
      of_nodes("convolution", {1, 1, 1, kChannels}, {1, 1, 1, 1},
               [](GraphBuilder* b, uint32_t x, uint32_t filter, uint32_t y) {
                 Node& node = convolution(b, NodeKind::Conv2d, {x, filter, y}, 1, kChannels, 1);
                 node.window.kernel_width = 2;
                 node.window.padding_left = 1;
               },
               {1, 1, 2, kChannels}),
      of_nodes(
          "transposed", {1, 1, 1, kChannels}, {1, 1, 2, 1},
          [](GraphBuilder* b, uint32_t x, uint32_t filter, uint32_t y) {
            Node& node = convolution(b, NodeKind::ConvTranspose2d, {x, filter, y}, 1, kChannels, 1);
            node.window.kernel_width = 2;
          },
          {1, 1, 2, kChannels}),
  };
}

std::vector<Case> others() {
  const auto product = [](GraphBuilder* b, uint32_t x, uint32_t right, uint32_t y) {
    b->node(NodeKind::BatchMatrixMultiply, {x, right}, {y});
  };
  return {
      of_nodes("product", {1, 1, 200}, {1, 1, 200}, product, {1, 200, 200}),
      of_nodes("products", {1000, 1, 1}, {1000, 1, 1}, product, {1000, 1, 1}),
      // As many matrices, in one product that is computed in halves.
      {"products of halves",
       [](GraphBuilder* b, TestMap* map, uint32_t count) {
         const Dims dims = {1000 * count, 1, 1};
         const uint32_t x = b->input(dims), y = b->output(dims);
         const uint32_t halves[] = {b->inner(dims), b->inner(dims), b->constant(dims, "right")};
         for (const uint32_t id : halves) b->graph.values[id].datatype = Datatype::FP16;
         map->data["right"].resize(500 * count);
         b->node(NodeKind::Convert, {x}, {halves[0]});
         b->node(NodeKind::BatchMatrixMultiply, {halves[0], halves[2]}, {halves[1]});
         b->node(NodeKind::Convert, {halves[1]}, {y});
       }},
      // One of few rows, or else it has as many sums as there are threads.
      {"convolution by channels",
       [](GraphBuilder* b, TestMap* map, uint32_t count) {
         const uint32_t channels = 6'400 * count;
         const uint32_t x = b->input({1, 9, 3, channels});
         const uint32_t filter = b->constant({channels, 9, 3, 1}, "filter");
         const uint32_t y = b->output({1, 1, 1, channels});
         map->data["filter"].resize(27 * channels, 1);
         Node& node = convolution(b, NodeKind::Conv2d, {x, filter, y}, channels, 1, 1);
         node.window.kernel_height = 9;
         node.window.kernel_width = 3;
       }},
      {"joints",
       [](GraphBuilder* b, TestMap*, uint32_t count) {
         const uint32_t x = b->input({1});
         std::vector<uint32_t> outputs;
         for (uint32_t i = 0; i < 100 * count; ++i) outputs.push_back(b->output({5}));
         for (const uint32_t y : outputs) {
           b->node(NodeKind::Concatenate5, {x, x, x, x, x}, {y});
         }
       }},
  };
}

struct Bytes {
  int64_t taken = 0;
  int64_t told = 0;
};

Bytes measure(const Case& c, uint32_t count) {
  GraphBuilder b;
  TestMap map;
  c.build(&b, &map, count);
  Arguments args;
  for (const Value& value : b.graph.values) {
    if (value.external_id != kNoId) args.add({value.dims.begin(), value.dims.end()});
  }
  Bytes bytes;
  bytes.told = static_cast<int64_t>(kept_bytes(b.graph) + peak_workspace_bytes(b.graph) +
                                    structure_bytes(b.graph));
  const size_t before = xnnpack_memory.now;
  xnnpack_memory.peak = before;
  auto delegate = Delegate::create(b.graph, 0, &map, {});
  EXPECT_TRUE(delegate.ok()) << c.name;
  if (!delegate.ok()) return bytes;
  EXPECT_EQ(args.run(**delegate), Error::Ok) << c.name;
  bytes.taken = static_cast<int64_t>(xnnpack_memory.peak - before);
  return bytes;
}

TEST(OperatorGrowth, IsAtLeastWhatXnnpackTakes) {
  ASSERT_TRUE(count_xnnpack());
  std::vector<Case> cases = windows();
  for (const Case& c : others()) cases.push_back(c);
  constexpr uint32_t kCount = 10;
  for (const Case& c : cases) {
    const Bytes few = measure(c, kCount);
    const Bytes many = measure(c, 2 * kCount);
    const int64_t taken = many.taken - few.taken;
    EXPECT_LE(taken, many.told - few.told) << c.name;
    // Else nothing was measured.
    EXPECT_GE(taken, int64_t{kCount} * 10'000) << c.name;
  }
}

TEST(OperatorGrowth, RefusesAFewHundredBytesThatAskForGigabytes) {
  GraphBuilder b;
  const Dims dims = {1, 1, 1, 2'147'483'647};
  const uint32_t x = b.input(dims);
  const uint32_t y = b.output(dims);
  Node& node = b.node(NodeKind::AvgPooling2d, {x}, {y});
  node.window.kernel_width = 2;
  node.window.padding_left = 1;
  runtime::Budget memory("max_delegate_bytes", 1 << 20);
  Delegate::Options options;
  options.memory = &memory;
  EXPECT_EQ(Delegate::create(b.graph, 0, nullptr, options).error(), Error::OutOfResources);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
