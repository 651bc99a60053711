// SPDX-License-Identifier: Apache-2.0
//
// What XNNPACK allocates for operators, counted by an allocator of its own, against
// what operator_bytes.h says of them.

#include "backends/xnnpack/format/operator_bytes.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "backends/xnnpack/format/attention.h"
#include "backends/xnnpack/format/images.h"
#include "backends/xnnpack/format/joined_attention.h"
#include "backends/xnnpack/format/live_bytes.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/format/winograd.h"
#include "backends/xnnpack/runtime/counted_xnnpack.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"
#include "backends/xnnpack/runtime/tile_table.h"
#include "runtime/threads/thread_pool.h"
#include "third_party/xnnpack/image/flag.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;

// A graph of one node.
struct Case {
  std::string name;
  std::function<void(GraphBuilder*, TestMap*)> build;
};

Window window(uint32_t kernel, uint32_t stride, uint32_t dilation, uint32_t padding) {
  return {padding, padding, padding, padding, kernel, kernel, stride, stride, dilation, dilation};
}

uint32_t out_size(uint32_t in, const Window& w) {
  return (in + 2 * w.padding_top - w.dilation_height * (w.kernel_height - 1) - 1) /
             w.stride_height +
         1;
}

Case convolution(uint32_t size, const Window& w, uint32_t in, uint32_t out) {
  return {
      "convolution", [=](GraphBuilder* b, TestMap* map) {
        const uint32_t o = out_size(size, w);
        const uint32_t x = b->input({1, size, size, in});
        const uint32_t filter = b->constant({out, w.kernel_height, w.kernel_width, in}, "filter");
        map->data["filter"].resize(size_t{out} * w.kernel_height * w.kernel_width * in, 1);
        const uint32_t y = b->output({1, o, o, out});
        Node& node = b->node(NodeKind::Conv2d, {x, filter, kNoId}, {y});
        node.window = w;
        node.channels.group_input_channels = in;
        node.channels.group_output_channels = out;
      }};
}

// A convolution by Winograd's algorithm, and one with weights enough for its larger filter.
Case winograd(uint32_t size, uint32_t in, uint32_t out) {
  return {"winograd", [=](GraphBuilder* b, TestMap* map) {
            const uint32_t wide = 48 * 9 * in;
            const uint32_t x = b->input({1, size, size, in});
            const uint32_t inner = b->inner({1, size, size, out});
            const uint32_t first = b->constant({out, 3, 3, in}, "first");
            const uint32_t second = b->constant({wide, 1, 1, out}, "second");
            map->data["first"].resize(size_t{out} * 9 * in, 1);
            map->data["second"].resize(size_t{wide} * out, 1);
            Node& node = b->node(NodeKind::Conv2d, {x, first, kNoId}, {inner});
            node.window = window(3, 1, 1, 1);
            node.channels.group_input_channels = in;
            node.channels.group_output_channels = out;
            const uint32_t y = b->output({1, size, size, wide});
            Node& last = b->node(NodeKind::Conv2d, {inner, second, kNoId}, {y});
            last.window = window(1, 1, 1, 0);
            last.channels.group_input_channels = out;
            last.channels.group_output_channels = wide;
          }};
}

// The same alone: its filter is transformed in each run.
Case winograd_each_run(uint32_t size, uint32_t channels) {
  Case c = convolution(size, window(3, 1, 1, 1), channels, channels);
  c.name = "winograd each run";
  return c;
}

// And with a dilated window.
Case dilated(uint32_t size, uint32_t channels, uint32_t dilation) {
  Window w = window(3, 1, dilation, dilation);
  Case c = convolution(size, w, channels, channels);
  c.name = "winograd each run, dilated";
  return c;
}

// And beside a node of large operands, where a plane is small: the filter is made in parts.
Case winograd_in_parts(uint32_t size, uint32_t channels) {
  Case alone = winograd_each_run(size, channels);
  const auto build = alone.build;
  alone.build = [build](GraphBuilder* b, TestMap* map) {
    build(b, map);
    const uint32_t x = b->input({1, 200, 200, 16});
    b->node(NodeKind::Clamp, {x}, {b->output({1, 200, 200, 16})});
  };
  return alone;
}

// Each group by Winograd's algorithm, beside a node of large operands.
Case winograd_in_groups(uint32_t size, uint32_t channels, uint32_t groups) {
  return {"winograd each run in groups", [=](GraphBuilder* b, TestMap* map) {
            const uint32_t each = channels / groups;
            const uint32_t x = b->input({1, size, size, channels});
            const uint32_t filter = b->constant({channels, 3, 3, each}, "filter");
            map->data["filter"].resize(size_t{channels} * 9 * each, 1);
            Node& node = b->node(NodeKind::Conv2d, {x, filter, kNoId},
                                 {b->output({1, size, size, channels})});
            node.window = window(3, 1, 1, 1);
            node.channels.groups = groups;
            node.channels.group_input_channels = each;
            node.channels.group_output_channels = each;
            const uint32_t large = b->input({1, 200, 200, 16});
            b->node(NodeKind::Clamp, {large}, {b->output({1, 200, 200, 16})});
          }};
}

