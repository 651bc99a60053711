// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/volume_taps.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

// One number per plane, and sums of products as PyTorch defines them.
std::vector<int64_t> convolve(const Depth& d, const std::vector<int64_t>& filter,
                              const std::vector<int64_t>& in) {
  std::vector<int64_t> out(static_cast<size_t>(d.out), 0);
  for (int64_t o = 0; o < d.out; ++o) {
    for (int64_t k = 0; k < d.kernel; ++k) {
      const int64_t i = o * d.stride + k * d.dilation - d.padding;
      if (i >= 0 && i < d.in) out[o] += filter[k] * in[i];
    }
  }
  return out;
}

std::vector<int64_t> spread(const Depth& d, const std::vector<int64_t>& filter,
                            const std::vector<int64_t>& in) {
  std::vector<int64_t> out(static_cast<size_t>(d.out), 0);
  for (int64_t i = 0; i < d.in; ++i) {
    for (int64_t k = 0; k < d.kernel; ++k) {
      const int64_t o = i * d.stride + k * d.dilation - d.padding;
      if (o >= 0 && o < d.out) out[o] += filter[k] * in[i];
    }
  }
  return out;
}

void expect_inside(const Tap& tap, const Depth& d, int64_t stride, int64_t out) {
  EXPECT_GE(tap.count, 1);
  EXPECT_GE(tap.in, 0);
  EXPECT_LT(tap.in + (tap.count - 1) * stride, d.in);
  EXPECT_GE(tap.out, 0);
  EXPECT_LE(tap.out + tap.count, out);
}

std::vector<int64_t> distinct(int64_t count) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(1 + i * i * 7 + i);
  return numbers;
}

// Calls `check` for all small depths; `out` is that of a convolution or a transposed one.
template <typename Check>
void for_depths(bool transposed, const Check& check) {
  for (int64_t in = 1; in <= 7; ++in) {
    for (int64_t kernel = 1; kernel <= 4; ++kernel) {
      for (int64_t stride = 1; stride <= 3; ++stride) {
        for (int64_t padding = 0; padding <= 3; ++padding) {
          for (int64_t dilation = 1; dilation <= 3; ++dilation) {
            const int64_t reach = (kernel - 1) * dilation + 1;
            for (int64_t extra = 0; extra < (transposed ? stride : 1); ++extra) {
              const int64_t rest = in + 2 * padding - reach;
              const int64_t out = transposed ? (in - 1) * stride + reach + extra - 2 * padding
                                             : (rest < 0 ? 0 : rest / stride + 1);
              if (out >= 1) check(Depth{in, out, kernel, stride, padding, dilation});
            }
          }
        }
      }
    }
  }
}

TEST(VolumeTaps, SumToTheConvolution) {
  for_depths(false, [](const Depth& d) {
    const std::vector<int64_t> filter = distinct(d.kernel), in = distinct(d.in);
    std::vector<int64_t> out(static_cast<size_t>(d.out), 0);
    int64_t before = -1;
    for (const Tap& tap : taps_of(d)) {
      expect_inside(tap, d, d.stride, d.out);
      EXPECT_TRUE(before < 0 || tap.plane > before);
      before = tap.plane;
      for (int64_t i = 0; i < tap.count; ++i) {
        out[tap.out + i] += filter[tap.plane] * in[tap.in + i * d.stride];
      }
    }
    EXPECT_EQ(out, convolve(d, filter, in));
  });
}

TEST(VolumeTaps, SumToTheTransposedConvolution) {
  for_depths(true, [](const Depth& d) {
    const std::vector<int64_t> filter = distinct(d.kernel), in = distinct(d.in);
    std::vector<int64_t> out(static_cast<size_t>(class_size(d) * d.stride), 0);
    for (int64_t rest = 0; rest < d.stride; ++rest) {
      for (const Tap& tap : transposed_taps_of(d, rest)) {
        expect_inside(tap, d, 1, class_size(d));
        for (int64_t i = 0; i < tap.count; ++i) {
          out[(tap.out + i) * d.stride + rest] += filter[tap.plane] * in[tap.in + i];
        }
      }
    }
    out.resize(static_cast<size_t>(d.out));
    EXPECT_EQ(out, spread(d, filter, in));
  });
}

TEST(VolumeTaps, LeavesOutAPlaneBetweenOthersThatAStrideLeavesOut) {
  const std::vector<Tap> taps = taps_of({2, 2, 3, 3, 2, 1});
  ASSERT_EQ(taps.size(), 2u);
  EXPECT_EQ(taps[0].plane, 0);
  EXPECT_EQ(taps[1].plane, 2);
  EXPECT_FALSE(are_neighbours(taps));
  EXPECT_TRUE(are_neighbours(taps_of({4, 4, 3, 1, 1, 1})));
}

TEST(VolumeTaps, LeavesOutPlanesThatMeetPaddingAlone) {
  const std::vector<Tap> taps = taps_of({1, 1, 3, 1, 1, 1});
  ASSERT_EQ(taps.size(), 1u);
  EXPECT_EQ(taps[0].plane, 1);
  EXPECT_TRUE(taps_of({1, 2, 2, 1, 3, 5}).empty());
}

}  // namespace
}  // namespace petrel::backends::xnnpack::aot
