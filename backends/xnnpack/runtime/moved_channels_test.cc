// SPDX-License-Identifier: Apache-2.0
//
// A payload that turns an image to channels first, shuffles, cuts and joins its channels, and turns
// it back gives each element its place, whatever way it is computed.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr uint32_t kChannels = 12;
constexpr uint32_t kGroups = 3;
constexpr uint32_t kCut = 5;

Graph moved_channels(uint32_t height, uint32_t width) {
  GraphBuilder b;
  const Dims last = {1, height, width, kChannels}, first = {1, kChannels, height, width};
  constexpr uint32_t kEach = kChannels / kGroups;
  const uint32_t x = b.input(last);
  const uint32_t image = b.inner(first);
  b.node(NodeKind::StaticTranspose, {x}, {image}).list = {0, 3, 1, 2};
  const uint32_t spread = b.inner({1, kGroups, kEach, height, width});
  b.node(NodeKind::StaticReshape, {image}, {spread}).list = {1, kGroups, kEach, height, width};
  const uint32_t turned = b.inner({1, kEach, kGroups, height, width});
  b.node(NodeKind::StaticTranspose, {spread}, {turned}).list = {0, 2, 1, 3, 4};
  const uint32_t shuffled = b.inner(first);
  b.node(NodeKind::StaticReshape, {turned}, {shuffled}).list = first;
  std::vector<uint32_t> cuts;
  for (const auto& [start, count] : {std::pair{kCut, kChannels - kCut}, {0u, kCut}}) {
    cuts.push_back(b.inner({1, count, height, width}));
    Node& cut = b.node(NodeKind::StaticSlice, {shuffled}, {cuts.back()});
    cut.list = {0, start, 0, 0};
    cut.list2 = {0, count, 0, 0};
  }
  const uint32_t joined = b.inner(first);
  b.node(NodeKind::Concatenate2, cuts, {joined}).axis = 1;
  const uint32_t back = b.inner(last);
  b.node(NodeKind::StaticTranspose, {joined}, {back}).list = {0, 2, 3, 1};
  b.node(NodeKind::Negate, {back}, {b.output(last)});
  return std::move(b.graph);
}

TEST(MovedChannels, GoToTheirPlaces) {
  for (const auto& [height, width] : {std::pair{1u, 1u}, {3u, 2u}, {14u, 9u}}) {
    const auto delegate = Delegate::create(moved_channels(height, width), 0, nullptr, {});
    ASSERT_TRUE(delegate.ok());
    const std::vector<int32_t> sizes = {1, static_cast<int32_t>(height),
                                        static_cast<int32_t>(width), kChannels};
    const size_t count = size_t{height} * width * kChannels;
    Arguments args;
    float* in = args.add(sizes);
    const float* out = args.add(sizes);
    for (size_t i = 0; i < count; ++i) in[i] = static_cast<float>(i);
    ASSERT_EQ(args.run(**delegate), runtime::Error::Ok);
    for (size_t i = 0; i < count; ++i) {
      const size_t channel = i % kChannels;
      // Undo the join, then the shuffle.
      const size_t place = (channel + kCut) % kChannels;
      const size_t from = place % kGroups * (kChannels / kGroups) + place / kGroups;
      ASSERT_EQ(out[i], -in[i - channel + from]) << height << " x " << width << ", " << i;
    }
  }
}

}  // namespace
}  // namespace petrel::backends::xnnpack
