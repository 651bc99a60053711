// SPDX-License-Identifier: Apache-2.0
//
// First layers of int8 networks, whose padding is a zero point and not a zero, compared with
// plain loops over levels; images that are turned to channels last and such that are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr float kInScale = 0.125f, kOutScale = 0.5f;
constexpr int32_t kInZero = 7, kOutZero = -9;
constexpr uint32_t kOutputs = 40;

struct Layer {
  uint32_t kernel, stride, padding, channels;
  bool is_planar;

  uint32_t out(uint32_t side) const { return (side + 2 * padding - kernel) / stride + 1; }
};

std::vector<float> filter_scales() {
  std::vector<float> scales;
  for (uint32_t n = 0; n < kOutputs; ++n) scales.push_back(0.01f + 0.001f * static_cast<float>(n));
  return scales;
}

std::vector<int8_t> make_filter(const Layer& layer) {
  std::vector<int8_t> filter(size_t{kOutputs} * layer.kernel * layer.kernel * layer.channels);
  for (size_t i = 0; i < filter.size(); ++i) {
    filter[i] = static_cast<int8_t>(static_cast<int>(i * 37 % 201) - 100);
  }
  return filter;
}

uint32_t levels(GraphBuilder* b, const Dims& dims, float scale, int32_t zero_point) {
  const uint32_t id = b->inner(dims);
  Value& value = b->graph.values[id];
  value.datatype = Datatype::QINT8;
  value.quantization = Quantization::kPerTensor;
  value.quant.scale = scale;
  value.quant.zero_point = zero_point;
  return id;
}

// x --Convert--> levels [--transpose-->] --Conv2d--> levels --Convert--> y
Graph make_graph(const Layer& layer, uint32_t height, uint32_t width, const float* scales) {
  GraphBuilder b;
  const Dims last = {1, height, width, layer.channels}, first = {1, layer.channels, height, width};
  const Dims given = layer.is_planar ? first : last;
  const Dims out = {1, layer.out(height), layer.out(width), kOutputs};
  const uint32_t x = b.input(given);
  uint32_t image = levels(&b, given, kInScale, kInZero);
  b.node(NodeKind::Convert, {x}, {image});
  if (layer.is_planar) {
    const uint32_t turned = levels(&b, last, kInScale, kInZero);
    b.node(NodeKind::StaticTranspose, {image}, {turned}).list = {0, 2, 3, 1};
    image = turned;
  }
  const uint32_t filter =
      b.constant({kOutputs, layer.kernel, layer.kernel, layer.channels}, "filter");
  Value& stored = b.graph.values[filter];
  stored.datatype = Datatype::QCINT8;
  stored.quantization = Quantization::kPerChannel;
  stored.quant.scales.inline_data = reinterpret_cast<const uint8_t*>(scales);
  stored.quant.scales.count = kOutputs;
  const uint32_t sums = levels(&b, out, kOutScale, kOutZero);
  Node& node = b.node(NodeKind::Conv2d, {image, filter, kNoId}, {sums});
  const uint32_t p = layer.padding;
  node.window = {p, p, p, p, layer.kernel, layer.kernel, layer.stride, layer.stride, 1, 1};
  node.channels = {1, layer.channels, kOutputs, 0, 0};
  b.node(NodeKind::Convert, {sums}, {b.output(out)});
  return std::move(b.graph);
}

class Image {
 public:
  Image(const Layer& layer, uint32_t height, uint32_t width)
      : layer_(layer), height_(height), width_(width) {
    for (size_t i = 0; i < size_t{height} * width * layer.channels; ++i) {
      levels_.push_back(static_cast<int32_t>(i * 53 % 255) - 127);
    }
  }

  float at_place(size_t i) const { return static_cast<float>(levels_[i] - kInZero) * kInScale; }
  size_t size() const { return levels_.size(); }

