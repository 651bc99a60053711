// SPDX-License-Identifier: Apache-2.0
//
// Bounds of operators of halves leave NaN as it is, as those of floats do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/test_support.h"
#include "runtime/platform/isa_level.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;

// XNNPACK has kernels of half precision from there on.
bool has_half() {
  const uint32_t features = runtime::isa_level().features;
#if defined(__x86_64__)
  constexpr uint32_t kNeeded = runtime::kAvx2 | runtime::kFma3 | runtime::kF16c;
#else
  constexpr uint32_t kNeeded = runtime::kFp16;
#endif
  return (features & kNeeded) == kNeeded;
}

struct Case {
  std::string name;
  Dims input;
  Dims filter;  // none where it is empty; its numbers are 0
  Dims output;
  NodeKind kind;
  uint32_t groups;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

// Between 0 and 6, in halves; floats at both ends.
Graph bounded(const Case& one, TestMap* map) {
  GraphBuilder b;
  const uint32_t x = b.input(one.input);
  const uint32_t y = b.output(one.output);
  const uint32_t in = b.inner(one.input);
  const uint32_t out = b.inner(one.output);
  std::vector<uint32_t> inputs = {in};
  std::vector<uint32_t> halves = {in, out};
  if (!one.filter.empty()) {
    const uint32_t filter = b.constant(one.filter, "filter");
    // Those of windows are floats.
    const bool is_window = one.filter.size() == 4;
    map->data["filter"].resize(count_elements(one.filter) / (is_window ? 1 : 2));
    if (!is_window) halves.push_back(filter);
    inputs.push_back(filter);
    inputs.push_back(kNoId);
  }
  for (const uint32_t id : halves) b.graph.values[id].datatype = Datatype::FP16;
  b.node(NodeKind::Convert, {x}, {in});
  Node& node = b.node(one.kind, inputs, {out});
  node.output_min = 0;
  node.output_max = 6;
  if (one.filter.size() == 4) {
    const bool is_depthwise = one.kind == NodeKind::DepthwiseConv2d;
    node.window.kernel_height = one.filter[1];
    node.window.kernel_width = one.filter[2];
    node.channels.groups = one.groups;
    node.channels.group_input_channels = is_depthwise ? 1 : one.input[3];
    node.channels.group_output_channels = one.output[3] / one.groups;
  }
  b.node(NodeKind::Convert, {out}, {y});
  return std::move(b.graph);
}

class HalfClamps : public ::testing::TestWithParam<Case> {};

TEST_P(HalfClamps, LeaveWhatIsNoNumber) {
  const Case& one = GetParam();
  TestMap map;
  const std::vector<uint8_t> payload = write_payload(bounded(one, &map));
  auto delegate = Delegate::create(payload.data(), payload.size(), &map, Delegate::Options());
  if (!has_half()) {
    EXPECT_EQ(delegate.error(), Error::NotSupported);
    return;
  }
  ASSERT_TRUE(delegate.ok());
  Arguments args;
  float* const in = args.add({one.input.begin(), one.input.end()});
  std::fill_n(in, count_elements(one.input), std::numeric_limits<float>::quiet_NaN());
  const float* const out = args.add({one.output.begin(), one.output.end()});
  ASSERT_EQ(args.run(**delegate), Error::Ok);
  for (size_t i = 0; i < count_elements(one.output); ++i) {
    EXPECT_TRUE(std::isnan(out[i])) << "element " << i << " is " << out[i];
  }
}

// Of elements and rows that fill vectors and tiles, and one more.
INSTANTIATE_TEST_SUITE_P(
    All, HalfClamps,
    ::testing::Values(
        Case{"clamp", {41}, {}, {41}, NodeKind::Clamp, 1},
        Case{"product", {5, 8}, {18, 8}, {5, 18}, NodeKind::FullyConnected, 1},
        Case{"convolution", {1, 4, 4, 8}, {18, 2, 2, 8}, {1, 3, 3, 18}, NodeKind::Conv2d, 1},
        Case{"depthwise",
             {1, 4, 4, 18},
             {1, 3, 3, 18},
             {1, 2, 2, 18},
             NodeKind::DepthwiseConv2d,
             18},
        Case{"depthwise_of_three",
             {1, 1, 4, 18},
             {1, 1, 3, 18},
             {1, 1, 2, 18},
             NodeKind::DepthwiseConv2d,
             18},
        Case{"depthwise_of_four",
             {1, 3, 3, 18},
             {1, 2, 2, 18},
             {1, 2, 2, 18},
             NodeKind::DepthwiseConv2d,
             18},
        Case{"depthwise_of_25",
             {1, 6, 5, 18},
             {1, 5, 5, 18},
             {1, 2, 1, 18},
             NodeKind::DepthwiseConv2d,
             18}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace petrel::backends::xnnpack
