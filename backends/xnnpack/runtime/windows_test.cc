// SPDX-License-Identifier: Apache-2.0
//
// Windows of any kind over images whose sizes change from call to call, compared with
// plain loops: pointers to rows are kept from one call for the next, and shared by rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr int kCases = 400;
constexpr uint32_t kMostSide = 24;

struct Case {
  NodeKind kind;
  Window window;
  uint32_t groups, group_inputs, group_outputs;
  Dims image;              // N, H, W, C, the largest
  bool is_planar = false;  // the input is N, C, H, W

  uint32_t channels() const { return groups * group_outputs; }
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  // In [low, high].
  uint32_t in(uint32_t low, uint32_t high) { return low + engine_() % (high - low + 1); }
  float number() { return static_cast<float>(engine_() % 2001) / 1000 - 1; }

 private:
  std::mt19937 engine_;
};

uint32_t positions(uint32_t size, uint32_t padding, uint32_t kernel, uint32_t stride,
                   uint32_t dilation) {
  const uint32_t reach = (kernel - 1) * dilation + 1;
  return size + padding < reach ? 0 : (size + padding - reach) / stride + 1;
}

bool is_pool(const Case& c) {
  return c.kind == NodeKind::MaxPooling2d || c.kind == NodeKind::AvgPooling2d;
}

Dims output_of(const Case& c, const Dims& image) {
  const Window& w = c.window;
  return {image[0],
          positions(image[1], w.padding_top + w.padding_bottom, w.kernel_height, w.stride_height,
                    w.dilation_height),
          positions(image[2], w.padding_left + w.padding_right, w.kernel_width, w.stride_width,
                    w.dilation_width),
          is_pool(c) ? image[3] : c.channels()};
}

Case make_case(Random& random) {
  constexpr NodeKind kKinds[] = {NodeKind::Conv2d, NodeKind::DepthwiseConv2d,
                                 NodeKind::DepthwiseConv2d, NodeKind::MaxPooling2d,
                                 NodeKind::AvgPooling2d};
  Case c = {};
  c.kind = kKinds[random.in(0, 4)];
  Window& w = c.window;
  const uint32_t kernel = random.in(0, 2) == 0 ? random.in(1, 8) : 2 * random.in(1, 3) + 1;
  w.kernel_height = random.in(0, 4) == 0 ? random.in(1, 8) : kernel;
  w.kernel_width = random.in(0, 4) == 0 ? random.in(1, 8) : kernel;
  if (c.kind == NodeKind::MaxPooling2d && w.kernel_height * w.kernel_width == 1) {
    w.kernel_width = 2;
  }
  w.dilation_height =
      c.kind == NodeKind::AvgPooling2d || random.in(0, 3) != 0 ? 1 : random.in(1, 3);
  w.dilation_width = c.kind == NodeKind::AvgPooling2d || random.in(0, 3) != 0 ? 1 : random.in(1, 3);
  w.stride_height = random.in(1, c.kind == NodeKind::MaxPooling2d ? w.kernel_height : 3);
  w.stride_width = random.in(1, c.kind == NodeKind::MaxPooling2d ? w.kernel_width : 3);
  for (uint32_t* side : {&w.padding_top, &w.padding_bottom}) {
    *side = random.in(0, (w.kernel_height - 1) * w.dilation_height);
  }
  for (uint32_t* side : {&w.padding_left, &w.padding_right}) {
    *side = random.in(0, (w.kernel_width - 1) * w.dilation_width);
  }
  c.groups = random.in(1, 40);
  c.group_inputs = c.group_outputs = 1;
  if (c.kind == NodeKind::Conv2d) {
    c.groups = random.in(1, 2);
    c.group_inputs = random.in(1, 5);
    c.group_outputs = random.in(1, 20);
  }
  c.image = {random.in(1, 2), random.in(1, kMostSide), random.in(1, kMostSide),
             c.groups * c.group_inputs};
  return c;
}

// Such as the first layers of networks.
Case make_image_case(Random& random) {
  Case c = make_case(random);
  c.kind = NodeKind::Conv2d;
  Window& w = c.window;
  w.dilation_height = w.dilation_width = 1;
  for (uint32_t* side : {&w.padding_top, &w.padding_bottom}) *side %= w.kernel_height;
  for (uint32_t* side : {&w.padding_left, &w.padding_right}) *side %= w.kernel_width;
  c.groups = 1;
  c.group_inputs = random.in(1, 4);
  c.group_outputs = random.in(8, 70);
  c.image = {random.in(1, 2), random.in(1, kMostSide), random.in(14, 4 * kMostSide),
             c.group_inputs};
  c.is_planar = random.in(0, 1) == 0;
  return c;
}