  int32_t sum(const std::vector<int8_t>& filter, uint32_t oy, uint32_t ox, uint32_t n) const {
    int32_t sum = 0;
    const uint32_t k = layer_.kernel;
    for (uint32_t y = 0; y < k; ++y) {
      for (uint32_t x = 0; x < k; ++x) {
        for (uint32_t c = 0; c < layer_.channels; ++c) {
          const int32_t w = filter[((n * k + y) * k + x) * layer_.channels + c];
          sum += w * level(int64_t{oy} * layer_.stride + y - layer_.padding,
                           int64_t{ox} * layer_.stride + x - layer_.padding, c);
        }
      }
    }
    return sum;
  }

 private:
  // Less its zero point.
  int32_t level(int64_t y, int64_t x, uint32_t c) const {
    if (y < 0 || x < 0 || y >= height_ || x >= width_) return 0;
    const auto row = static_cast<uint32_t>(y), column = static_cast<uint32_t>(x);
    const size_t place = layer_.is_planar ? (size_t{c} * height_ + row) * width_ + column
                                          : (size_t{row} * width_ + column) * layer_.channels + c;
    return levels_[place] - kInZero;
  }

  Layer layer_;
  uint32_t height_, width_;
  std::vector<int32_t> levels_;
};

void check(Delegate& delegate, const Layer& layer, const std::vector<int8_t>& filter,
           const std::vector<float>& scales, uint32_t height, uint32_t width) {
  const auto size = [](uint32_t n) { return static_cast<int32_t>(n); };
  const Image image(layer, height, width);
  Arguments args;
  float* x = layer.is_planar ? args.add({1, size(layer.channels), size(height), size(width)})
                             : args.add({1, size(height), size(width), size(layer.channels)});
  for (size_t i = 0; i < image.size(); ++i) x[i] = image.at_place(i);
  const uint32_t rows = layer.out(height), columns = layer.out(width);
  const float* got = args.add({1, size(rows), size(columns), kOutputs});
  ASSERT_EQ(args.run(delegate), runtime::Error::Ok);
  size_t others = 0;
  for (uint32_t i = 0; i < rows * columns * kOutputs; ++i) {
    const uint32_t n = i % kOutputs;
    const auto sum =
        static_cast<float>(image.sum(filter, i / kOutputs / columns, i / kOutputs % columns, n));
    const float level = std::nearbyint(sum * (kInScale * scales[n] / kOutScale));
    const float want = std::clamp(level, -128.0f - kOutZero, 127.0f - kOutZero) * kOutScale;
    // A sum half way between two levels may be either.
    others += got[i] == want ? 0 : 1;
    ASSERT_NEAR(got[i], want, kOutScale) << i;
  }
  EXPECT_LE(others * 1000, size_t{rows} * columns * kOutputs);
}

TEST(ImagesOfLevels, GiveWhatPlainLoopsGive) {
  for (const Layer& layer :
       {Layer{3, 2, 1, 3, true}, Layer{3, 2, 1, 3, false}, Layer{7, 2, 3, 3, true},
        Layer{5, 1, 0, 1, true}, Layer{4, 4, 0, 4, true}, Layer{2, 1, 1, 2, false}}) {
    const std::vector<int8_t> filter = make_filter(layer);
    const std::vector<float> scales = filter_scales();
    TestMap map;
    map.data["filter"].resize((filter.size() + sizeof(float) - 1) / sizeof(float));
    std::copy(filter.begin(), filter.end(), reinterpret_cast<int8_t*>(map.data["filter"].data()));
    const std::vector<uint8_t> payload = write_payload(make_graph(layer, 40, 70, scales.data()));
    const auto delegate = Delegate::create(payload.data(), payload.size(), &map, {});
    ASSERT_TRUE(delegate.ok());
    for (const auto& [height, width] : {std::pair{40u, 70u}, {9u, 33u}, {40u, 12u}}) {
      ASSERT_NO_FATAL_FAILURE(check(**delegate, layer, filter, scales, height, width))
          << layer.kernel << " " << layer.channels << " " << layer.is_planar << " " << width;
    }
  }
}

}  // namespace
}  // namespace petrel::backends::xnnpack
