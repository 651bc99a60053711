// SPDX-License-Identifier: Apache-2.0
//
// Every block of memory that XNNPACK asks for is refused in turn, while a delegate is made and
// while it takes other sizes. What follows is an error or right, and frees each block once.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/counted_xnnpack.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using Sizes = std::vector<int32_t>;
using DelegatePtr = std::unique_ptr<Delegate>;

struct Case {
  std::string name;
  Graph graph;  // of the first sizes
  std::map<std::string, std::vector<float>> data;
  std::vector<Sizes> first, second;  // of inputs and outputs
};

// A node of a window over 6 x 7 or 13 x 12 elements.
Case of_window(const std::string& name, NodeKind kind, uint32_t kernel, uint32_t stride,
               uint32_t padding, uint32_t groups, uint32_t in, uint32_t out) {
  Case c;
  c.name = name;
  GraphBuilder b;
  const bool transposed = kind == NodeKind::ConvTranspose2d;
  const bool is_pool = kind == NodeKind::AvgPooling2d || kind == NodeKind::MaxPooling2d;
  const auto size = [&](uint32_t n) {
    return transposed ? (n - 1) * stride + kernel - 2 * padding
                      : (n + 2 * padding - kernel) / stride + 1;
  };
  const uint32_t x = b.input({1, 6, 7, groups * in});
  const uint32_t y = b.output({1, size(6), size(7), groups * out});
  std::vector<uint32_t> inputs = {x};
  if (!is_pool) {
    const Dims dims = kind == NodeKind::DepthwiseConv2d ? Dims{1, kernel, kernel, groups}
                                                        : Dims{groups * out, kernel, kernel, in};
    inputs.push_back(b.constant(dims, "filter"));
    inputs.push_back(kNoId);
    c.data["filter"].resize(count_elements(dims), 0.5f);
  }
  Node& node = b.node(kind, inputs, {y});
  node.window = {padding, padding, padding, padding, kernel, kernel, stride, stride, 1, 1};
  if (!is_pool) node.channels = {groups, in, out};
  const auto sizes = [](uint32_t batch, uint32_t h, uint32_t w, uint32_t channels) {
    return Sizes{static_cast<int32_t>(batch), static_cast<int32_t>(h), static_cast<int32_t>(w),
                 static_cast<int32_t>(channels)};
  };
  c.first = {sizes(1, 6, 7, groups * in), sizes(1, size(6), size(7), groups * out)};
  c.second = {sizes(2, 13, 12, groups * in), sizes(2, size(13), size(12), groups * out)};
  c.graph = std::move(b.graph);
  return c;
}

Case mean() {
  Case c;
  c.name = "mean";
  GraphBuilder b;
  const uint32_t x = b.input({1, 6, 7, 3});
  const uint32_t y = b.output({1, 1, 1, 3});
  b.node(NodeKind::GlobalAvgPooling2d, {x}, {y}).flags = kKeepDims;
  c.first = {{1, 6, 7, 3}, {1, 1, 1, 3}};
  c.second = {{2, 3, 3, 200}, {2, 1, 1, 200}};
  c.graph = std::move(b.graph);
  return c;
}

Case resize() {
  Case c;
  c.name = "resize";
  GraphBuilder b;
  const uint32_t x = b.input({1, 6, 7, 3});
  const uint32_t y = b.output({1, 11, 9, 3});
  Node& node = b.node(NodeKind::StaticResizeBilinear2d, {x}, {y});
  node.new_height = 11;
  node.new_width = 9;
  c.first = {{1, 6, 7, 3}, {1, 11, 9, 3}};
  c.second = {{2, 4, 4, 3}, {2, 11, 9, 3}};
  c.graph = std::move(b.graph);
  return c;
}

// Values between nodes, a product of them and a joint that they lie in.
Case with_values_between() {
  Case c;
  c.name = "values";
  GraphBuilder b;
  const uint32_t x = b.input({3, 4, 4});
  const uint32_t y = b.output({3, 4, 8});
  const uint32_t halves[] = {b.inner({3, 4, 4}), b.inner({3, 4, 4})};
  b.node(NodeKind::Abs, {x}, {halves[0]});
  b.node(NodeKind::BatchMatrixMultiply, {halves[0], x}, {halves[1]});
  b.node(NodeKind::Concatenate2, {halves[0], halves[1]}, {y}).axis = 2;
  c.first = {{3, 4, 4}, {3, 4, 8}};
  c.second = {{50, 4, 4}, {50, 4, 8}};
  c.graph = std::move(b.graph);
  return c;
}

