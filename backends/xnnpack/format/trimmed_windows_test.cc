// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/trimmed_windows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

// [1, 9, 20, 4] by 3 x 3 to as many pixels and six channels, each row seen from three others.
class TrimmedWindowsTest : public ::testing::Test {
 protected:
  uint32_t convolve(uint32_t x, const Window& window, NodeKind kind = NodeKind::Conv2d) {
    const Dims in = b.graph.values[x].dims;
    const auto size = [&](uint32_t n, uint32_t padding, uint32_t stride, uint32_t dilation) {
      return kind == NodeKind::ConvTranspose2d ? (n - 1) * stride + 2 * dilation + 1 - padding
                                               : (n + padding - 2 * dilation - 1) / stride + 1;
    };
    const Window& w = window;
    const uint32_t y = b.inner(
        {1, size(in[1], w.padding_top + w.padding_bottom, w.stride_height, w.dilation_height),
         size(in[2], w.padding_left + w.padding_right, w.stride_width, w.dilation_width), 6});
    Node& node = b.node(kind, {x, b.constant({6, 3, 3, in[3]}, "filter"), kNoId}, {y});
    node.window = window;
    node.window.kernel_height = node.window.kernel_width = 3;
    node.channels.group_input_channels = in[3];
    node.channels.group_output_channels = 6;
    return y;
  }

  uint32_t slice(uint32_t x, const std::vector<uint32_t>& offsets, const Dims& sizes) {
    Dims dims = b.graph.values[x].dims;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != 0) dims[i] = sizes[i];
    }
    const uint32_t y = b.inner(dims);
    Node& node = b.node(NodeKind::StaticSlice, {x}, {y});
    node.list = offsets;
    node.list2 = sizes;
    return y;
  }

  void end(uint32_t x) { b.node(NodeKind::Negate, {x}, {b.output(b.graph.values[x].dims)}); }

  // Padding of the first node afterwards, "top bottom left right", and how many nodes there are.
  std::string trimmed() {
    EXPECT_TRUE(check_graph(b.graph).ok()) << check_graph(b.graph).text();
    const size_t before = b.graph.nodes.size();
    const bool is_any = trim_windows(&b.graph);
    EXPECT_EQ(is_any, b.graph.nodes.size() < before);
    EXPECT_TRUE(check_graph(b.graph).ok()) << check_graph(b.graph).text();
    const Window& w = b.graph.nodes[0].window;
    return std::to_string(w.padding_top) + " " + std::to_string(w.padding_bottom) + " " +
           std::to_string(w.padding_left) + " " + std::to_string(w.padding_right) + ", " +
           std::to_string(b.graph.nodes.size());
  }

  // Padding of 4 on each side.
  static Window wide() {
    Window window;
    window.padding_top = window.padding_bottom = window.padding_left = window.padding_right = 4;
    return window;
  }

  GraphBuilder b;
};

TEST_F(TrimmedWindowsTest, HaveLessPadding) {
  const uint32_t y = convolve(b.input({1, 9, 20, 4}), wide());
  end(slice(y, {0, 0, 0, 0}, {0, 0, 22, 0}));
  EXPECT_EQ(trimmed(), "4 4 4 0, 2");
}

TEST_F(TrimmedWindowsTest, OfBothSidesAndInSteps) {
  const uint32_t y = convolve(b.input({1, 9, 20, 4}), wide());
  end(slice(slice(y, {0, 1, 2, 0}, {1, 12, 20, 6}), {0, 1, 0, 0}, {0, 10, 0, 0}));
  EXPECT_EQ(trimmed(), "2 1 2 0, 2");
}

TEST_F(TrimmedWindowsTest, OfWindowsThatStepOverPixels) {
  Window window = wide();
  window.stride_width = 3;
  window.dilation_width = 2;
  // 8 outputs of windows of 5; padding on the left is no multiple of the stride.
  const uint32_t y = convolve(b.input({1, 9, 20, 4}), window);
  ASSERT_EQ(b.graph.values[y].dims[2], 8u);
  end(slice(y, {0, 0, 1, 0}, {0, 0, 7, 0}));
  EXPECT_EQ(trimmed(), "4 4 1 2, 2");
}

TEST_F(TrimmedWindowsTest, StayWhereTheInputIsCut) {
  // The first window would begin inside of it.
  end(slice(convolve(b.input({1, 9, 20, 4}), wide()), {0, 5, 0, 0}, {0, 4, 0, 0}));
  EXPECT_EQ(trimmed(), "4 4 4 4, 3");
}

TEST_F(TrimmedWindowsTest, StayWhereTheLastWindowWouldEndInsideOfIt) {
  end(slice(convolve(b.input({1, 9, 20, 4}), wide()), {0, 0, 0, 0}, {0, 0, 21, 0}));
  EXPECT_EQ(trimmed(), "4 4 4 4, 3");
}

TEST_F(TrimmedWindowsTest, StayWhereOthersReadThemOrChannelsAreCut) {
  const uint32_t x = b.input({1, 9, 20, 4});
  const uint32_t y = convolve(x, wide());
  end(slice(y, {0, 0, 0, 0}, {0, 0, 22, 0}));
  end(y);
  EXPECT_EQ(trimmed(), "4 4 4 4, 4");
  b = {};
  end(slice(convolve(b.input({1, 9, 20, 4}), wide()), {0, 0, 0, 0}, {0, 0, 22, 5}));
  EXPECT_EQ(trimmed(), "4 4 4 4, 3");
}

TEST_F(TrimmedWindowsTest, HaveMorePaddingWhereTheyAreTransposed) {
  Window window;
  window.stride_height = window.stride_width = 2;
  window.padding_left = 1;
  const uint32_t y = convolve(b.input({1, 9, 20, 4}), window, NodeKind::ConvTranspose2d);
  ASSERT_EQ(b.graph.values[y].dims[2], 40u);
  end(slice(y, {0, 3, 0, 0}, {0, 15, 38, 0}));
  EXPECT_EQ(trimmed(), "3 1 1 2, 2");
}

}  // namespace
}  // namespace petrel::backends::xnnpack
