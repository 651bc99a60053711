// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/single_pixels.h"

#include <gtest/gtest.h>

#include <vector>

#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

struct Sides {
  uint32_t height, width;
};

constexpr Sides kKernel = {4, 5};

class SinglePixelsTest : public ::testing::Test {
 protected:
  // The strides of a layer afterwards.
  Sides strides(Sides input, const Window& window, Datatype type = Datatype::FP32) {
    GraphBuilder b;
    const uint32_t height = (input.height - 1) * window.stride_height +
                            window.dilation_height * (kKernel.height - 1) + 1 -
                            2 * window.padding_top;
    const uint32_t width =
        (input.width - 1) * window.stride_width + window.dilation_width * (kKernel.width - 1) + 1;
    const uint32_t x = b.input({2, input.height, input.width, 3});
    const uint32_t filter = b.constant({6, kKernel.height, kKernel.width, 3}, "filter");
    const uint32_t y = b.output({2, height, width, 6});
    for (const uint32_t id : {x, filter, y}) b.graph.values[id].datatype = type;
    Node& node = b.node(NodeKind::ConvTranspose2d, {x, filter, kNoId}, {y});
    node.window = window;
    node.window.kernel_height = kKernel.height;
    node.window.kernel_width = kKernel.width;
    node.channels.group_input_channels = 3;
    node.channels.group_output_channels = 6;
    if (type == Datatype::FP32) {
      EXPECT_TRUE(check_graph(b.graph).ok()) << check_graph(b.graph).text();
    }
    widen_strides_of_single_pixels(&b.graph);
    if (type == Datatype::FP32) {
      EXPECT_TRUE(check_graph(b.graph).ok()) << check_graph(b.graph).text();
    }
    const Window& after = b.graph.nodes[0].window;
    return {after.stride_height, after.stride_width};
  }

  void expect(Sides actual, Sides expected) {
    EXPECT_EQ(actual.height, expected.height);
    EXPECT_EQ(actual.width, expected.width);
  }
};

TEST_F(SinglePixelsTest, TakeTheKernelForTheStride) {
  expect(strides({1, 1}, {}), kKernel);
  Window window;
  window.padding_top = window.padding_bottom = 1;
  window.stride_width = 2;
  expect(strides({1, 1}, window), kKernel);
}

TEST_F(SinglePixelsTest, AreSoByEachSide) {
  Window window;
  window.stride_height = 2;
  window.stride_width = 3;
  expect(strides({1, 7}, window), {kKernel.height, 3});
  expect(strides({7, 1}, window), {2, kKernel.width});
  expect(strides({2, 2}, window), {2, 3});
}

TEST_F(SinglePixelsTest, KeepStridesThatAreLargeEnoughOrOfDilatedKernels) {
  Window window;
  window.stride_height = 9;
  expect(strides({1, 1}, window), {9, kKernel.width});
  window.dilation_width = 2;
  expect(strides({1, 1}, window), {9, 1});
}

TEST_F(SinglePixelsTest, AreOfFloats) { expect(strides({1, 1}, {}, Datatype::QINT8), {1, 1}); }

}  // namespace
}  // namespace petrel::backends::xnnpack