std::vector<Case> cases() {
  const NodeKind kConv = NodeKind::Conv2d, kTransposed = NodeKind::ConvTranspose2d;
  return {
      of_window("convolution", kConv, 3, 1, 1, 1, 4, 5),
      of_window("convolution by groups", kConv, 3, 2, 0, 2, 2, 2),
      of_window("depthwise", NodeKind::DepthwiseConv2d, 3, 1, 1, 5, 1, 1),
      of_window("maximum", NodeKind::MaxPooling2d, 3, 2, 1, 1, 6, 6),
      of_window("average", NodeKind::AvgPooling2d, 2, 2, 0, 1, 6, 6),
      of_window("padded average", NodeKind::AvgPooling2d, 3, 1, 1, 1, 6, 6),
      of_window("transposed", kTransposed, 3, 1, 1, 1, 4, 5),
      of_window("transposed by phases", kTransposed, 3, 2, 1, 1, 4, 5),
      of_window("transposed by products", kTransposed, 2, 2, 0, 1, 4, 5),
      mean(),
      resize(),
      with_values_between(),
  };
}

runtime::Result<DelegatePtr> create(const Case& c) {
  TestMap map;
  map.data = c.data;
  return Delegate::create(c.graph, 0, &map, {});
}

std::vector<float> run(Delegate& delegate, const std::vector<Sizes>& sizes, Error* error) {
  Arguments args;
  float* in = nullptr;
  const float* out = nullptr;
  for (const Sizes& s : sizes) {
    float* const data = args.add(s);
    if (in == nullptr) in = data;
    out = data;
  }
  const auto count = static_cast<size_t>(args.tensor(0).numel());
  for (size_t i = 0; i < count; ++i) in[i] = static_cast<float>(i % 13);
  *error = args.run(delegate);
  return std::vector<float>(out, out + args.tensor(sizes.size() - 1).numel());
}

std::vector<float> run_whole(const Case& c, const std::vector<Sizes>& sizes) {
  Error error = Error::Ok;
  auto delegate = create(c);
  EXPECT_TRUE(delegate.ok()) << c.name;
  if (!delegate.ok()) return {};
  std::vector<float> result = run(**delegate, sizes, &error);
  EXPECT_EQ(error, Error::Ok) << c.name;
  return result;
}

class NoMemory : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(count_xnnpack()); }
  static void refuse(int64_t n) {
    xnnpack_memory.refuse = n;
    xnnpack_memory.refused = false;
  }
  // Whether a block was refused.
  static bool was_refused() {
    xnnpack_memory.refuse = -1;
    return xnnpack_memory.refused;
  }
};

TEST_F(NoMemory, ForADelegateIsAnError) {
  int refusals = 0;
  for (const Case& c : cases()) {
    const std::vector<float> expected = run_whole(c, c.first);
    const size_t before = xnnpack_memory.now;
    bool refused = true;
    for (int64_t n = 0; refused; ++n) {
      refuse(n);
      auto delegate = create(c);
      refused = was_refused();
      if (delegate.ok()) {
        Error error = Error::Ok;
        EXPECT_EQ(run(**delegate, c.first, &error), expected) << c.name << ", block " << n;
        EXPECT_EQ(error, Error::Ok) << c.name << ", block " << n;
      } else {
        EXPECT_TRUE(refused) << c.name << ", block " << n;
        EXPECT_EQ(delegate.error(), Error::DelegateMemoryAllocationFailed)
            << c.name << ", block " << n;
        EXPECT_EQ(xnnpack_memory.now, before) << c.name << ", block " << n;
        ++refusals;
      }
    }
    EXPECT_EQ(xnnpack_memory.now, before) << c.name;
  }
  EXPECT_GE(refusals, 80);
}

TEST_F(NoMemory, ForOtherSizesIsAnErrorAndNothingElse) {
  int refusals = 0;
  for (const Case& c : cases()) {
    const std::vector<float> first = run_whole(c, c.first);
    const std::vector<float> second = run_whole(c, c.second);
    const size_t before = xnnpack_memory.now;
    bool refused = true;
    for (int64_t n = 0; refused; ++n) {
      auto delegate = create(c);
      ASSERT_TRUE(delegate.ok()) << c.name;
      Error error = Error::Ok;
      ASSERT_EQ(run(**delegate, c.first, &error), first) << c.name;
      refuse(n);
      run(**delegate, c.second, &error);
      refused = was_refused();
      EXPECT_EQ(error, refused ? Error::DelegateMemoryAllocationFailed : Error::Ok)
          << c.name << ", block " << n;
      refusals += refused ? 1 : 0;
      for (const bool is_first : {true, false}) {
        const auto result = run(**delegate, is_first ? c.first : c.second, &error);
        if (refused && error == Error::InvalidState) continue;
        EXPECT_EQ(error, Error::Ok) << c.name << ", block " << n;
        EXPECT_EQ(result, is_first ? first : second) << c.name << ", block " << n;
      }
    }
    EXPECT_EQ(xnnpack_memory.now, before) << c.name;
  }
  EXPECT_GE(refusals, 20);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
