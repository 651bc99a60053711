// SPDX-License-Identifier: Apache-2.0

// Convolutions in groups of few channels compute what the definition says and write
// nothing else, with the instructions that the variable ISA names.
#include <gtest/gtest.h>
#include <xnnpack.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "petrel/cap.h"

namespace petrel::third_party::xnnpack {
namespace {

constexpr float kUntouched = 12345;
constexpr size_t kBatch = 2;
constexpr size_t kBehind = 3;  // floats behind the channels of a pixel of the output
constexpr float kLow = -0.9F;

struct Shape {
  size_t groups;
  size_t channels;  // of a group, in and out
  uint32_t stride;
  uint32_t dilation;
  uint32_t padding;
  size_t height;
  size_t width;

  size_t all() const { return groups * channels; }
  size_t out(size_t side) const {
    const size_t window = 2 * dilation + 1, padded = side + 2 * padding;
    return padded < window ? 0 : (padded - window) / stride + 1;
  }
};

// Random numbers with a fixed seed.
std::vector<float> numbers(size_t count, size_t behind = 0) {
  std::mt19937 generator(static_cast<uint32_t>(count));
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> result(count);
  for (float& x : result) x = uniform(generator);
  result.resize(count + behind);
  return result;
}

class GroupedTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* isa = std::getenv("ISA");
    ASSERT_NE(isa, nullptr);
    const uint32_t avx = XNN_CAP_SSSE3 | XNN_CAP_SSE4_1 | XNN_CAP_AVX;
    if (isa == std::string("avx")) {
      ASSERT_TRUE(xnn_set_cap(avx, ""));
    } else if (isa == std::string("avx2")) {
      ASSERT_TRUE(xnn_set_cap(avx | XNN_CAP_F16C | XNN_CAP_FMA3 | XNN_CAP_AVX2, ""));
    } else {
      ASSERT_EQ(isa, std::string("native"));
    }
    ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
  }
};

// Element [batch, y, x, channel] of the output, in double.
double expected(const Shape& s, const std::vector<float>& in, const std::vector<float>& kernel,
                const std::vector<float>& bias, size_t batch, size_t y, size_t x, size_t channel) {
  const size_t first = channel / s.channels * s.channels;
  double sum = bias[channel];
  for (size_t ky = 0; ky < 3; ++ky) {
    for (size_t kx = 0; kx < 3; ++kx) {
      const size_t row = y * s.stride + ky * s.dilation - s.padding;
      const size_t column = x * s.stride + kx * s.dilation - s.padding;
      if (row >= s.height || column >= s.width) continue;
      for (size_t i = 0; i < s.channels; ++i) {
        sum += static_cast<double>(
                   in[((batch * s.height + row) * s.width + column) * s.all() + first + i]) *
               kernel[((channel * 3 + ky) * 3 + kx) * s.channels + i];
      }
    }
  }
  return std::fmax(sum, kLow);
}

void check(const Shape& s) {
  SCOPED_TRACE(std::to_string(s.groups) + " groups of " + std::to_string(s.channels) + ", stride " +
               std::to_string(s.stride) + ", dilation " + std::to_string(s.dilation) +
               ", padding " + std::to_string(s.padding) + ", " + std::to_string(s.height) + " x " +
               std::to_string(s.width));
  const size_t height = s.out(s.height), width = s.out(s.width), pixel = s.all() + kBehind;
  if (height == 0 || width == 0) return;
  const std::vector<float> in =
      numbers(kBatch * s.height * s.width * s.all(), XNN_EXTRA_BYTES / sizeof(float));
  const std::vector<float> kernel = numbers(s.all() * 9 * s.channels), bias = numbers(s.all());
  std::vector<float> out(kBatch * height * width * pixel + 16, kUntouched);
  xnn_operator_t op = nullptr;
  ASSERT_EQ(xnn_create_convolution2d_nhwc_f32(
                s.padding, s.padding, s.padding, s.padding, 3, 3, s.stride, s.stride, s.dilation,
                s.dilation, static_cast<uint32_t>(s.groups), s.channels, s.channels, s.all(), pixel,
                kernel.data(), bias.data(), kLow, INFINITY, 0, nullptr, nullptr, &op),
            xnn_status_success);
  size_t workspace = 0, alignment = 0, rows = 0, columns = 0;
  ASSERT_EQ(xnn_reshape_convolution2d_nhwc_f32(op, kBatch, s.height, s.width, &workspace,
                                               &alignment, &rows, &columns, nullptr),
            xnn_status_success);
  ASSERT_EQ(rows, height);
  ASSERT_EQ(columns, width);
  ASSERT_EQ(xnn_setup_convolution2d_nhwc_f32(op, nullptr, in.data(), out.data()),
            xnn_status_success);
  ASSERT_EQ(xnn_run_operator(op, nullptr), xnn_status_success);
  ASSERT_EQ(xnn_delete_operator(op), xnn_status_success);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t place = i / pixel, channel = i % pixel;
    if (place >= kBatch * height * width || channel >= s.all()) {
      // Behind the last pixel of the batch nothing is written either.
      ASSERT_EQ(out[i], kUntouched) << "element " << i;
      continue;
    }
    const size_t y = place / width % height, x = place % width;
    ASSERT_NEAR(out[i], expected(s, in, kernel, bias, place / width / height, y, x, channel), 2e-5)
        << "pixel " << y << ", " << x << ", channel " << channel;
  }
}

TEST_F(GroupedTest, ComputesWhatTheDefinitionSaysAndWritesNothingElse) {
  for (const size_t channels : {2, 3, 4, 8, 9, 15, 16, 17}) {
    for (const size_t groups : {2, 3, 5, 12}) {
      for (const uint32_t stride : {1, 2, 3}) {
        for (const size_t width : {3, 4, 5, 8, 13, 19}) {
          check({groups, channels, stride, 1, 1, 4, width});
        }
      }
    }
  }
}

TEST_F(GroupedTest, ComputesAllPaddingsAndDilations) {
  for (const size_t channels : {2, 4, 8}) {
    for (const uint32_t padding : {0, 1, 2, 4}) {
      for (const uint32_t dilation : {1, 2}) check({6, channels, 1, dilation, padding, 5, 17});
    }
    check({8, channels, 1, 1, 1, 40, 3});
    check({1, channels, 1, 1, 1, 4, 9});
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