// The element of the filter between an input and an output channel of a group.
size_t filter_at(const Case& c, uint32_t y, uint32_t x, uint32_t out, uint32_t in) {
  const Window& w = c.window;
  if (c.kind == NodeKind::DepthwiseConv2d) return (y * w.kernel_width + x) * c.channels() + out;
  return ((out * w.kernel_height + y) * w.kernel_width + x) * c.group_inputs + in;
}

float expected(const Case& c, const Dims& image, const float* in, const std::vector<float>& filter,
               uint32_t n, uint32_t oy, uint32_t ox, uint32_t channel) {
  const Window& w = c.window;
  double sum = 0;
  double largest = -std::numeric_limits<double>::infinity();
  int count = 0;
  for (uint32_t y = 0; y < w.kernel_height; ++y) {
    for (uint32_t x = 0; x < w.kernel_width; ++x) {
      const int64_t iy = int64_t{oy} * w.stride_height + y * w.dilation_height - w.padding_top;
      const int64_t ix = int64_t{ox} * w.stride_width + x * w.dilation_width - w.padding_left;
      if (iy < 0 || ix < 0 || iy >= image[1] || ix >= image[2]) continue;
      ++count;
      const uint32_t first = channel / c.group_outputs * c.group_inputs;
      for (uint32_t k = 0; k < c.group_inputs; ++k) {
        const float value = in[((n * image[1] + iy) * image[2] + ix) * image[3] + first + k];
        largest = std::max(largest, double{value});
        sum += is_pool(c) ? double{value} : double{value} * filter[filter_at(c, y, x, channel, k)];
      }
    }
  }
  if (c.kind == NodeKind::MaxPooling2d) return static_cast<float>(largest);
  return static_cast<float>(c.kind == NodeKind::AvgPooling2d ? sum / count : sum);
}

// XNNPACK reads behind small images there.
bool may_be_refused(const Case& c) {
  return c.kind == NodeKind::MaxPooling2d &&
         (c.window.dilation_height > 1 || c.window.dilation_width > 1);
}

std::string describe(const Case& c, const Dims& image) {
  const Window& w = c.window;
  std::string text =
      "kind " + std::to_string(static_cast<int>(c.kind)) + " image " + to_string(image) + " groups";
  for (const uint32_t number :
       {c.groups, c.group_inputs, c.group_outputs, w.kernel_height, w.kernel_width, w.stride_height,
        w.stride_width, w.dilation_height, w.dilation_width, w.padding_top, w.padding_right,
        w.padding_bottom, w.padding_left}) {
    text += " " + std::to_string(number);
  }
  return text;
}

// In memory that ends at a page which nobody may read.
void run(Delegate& delegate, const Case& c, const Dims& image, const std::vector<float>& filter,
         Random& random) {
  const Dims out = output_of(c, image);
  const size_t count = count_elements(image);
  const GuardedFloats to(count_elements(out)), from(count);
  Arguments args;
  const Dims sizes = c.is_planar ? Dims{image[0], image[3], image[1], image[2]} : image;
  args.add(std::vector<int32_t>(sizes.begin(), sizes.end()), from.data());
  args.add(std::vector<int32_t>(out.begin(), out.end()), to.data());
  std::vector<float> pixels(count);
  const size_t plane = size_t{image[1]} * image[2];
  for (size_t i = 0; i < count; ++i) {
    pixels[i] = random.number();
    const size_t pixel = i / image[3], channel = i % image[3];
    const size_t in_planes = (pixel / plane * image[3] + channel) * plane + pixel % plane;
    from.data()[c.is_planar ? in_planes : i] = pixels[i];
  }
  const runtime::Error error = args.run(delegate);
  if (error != runtime::Error::Ok) {
    EXPECT_TRUE(may_be_refused(c)) << describe(c, image);
    return;
  }
  const float* got = to.data();
  for (uint32_t n = 0; n < out[0]; ++n) {
    for (uint32_t y = 0; y < out[1]; ++y) {
      for (uint32_t x = 0; x < out[2]; ++x) {
        for (uint32_t k = 0; k < out[3]; ++k, ++got) {
          const float want = expected(c, image, pixels.data(), filter, n, y, x, k);
          ASSERT_NEAR(*got, want, 2e-4)
              << describe(c, image) << " at " << n << "," << y << "," << x << "," << k;
        }
      }
    }
  }
}