Case depthwise(uint32_t size, const Window& w, uint32_t channels) {
  return {"depthwise", [=](GraphBuilder* b, TestMap* map) {
            const uint32_t o = out_size(size, w);
            const uint32_t x = b->input({2, size, size, channels});
            const uint32_t filter =
                b->constant({1, w.kernel_height, w.kernel_width, channels}, "filter");
            map->data["filter"].resize(size_t{channels} * w.kernel_height * w.kernel_width, 1);
            const uint32_t y = b->output({2, o, o, channels});
            Node& node = b->node(NodeKind::DepthwiseConv2d, {x, filter, kNoId}, {y});
            node.window = w;
            node.channels.groups = channels;
            node.channels.group_input_channels = 1;
            node.channels.group_output_channels = 1;
          }};
}

Case transposed(uint32_t size, const Window& w) {
  return {"transposed", [=](GraphBuilder* b, TestMap* map) {
            const uint32_t o = (size - 1) * w.stride_height + w.kernel_height - 2 * w.padding_top;
            const uint32_t x = b->input({1, size, size, 2});
            const uint32_t filter = b->constant({3, w.kernel_height, w.kernel_width, 2}, "filter");
            map->data["filter"].resize(size_t{6} * w.kernel_height * w.kernel_width, 1);
            const uint32_t y = b->output({1, o, o, 3});
            Node& node = b->node(NodeKind::ConvTranspose2d, {x, filter, kNoId}, {y});
            node.window = w;
            node.channels.group_input_channels = 2;
            node.channels.group_output_channels = 3;
          }};
}

Case pool(NodeKind kind, uint32_t size, const Window& w) {
  return {kind == NodeKind::MaxPooling2d ? "max pool" : "average pool",
          [=](GraphBuilder* b, TestMap*) {
            const uint32_t o = out_size(size, w);
            const uint32_t x = b->input({2, size, size, 3});
            const uint32_t y = b->output({2, o, o, 3});
            b->node(kind, {x}, {y}).window = w;
          }};
}

Case resize(uint32_t size) {
  return {"resize", [=](GraphBuilder* b, TestMap*) {
            const uint32_t x = b->input({2, 3, 3, 2});
            const uint32_t y = b->output({2, size, size, 2});
            Node& node = b->node(NodeKind::StaticResizeBilinear2d, {x}, {y});
            node.new_height = node.new_width = size;
          }};
}

Case product(uint32_t batch, uint32_t m, uint32_t k, uint32_t n) {
  return {"product", [=](GraphBuilder* b, TestMap*) {
            const uint32_t x = b->input({batch, m, k});
            const uint32_t right = b->input({batch, k, n});
            const uint32_t y = b->output({batch, m, n});
            b->node(NodeKind::BatchMatrixMultiply, {x, right}, {y});
          }};
}

Case mean(uint32_t size, uint32_t channels) {
  return {"mean", [=](GraphBuilder* b, TestMap*) {
            const uint32_t x = b->input({2, size, size, channels});
            const uint32_t y = b->output({2, 1, 1, channels});
            b->node(NodeKind::GlobalAvgPooling2d, {x}, {y}).flags = kKeepDims;
          }};
}

Case clamped_sum(uint32_t size) {
  return {"sum", [=](GraphBuilder* b, TestMap*) {
            const uint32_t x = b->input({size, size});
            const uint32_t row = b->input({size});
            const uint32_t y = b->output({size, size});
            b->node(NodeKind::Add, {x, row}, {y}).output_min = 0;
          }};
}

Case tanh_of_halves(uint32_t size) {
  return {"tanh", [=](GraphBuilder* b, TestMap*) {
            const uint32_t x = b->input({size, size});
            const uint32_t y = b->output({size, size});
            const uint32_t halves[] = {b->inner({size, size}), b->inner({size, size})};
            for (const uint32_t id : halves) b->graph.values[id].datatype = Datatype::FP16;
            b->node(NodeKind::Convert, {x}, {halves[0]});
            b->node(NodeKind::Tanh, {halves[0]}, {halves[1]});
            b->node(NodeKind::Convert, {halves[1]}, {y});
          }};
}

