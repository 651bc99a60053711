// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/winograd/winograd.h"

#include <gtest/gtest.h>
#include <pthreadpool.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "third_party/xnnpack/winograd/convolution.h"
#include "third_party/xnnpack/winograd/filters.h"

namespace petrel::third_party::xnnpack {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Plane plane(size_t images, size_t height, size_t width, size_t depth, size_t outputs) {
  Plane p;
  p.images = images;
  p.height = height;
  p.width = width;
  p.depth = depth;
  p.outputs = outputs;
  return p;
}

Plane padded(Plane p, size_t top, size_t right, size_t bottom, size_t left) {
  p.top = top;
  p.right = right;
  p.bottom = bottom;
  p.left = left;
  return p;
}

Plane bounded(Plane p, float low, float high) {
  p.low = low;
  p.high = high;
  return p;
}

Plane apart(Plane p) {
  p.stride = 2;
  return p;
}

// With as many zeros around it as keep its size.
Plane dilated(Plane p, size_t dilation) {
  p.dilation = dilation;
  p.top = p.right = p.bottom = p.left = dilation;
  return p;
}

Plane in_groups(Plane p, size_t groups) {
  p.groups = groups;
  return p;
}

std::string describe(const Plane& p) {
  return std::to_string(p.images) + " x " + std::to_string(p.height) + " x " +
         std::to_string(p.width) + ", " + std::to_string(p.depth) + " -> " +
         std::to_string(p.outputs) + ", stride " + std::to_string(p.stride) + ", dilation " +
         std::to_string(p.dilation) + ", groups " + std::to_string(p.groups);
}

// Sides that are odd and even, channels that fill no vector, paddings on some sides, images that
// share a block.
const Plane kPlanes[] = {
    plane(1, 16, 16, 64, 64),
    plane(3, 7, 9, 16, 40),
    plane(2, 17, 17, 48, 33),
    plane(1, 3, 3, 20, 16),
    plane(1, 1, 1, 16, 16),
    plane(1, 5, 40, 19, 70),
    plane(1, 30, 30, 130, 20),
    padded(plane(2, 8, 11, 24, 24), 0, 0, 0, 0),
    padded(plane(1, 9, 9, 24, 24), 0, 0, 0, 0),
    padded(plane(1, 9, 10, 24, 24), 2, 0, 1, 2),
    padded(plane(1, 6, 5, 24, 24), 0, 2, 2, 0),
    bounded(plane(1, 12, 12, 32, 32), 0, 6),
    bounded(plane(1, 12, 12, 32, 32), -kInfinity, 0.5f),
    apart(plane(1, 32, 32, 64, 64)),
    apart(plane(1, 64, 70, 32, 32)),
    apart(plane(3, 7, 9, 16, 40)),
    apart(plane(2, 17, 18, 48, 33)),
    apart(plane(1, 1, 1, 16, 16)),
    apart(plane(1, 5, 40, 19, 70)),
    apart(padded(plane(2, 19, 11, 24, 24), 0, 0, 0, 0)),
    apart(padded(plane(1, 18, 20, 24, 24), 0, 1, 1, 0)),
    apart(padded(plane(1, 9, 10, 24, 24), 2, 0, 1, 2)),
    apart(bounded(plane(1, 24, 24, 32, 32), 0, 6)),
    dilated(plane(1, 28, 28, 64, 64), 2),
    dilated(plane(2, 9, 7, 24, 40), 2),
    dilated(plane(1, 17, 18, 48, 33), 3),
    dilated(plane(1, 14, 15, 32, 32), 4),
    dilated(plane(1, 5, 3, 16, 16), 6),
    padded(dilated(plane(1, 19, 22, 24, 24), 2), 0, 0, 0, 0),
    padded(dilated(plane(2, 13, 12, 24, 24), 3), 1, 2, 4, 0),
    in_groups(bounded(dilated(plane(1, 20, 13, 64, 64), 2), 0, 6), 2),
    in_groups(plane(1, 14, 14, 64, 64), 2),
    in_groups(plane(2, 9, 13, 48, 144), 3),
    in_groups(plane(1, 28, 27, 128, 128), 8),
    in_groups(bounded(plane(1, 6, 7, 100, 120), 0, 6), 5),
    in_groups(plane(1, 20, 20, 320, 320), 20),
    in_groups(apart(plane(2, 21, 18, 80, 160)), 4),
    in_groups(apart(padded(plane(1, 18, 20, 64, 64), 0, 1, 1, 0)), 2),
};

class Pool {
 public:
  explicit Pool(size_t threads) : pool_(pthreadpool_create(threads)) {}
  ~Pool() { pthreadpool_destroy(pool_); }
  pthreadpool_t get() const { return pool_; }