void run_case(const Case& c, Random& random) {
  const Window& w = c.window;
  const Dims out = output_of(c, c.image);
  if (count_elements(out) == 0) return;
  TestMap map;
  GraphBuilder b;
  uint32_t x = 0;
  if (c.is_planar) {
    x = b.inner(c.image);
    const uint32_t planes = b.input({c.image[0], c.image[3], c.image[1], c.image[2]});
    b.node(NodeKind::StaticTranspose, {planes}, {x}).list = {0, 2, 3, 1};
  } else {
    x = b.input(c.image);
  }
  std::vector<uint32_t> inputs = {x};
  if (!is_pool(c)) {
    Dims dims = {c.channels(), w.kernel_height, w.kernel_width, c.group_inputs};
    if (c.kind == NodeKind::DepthwiseConv2d)
      dims = {1, w.kernel_height, w.kernel_width, c.channels()};
    for (size_t i = 0; i < count_elements(dims); ++i) map.data["w"].push_back(random.number());
    inputs = {x, b.constant(dims, "w"), kNoId};
  }
  Node& node = b.node(c.kind, inputs, {b.output(out)});
  node.window = w;
  node.channels = {c.groups, c.group_inputs, c.group_outputs, 0, 0};
  const std::vector<uint8_t> payload = write_payload(b.graph);
  const auto delegate = Delegate::create(payload.data(), payload.size(), &map, {});
  if (!delegate.ok()) {
    EXPECT_TRUE(may_be_refused(c)) << describe(c, c.image);
    return;
  }
  Dims image = c.image;
  for (int call = 0; call < 5; ++call) {
    if (count_elements(output_of(c, image)) != 0) {
      ASSERT_NO_FATAL_FAILURE(run(**delegate, c, image, map.data["w"], random));
    }
    image = {random.in(1, c.image[0]), random.in(1, c.image[1]), random.in(1, c.image[2]),
             is_pool(c) ? random.in(1, c.image[3]) : c.image[3]};
    // Of what pointers are made for, a call may change one number alone.
    if (call == 0) image = {c.image[0], c.image[1], c.image[2], image[3]};
    if (call == 2) image = c.image;
  }
}

TEST(Windows, GiveWhatPlainLoopsGiveAtEverySize) {
  Random random(7);
  for (int i = 0; i < kCases; ++i) {
    ASSERT_NO_FATAL_FAILURE(run_case(make_case(random), random)) << i;
  }
}

TEST(Windows, GiveThatForImagesAndPlanes) {
  Random random(8);
  for (int i = 0; i < kCases; ++i) {
    ASSERT_NO_FATAL_FAILURE(run_case(make_image_case(random), random)) << i;
  }
}

TEST(Windows, ImagesAreResizedAtEveryNumberOfChannels) {
  constexpr uint32_t kMost = 24;
  GraphBuilder b;
  const uint32_t x = b.input({1, 5, 7, kMost}), y = b.output({1, 9, 4, kMost});
  Node& node = b.node(NodeKind::StaticResizeBilinear2d, {x}, {y});
  node.new_height = 9;
  node.new_width = 4;
  const auto delegate = Delegate::create(b.graph, 0, nullptr, {});
  ASSERT_TRUE(delegate.ok());
  for (const uint32_t channels : {3u, 16u, 1u, kMost, 2u}) {
    Arguments args;
    const auto last = static_cast<int32_t>(channels);
    float* const in = args.add({1, 5, 7, last});
    const float* const out = args.add({1, 9, 4, last});
    // Each plane has one number.
    for (size_t i = 0; i < 5 * 7 * channels; ++i) in[i] = static_cast<float>(i % channels);
    ASSERT_EQ(args.run(**delegate), runtime::Error::Ok);
    for (size_t i = 0; i < 9 * 4 * channels; ++i) {
      ASSERT_EQ(out[i], static_cast<float>(i % channels)) << channels << " channels, " << i;
    }
  }
}

}  // namespace
}  // namespace petrel::backends::xnnpack