// Rows of halves become levels, and sums of their products halves.
Case levels_of_halves(uint32_t rows, uint32_t depth, uint32_t columns) {
  return {"levels", [=](GraphBuilder* b, TestMap* map) {
            static const std::vector<float> kScales(4096, 0.5f);
            const uint32_t x = b->input({rows, depth});
            const uint32_t y = b->output({rows, columns});
            const uint32_t halves[] = {b->inner({rows, depth}), b->inner({rows, columns})};
            for (const uint32_t id : halves) b->graph.values[id].datatype = Datatype::FP16;
            const uint32_t levels = b->inner({rows, depth});
            Value& value = b->graph.values[levels];
            value.datatype = Datatype::QDINT8;
            value.quantization = Quantization::kPerTokenDynamic;
            value.quant.nonbatch_dims = 1;
            const uint32_t filter = b->constant({columns, depth}, "filter");
            map->data["filter"].resize(columns * depth / sizeof(float));
            Value& stored = b->graph.values[filter];
            stored.datatype = Datatype::QCINT8;
            stored.quantization = Quantization::kPerChannel;
            stored.quant.scales.inline_data = reinterpret_cast<const uint8_t*>(kScales.data());
            stored.quant.scales.count = columns;
            b->node(NodeKind::Convert, {x}, {halves[0]});
            b->node(NodeKind::Convert, {halves[0]}, {levels});
            b->node(NodeKind::FullyConnected, {levels, filter, kNoId}, {halves[1]});
            b->node(NodeKind::Convert, {halves[1]}, {y});
          }};
}

// Of many small images that are quantised when they arrive.
Case images(NodeKind kind, uint32_t count) {
  return {"images", [=](GraphBuilder* b, TestMap* map) {
            static const float kScales[] = {0.5f, 0.25f, 0.125f, 1};
            const uint32_t x = b->input({count, 1, 1, 2});
            const uint32_t y = b->output({count, 1, 1, 4});
            const uint32_t quantised = b->inner({count, 1, 1, 2});
            Value& value = b->graph.values[quantised];
            value.datatype = Datatype::QDINT8;
            value.quantization = Quantization::kPerTokenDynamic;
            value.quant.nonbatch_dims = 3;
            const uint32_t filter = b->constant({4, 3, 3, 2}, "filter");
            map->data["filter"].resize(4 * 3 * 3 * 2 / sizeof(float));
            Value& stored = b->graph.values[filter];
            stored.datatype = Datatype::QCINT8;
            stored.quantization = Quantization::kPerChannel;
            stored.quant.scales.inline_data = reinterpret_cast<const uint8_t*>(kScales);
            stored.quant.scales.count = 4;
            b->node(NodeKind::Convert, {x}, {quantised});
            Node& node = b->node(kind, {quantised, filter, kNoId}, {y});
            node.window = window(3, 1, 1, 1);
            node.channels.group_input_channels = 2;
            node.channels.group_output_channels = 4;
          }};
}

Case attention(uint32_t heads, uint32_t rows, uint32_t columns, uint32_t depth, bool has_scale) {
  return {"attention", [=](GraphBuilder* b, TestMap* map) {
            uint32_t q = b->input({heads, rows, depth});
            const uint32_t k = b->input({heads, columns, depth});
            const uint32_t v = b->input({heads, columns, depth});
            if (has_scale) {
              const uint32_t scaled = b->inner({heads, rows, depth});
              b->node(NodeKind::Multiply, {q, b->constant({1}, "scale")}, {scaled});
              map->data["scale"] = {0.5f};
              q = scaled;
            }
            const uint32_t scores = b->inner({heads, rows, columns});
            const uint32_t shares = b->inner({heads, rows, columns});
            b->node(NodeKind::BatchMatrixMultiply, {q, k}, {scores}).flags = kTransposeWeights;
            b->node(NodeKind::Softmax, {scores}, {shares});
            b->node(NodeKind::BatchMatrixMultiply, {shares, v}, {b->output({heads, rows, depth})});
          }};
}

