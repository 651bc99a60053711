// SPDX-License-Identifier: Apache-2.0

// Depthwise convolutions of halves are the sums of the definition, rounded once, and write nothing
// else, with the instructions that the variable ISA names.
#include <gtest/gtest.h>
#include <xnnpack.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "petrel/cap.h"
#include "xnnpack/math.h"

namespace petrel::third_party::xnnpack {
namespace {

constexpr float kUntouched = 12345;
constexpr size_t kBatch = 2;
constexpr size_t kBehind = 3;  // halves behind the channels of a pixel of the output
constexpr float kLow = -0.5F;

using Halves = std::vector<xnn_float16>;

struct Shape {
  uint32_t size;
  uint32_t stride;
  size_t channels;
  size_t height;
  size_t width;
  bool has_bounds = true;

  size_t out(size_t side) const { return (side - 1) / stride + 1; }
};

float value(xnn_float16 half) { return xnn_float16_to_float(half); }

Halves numbers(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Halves result(count + XNN_EXTRA_BYTES / sizeof(xnn_float16), xnn_float16_from_float(0));
  for (size_t i = 0; i < count; ++i) result[i] = xnn_float16_from_float(uniform(generator));
  return result;
}

class HalfPixelsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* isa = std::getenv("ISA");
    ASSERT_NE(isa, nullptr);
    if (isa == std::string("avx2")) {
      ASSERT_TRUE(xnn_set_cap(
          XNN_CAP_SSSE3 | XNN_CAP_SSE4_1 | XNN_CAP_AVX | XNN_CAP_F16C | XNN_CAP_FMA3 | XNN_CAP_AVX2,
          ""));
    }
    ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
  }
  void SetUp() override {
    if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "the machine has no AVX2";
  }
};

// Element [batch, y, x, channel] of the output.
double expected(const Shape& s, const Halves& in, const Halves& kernel, const Halves& bias,
                size_t batch, size_t y, size_t x, size_t channel) {
  double sum = value(bias[channel]);
  for (size_t ky = 0; ky < s.size; ++ky) {
    for (size_t kx = 0; kx < s.size; ++kx) {
      const size_t row = y * s.stride + ky - s.size / 2, column = x * s.stride + kx - s.size / 2;
      if (row >= s.height || column >= s.width) continue;
      const size_t pixel = (batch * s.height + row) * s.width + column;
      sum += static_cast<double>(value(in[pixel * s.channels + channel])) *
             value(kernel[(ky * s.size + kx) * s.channels + channel]);
    }
  }
  return s.has_bounds ? std::fmax(sum, kLow) : sum;
}

void run(const Shape& s, const Halves& in, const Halves& kernel, const Halves& bias, Halves* out) {
  xnn_operator_t op = nullptr;
  const auto padding = s.size / 2;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  ASSERT_EQ(xnn_create_convolution2d_nhwc_f16(
                padding, padding, padding, padding, s.size, s.size, s.stride, s.stride, 1, 1,
                static_cast<uint32_t>(s.channels), 1, 1, s.channels, s.channels + kBehind,
                kernel.data(), bias.data(), s.has_bounds ? kLow : -kInfinity, kInfinity,
                XNN_FLAG_DEPTHWISE_CONVOLUTION, nullptr, nullptr, &op),
            xnn_status_success);
  size_t workspace = 0, alignment = 0, rows = 0, columns = 0;
  ASSERT_EQ(xnn_reshape_convolution2d_nhwc_f16(op, kBatch, s.height, s.width, &workspace,
                                               &alignment, &rows, &columns, nullptr),
            xnn_status_success);
  std::vector<char> room(workspace + alignment);
  const auto place = reinterpret_cast<uintptr_t>(room.data());
  const uintptr_t aligned =
      alignment == 0 ? place : (place + alignment - 1) / alignment * alignment;
  ASSERT_EQ(xnn_setup_convolution2d_nhwc_f16(op, reinterpret_cast<void*>(aligned), in.data(),
                                             out->data()),
            xnn_status_success);
  ASSERT_EQ(xnn_run_operator(op, nullptr), xnn_status_success);
  ASSERT_EQ(xnn_delete_operator(op), xnn_status_success);
}

void check(const Shape& s) {
  SCOPED_TRACE(std::to_string(s.size) + " by " + std::to_string(s.stride) + ", " +
               std::to_string(s.channels) + " channels, " + std::to_string(s.height) + " x " +
               std::to_string(s.width));
  const size_t height = s.out(s.height), width = s.out(s.width), pixel = s.channels + kBehind;
  const Halves in = numbers(kBatch * s.height * s.width * s.channels, 1);
  const Halves kernel = numbers(s.size * s.size * s.channels, 2), bias = numbers(s.channels, 3);
  Halves out(kBatch * height * width * pixel + 16, xnn_float16_from_float(kUntouched));
  run(s, in, kernel, bias, &out);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t place = i / pixel, channel = i % pixel;
    if (place >= kBatch * height * width || channel >= s.channels) {
      ASSERT_EQ(value(out[i]), value(xnn_float16_from_float(kUntouched))) << "element " << i;
      continue;
    }
    const double right = expected(s, in, kernel, bias, place / width / height,
                                  place / width % height, place % width, channel);
    // Half a unit in the last place, and what sums of floats are off.
    const double allowed = std::max(std::ldexp(std::fabs(right), -11) * 1.01, 3e-6);
    ASSERT_NEAR(value(out[i]), right, allowed) << "element " << i;
  }
}

TEST_F(HalfPixelsTest, AreRoundedOnceAndWriteNothingElse) {
  for (const uint32_t size : {3, 5, 7}) {
    for (const uint32_t stride : {1, 2, 3}) {
      for (const size_t channels : {1, 7, 8, 15, 16, 17, 40}) {
        for (const size_t width : {1, 2, 4, 7, 8, 10, 14, 21}) {
          check({size, stride, channels, 5, width});
        }
      }
    }
  }
}

TEST_F(HalfPixelsTest, HaveSumsWithoutBounds) {
  for (const uint32_t size : {3, 5, 7}) {
    for (const size_t channels : {3, 16, 43}) check({size, 1, channels, 4, 13, false});
  }
}

TEST_F(HalfPixelsTest, KeepWhatIsNotANumber) {
  const Shape shape = {3, 1, 17, 6, 9};
  Halves in = numbers(kBatch * 6 * 9 * 17, 1);
  in[(2 * 9 + 4) * 17 + 16] = xnn_float16_from_float(std::nanf(""));
  const Halves kernel = numbers(9 * 17, 2), bias = numbers(17, 3);
  Halves out(kBatch * 6 * 9 * (17 + kBehind));
  run({3, 1, 17, 6, 9, false}, in, kernel, bias, &out);
  for (size_t pixel = 0; pixel < size_t{6} * 9; ++pixel) {
    const size_t y = pixel / 9, x = pixel % 9;
    const bool sees = y >= 1 && y <= 3 && x >= 3 && x <= 5;
    for (size_t channel = 0; channel < shape.channels; ++channel) {
      const float y_c = value(out[pixel * (17 + kBehind) + channel]);
      ASSERT_EQ(std::isnan(y_c), sees && channel == 16) << pixel << " " << channel;
    }
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