 private:
  pthreadpool_t pool_;
};

const std::pair<Way, Way> kPackedAndEachRun[] = {{Way::kWinograd, Way::kWinogradEachRun},
                                                 {Way::kLargeTiles, Way::kLargeTilesEachRun}};

TEST(WinogradTest, ErrorsAreAtMostThreeTimesThoseOfDirectConvolution) {
  for (const Plane& p : kPlanes) {
    SCOPED_TRACE(describe(p));
    Convolution layer(p);
    ASSERT_TRUE(layer.make(Way::kDirect, nullptr));
    layer.run();
    const double direct = layer.worst_error(1);
    const std::vector<float> direct_output = layer.output();
    for (const auto& [way, each_run] : kPackedAndEachRun) {
      ASSERT_TRUE(layer.make(way, nullptr));
      layer.run();
      // Layers of few channels need room: their sums are short.
      EXPECT_LE(layer.worst_error(1), 3 * direct + 1e-6);
      // It rounds otherwise somewhere, unless it is not used.
      EXPECT_NE(layer.output(), direct_output);
    }
  }
}

TEST(WinogradTest, AFilterThatIsMadeInEachRunGivesTheSameBits) {
  const Pool three(3);
  for (const Plane& p : kPlanes) {
    SCOPED_TRACE(describe(p));
    Convolution layer(p);
    for (const auto& [way, each_run] : kPackedAndEachRun) {
      ASSERT_TRUE(layer.make(way, nullptr));
      layer.run();
      const std::vector<float> packed = layer.output();
      for (const pthreadpool_t pool : {pthreadpool_t{nullptr}, three.get()}) {
        ASSERT_TRUE(layer.make(each_run, pool));
        for (int run = 0; run < 2; ++run) layer.run();
        EXPECT_EQ(std::memcmp(packed.data(), layer.output().data(), packed.size() * sizeof(float)),
                  0);
      }
    }
  }
}

TEST(WinogradTest, ThreadsChangeNoBit) {
  const Pool three(3);
  for (const Plane& p : kPlanes) {
    SCOPED_TRACE(describe(p));
    Convolution layer(p);
    for (const auto& [way, each_run] : kPackedAndEachRun) {
      ASSERT_TRUE(layer.make(way, nullptr));
      layer.run();
      const std::vector<float> alone = layer.output();
      ASSERT_TRUE(layer.make(way, three.get()));
      layer.run();
      EXPECT_EQ(std::memcmp(alone.data(), layer.output().data(), alone.size() * sizeof(float)), 0);
    }
  }
}

// A layer that is packed has two stages where panels come first, and one otherwise.
TEST(WinogradTest, AnOperatorMayBeGivenOtherSizes) {
  const Pool three(3);
  for (const auto& [way, each_run] : kPackedAndEachRun) {
    for (const Way one : {way, each_run}) {
      for (const pthreadpool_t pool : {pthreadpool_t{nullptr}, three.get()}) {
        Convolution layer(plane(1, 92, 92, 16, 512));
        ASSERT_TRUE(layer.make(one, pool));
        layer.run();
        const std::vector<float> expected = layer.output();
        for (const size_t side : {8u, 92u, 5u, 92u}) {
          ASSERT_TRUE(layer.resize(side, side));
          layer.run();
        }
        EXPECT_EQ(
            std::memcmp(expected.data(), layer.output().data(), expected.size() * sizeof(float)),
            0);
      }
    }
  }
}

bool is_same_kind(float a, double b) {
  if (std::isnan(b)) return std::isnan(a);
  if (std::isinf(b)) return static_cast<double>(a) == b;
  return std::isfinite(a);
}

struct WayAndStride {
  Way way;
  size_t stride;
  size_t dilation = 1;
};

class EachWay : public testing::TestWithParam<WayAndStride> {
 public:
  static Plane of_stride(Plane p) {
    p.stride = GetParam().stride;
    return GetParam().dilation == 1 ? p : dilated(p, GetParam().dilation);
  }
};

TEST_P(EachWay, NumbersThatAreNotFiniteStayWhereTheyAre) {
  const Plane p = of_stride(plane(2, 9, 12, 20, 37));
  Convolution layer(p);
  layer.input()[5] = kInfinity;
  layer.input()[4 * 20 + 3] = kNaN;
  layer.input()[(9 * 12 + 40) * 20 + 19] = -kInfinity;
  // Sums of these are finite, differences of their planes are not.
  layer.input()[(5 * 12 + 5) * 20] = 3e38f;
  layer.input()[(5 * 12 + 7) * 20] = -3e38f;
  for (size_t channel = 0; channel < p.outputs; ++channel) {
    for (size_t tap = 0; tap < 9; ++tap) layer.filter()[(channel * 9 + tap) * 20] *= 1e-3f;
  }
  ASSERT_TRUE(layer.make(GetParam().way, nullptr));
  layer.run();
  size_t i = 0;
  size_t not_finite = 0;
  for (size_t image = 0; image < p.images; ++image) {
    for (size_t row = 0; row < p.out_height(); ++row) {
      for (size_t column = 0; column < p.out_width(); ++column) {
        for (size_t channel = 0; channel < p.outputs; ++channel, ++i) {
          const double exact = layer.expected(image, row, column, channel);
          if (!std::isfinite(exact)) ++not_finite;
          ASSERT_TRUE(is_same_kind(layer.output()[i], exact))
              << image << " " << row << " " << column << " " << channel << ": " << layer.output()[i]
              << ", must be " << exact;
        }
      }
    }
  }
  EXPECT_GT(not_finite, 0u);
}

TEST_P(EachWay, ZerosInTheFilterMeetInfinityAsTheyDoDirectly) {
  const Plane p = of_stride(plane(1, 6, 6, 16, 16));
  Convolution layer(p);
  layer.input()[(2 * 6 + 2) * 16 + 1] = kInfinity;
  for (size_t channel = 0; channel < p.outputs; ++channel) {
    for (const size_t tap : {1u, 4u, 6u}) layer.filter()[(channel * 9 + tap) * 16 + 1] = 0;
  }
  ASSERT_TRUE(layer.make(GetParam().way, nullptr));
  layer.run();
  for (size_t i = 0; i < layer.output().size(); ++i) {
    const size_t pixel = i / p.outputs;
    ASSERT_TRUE(is_same_kind(
        layer.output()[i],
        layer.expected(0, pixel / p.out_width(), pixel % p.out_width(), i % p.outputs)))
        << i;
  }
}

TEST_P(EachWay, FiltersThatAreNotFiniteAreComputedDirectly) {
  Convolution layer(of_stride(plane(1, 10, 10, 16, 16)));
  layer.filter()[7] = kInfinity;
  layer.filter()[3000 % layer.filter().size()] = kNaN;
  ASSERT_TRUE(layer.make(Way::kDirect, nullptr));
  layer.run();
  const std::vector<float> direct = layer.output();
  ASSERT_TRUE(layer.make(GetParam().way, nullptr));
  layer.run();
  EXPECT_EQ(std::memcmp(direct.data(), layer.output().data(), direct.size() * sizeof(float)), 0);
}

constexpr WayAndStride kWaysAndStrides[] = {
    {Way::kWinograd, 1},           {Way::kWinograd, 2},          {Way::kWinogradEachRun, 1},
    {Way::kWinogradEachRun, 2},    {Way::kLargeTiles, 1},        {Way::kLargeTiles, 2},
    {Way::kLargeTilesEachRun, 1},  {Way::kLargeTilesEachRun, 2}, {Way::kWinograd, 1, 2},
    {Way::kWinogradEachRun, 1, 3}, {Way::kLargeTiles, 1, 2},     {Way::kLargeTilesEachRun, 1, 2},
};
INSTANTIATE_TEST_SUITE_P(Winograd, EachWay, testing::ValuesIn(kWaysAndStrides));

TEST(WinogradTest, KeptFiltersAreAsLargeAsDirectOnes) {
  EXPECT_EQ(winograd_kept_floats(64, 64, 32), 2 * (32 + 9 * 64 * 32));
  EXPECT_EQ(winograd_kept_floats(20, 33, 32), 2 * (32 + 9 * 20 * 32));
}

// What comes first and what follows are either all tiles of V and panels, or panels and blocks.
TEST(WinogradTest, WholeMemoryIsOfTheSmallerOfInputAndFilter) {
  const float kept[1] = {0};
  for (const winograd_transforms* transforms :
       {&winograd_2_plain, &winograd_4_plain, &winograd_2_apart_plain, &winograd_4_apart_plain}) {
    for (const size_t depth : {16u, 64u, 200u, 2048u}) {
      for (const size_t side : {1u, 9u, 100u, 2000u}) {
        for (const size_t threads : {1u, 2u, 3u}) {
          winograd_layer layer = {};
          layer.transforms = transforms;
          layer.groups = 1;
          layer.depth = depth;
          layer.outputs = 128;
          layer.dilation = 1;
          layer.panel_columns = 32;
          layer.panel_rows = 14;
          layer.output_height = layer.output_width = side;
          layer.kept = kept;
          winograd_plan(&layer, 1, threads);
          const size_t input = transforms->planes * (layer.tiles * depth + 16);
          const size_t filter = winograd_packed_floats(transforms->filter_planes, depth, 128, 32);
          const bool splits_evenly = threads != 3;
          EXPECT_LE(winograd_shared_floats(&layer),
                    (splits_evenly ? std::min(input, filter) : filter) + 16);
          if (!layer.has_panels_first) {
            EXPECT_GE(winograd_tasks(&layer) * layer.block, layer.tiles);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