std::vector<Case> cases() {
  const NodeKind kMax = NodeKind::MaxPooling2d;
  const NodeKind kAverage = NodeKind::AvgPooling2d;
  return {
      convolution(120, window(3, 1, 1, 1), 4, 4),
      convolution(120, window(1, 1, 1, 0), 4, 4),
      convolution(120, window(1, 2, 1, 0), 4, 4),
      convolution(90, window(9, 2, 1, 4), 1, 8),
      convolution(120, window(3, 2, 1, 1), 3, 32),
      convolution(1200, window(7, 2, 1, 3), 3, 8),
      convolution(90, window(5, 1, 3, 0), 3, 70),
      winograd(40, 16, 32),
      winograd(21, 100, 70),
      winograd_each_run(400, 64),
      winograd_each_run(100, 33),
      winograd_in_parts(14, 64),
      dilated(40, 32, 2),
      dilated(23, 64, 3),
      dilated(14, 256, 4),
      winograd_in_groups(80, 64, 2),
      winograd_in_groups(14, 256, 2),
      winograd_in_groups(28, 160, 5),
      depthwise(100, window(3, 1, 1, 1), 8),
      depthwise(100, window(3, 2, 1, 1), 8),
      depthwise(80, window(5, 1, 2, 4), 20),
      depthwise(80, window(9, 1, 1, 0), 20),
      depthwise(60, window(17, 3, 1, 8), 70),
      transposed(40, window(3, 2, 1, 1)),
      transposed(40, window(2, 2, 1, 0)),
      transposed(40, window(5, 1, 1, 0)),
      transposed(9, window(16, 16, 1, 0)),
      transposed(9, window(20, 16, 1, 2)),
      pool(kMax, 150, window(3, 2, 1, 1)),
      pool(kMax, 150, window(11, 1, 2, 0)),
      pool(kMax, 150, window(2, 2, 1, 0)),
      pool(kAverage, 150, window(3, 1, 1, 0)),
      pool(kAverage, 150, window(3, 2, 1, 1)),
      pool(kAverage, 150, window(15, 1, 1, 7)),
      resize(300),
      resize(500),
      product(4, 3, 1000, 1),
      product(2, 3, 100, 90),
      product(3, 1, 7, 2000),
      mean(40, 5000),
      attention(6, 1500, 1500, 64, false),
      attention(5, 700, 900, 70, true),
      attention(64, 49, 49, 32, true),
      attention(1, 16, 60000, 8, true),
      clamped_sum(1000),
      tanh_of_halves(1000),
      levels_of_halves(4000, 512, 4),
      levels_of_halves(4000, 8, 512),
      images(NodeKind::Conv2d, 5000),
      images(NodeKind::ConvTranspose2d, 5000),
  };
}

TEST(OperatorBytes, AreAtLeastWhatXnnpackTakes) {
  ASSERT_TRUE(count_xnnpack());
  // Structs of operators and runtimes, and weights as they are packed.
  constexpr double kStructs = 64 << 10;
  int large = 0;
  for (const Case& c : cases()) {
    GraphBuilder b;
    TestMap map;
    c.build(&b, &map);
    size_t weights = 0;
    for (const auto& [key, data] : map.data) weights += data.size() * sizeof(float);
    Arguments args;
    for (const Value& value : b.graph.values) {
      if (value.external_id != kNoId) args.add({value.dims.begin(), value.dims.end()});
    }
    Graph graph = b.graph;
    const auto threads =
        static_cast<uint32_t>(pthreadpool_get_threads_count(runtime::shared_thread_pool().get()));
    choose_winograd(&graph, threads);
    choose_images(&graph, threads, &petrel_takes_images);
    join_attention(&graph, false, threads);
    choose_attention_blocks(&graph, threads, this_machine().l2);
    EXPECT_EQ(graph.nodes[0].winograd.threads != 0, c.name.rfind("winograd", 0) == 0) << c.name;
    EXPECT_EQ(graph.nodes[0].winograd.transforms_each_run,
              c.name.rfind("winograd each run", 0) == 0)
        << c.name;
    xnnpack_memory.peak = xnnpack_memory.now;
    const double before = static_cast<double>(xnnpack_memory.now);
    auto delegate = Delegate::create(b.graph, 0, &map, {});
    ASSERT_TRUE(delegate.ok()) << c.name;
    ASSERT_EQ(args.run(**delegate), Error::Ok) << c.name;
    const double taken = static_cast<double>(xnnpack_memory.peak) - before;
    const double kept = static_cast<double>(kept_bytes(graph));
    const double between = static_cast<double>(peak_workspace_bytes(graph));
    const double slack = kStructs + 64.0 * static_cast<double>(weights);
    EXPECT_LE(taken, kept + between + slack) << c.name;
    std::printf("%-17s takes %9.0f bytes, told %9.0f\n", c.name.c_str(), taken, kept + between);
    large += taken > 4 * slack ? 1 : 0;
  }
  // Else the bound above would be the slack's.
  EXPECT_GE(large, 8);
}

TEST(OperatorBytes, ArePaidByTheBudget) {
  ASSERT_TRUE(count_xnnpack());
  GraphBuilder b;
  TestMap map;
  resize(300).build(&b, &map);
  runtime::Budget memory("max_delegate_bytes", 1 << 20);
  Delegate::Options options;
  options.memory = &memory;
  const size_t before = xnnpack_memory.now;
  EXPECT_EQ(Delegate::create(b.graph, 0, &map, options).error(), Error::OutOfResources);
  EXPECT_EQ(xnnpack_memory.now, before);
  EXPECT_EQ(kept_bytes(b.graph), kept_bytes(b.graph, b.graph.nodes[0]));
  EXPECT_GT(kept_bytes(b.graph), 1u << 20);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
