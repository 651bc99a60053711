// SPDX-License-Identifier: Apache-2.0

// Transposed convolutions with strides compute what the definition says and write nothing else,
// with the instructions that the variable ISA names; the same bits with any number of threads, and
// after other sizes.
#include <gtest/gtest.h>
#include <pthreadpool.h>
#include <xnnpack.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "petrel/cap.h"

namespace petrel::third_party::xnnpack {
namespace {

using Operator = std::unique_ptr<xnn_operator, decltype(&xnn_delete_operator)>;
using Pool = std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)>;

constexpr float kUntouched = 12345;
constexpr size_t kBehind = 3;  // floats behind the channels of a pixel, in and out
constexpr float kLow = -0.9F, kHigh = 1.1F;

struct Side {
  uint32_t kernel, stride, padding_before, padding_after, adjustment;

  size_t out(size_t in) const {
    return stride * (in - 1) + adjustment + kernel - padding_before - padding_after;
  }
};

struct Layer {
  const char* name;
  Side height, width;
  uint32_t groups;
  size_t in, out;  // channels of a group
};

struct Size {
  size_t images, height, width;
};

void PrintTo(const Layer& layer, std::ostream* os) { *os << layer.name; }

std::vector<float> numbers(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> result(count + XNN_EXTRA_BYTES / sizeof(float));
  for (float& x : result) x = uniform(generator);
  return result;
}

// A layer with weights, its operator and what it reads and writes.
class Transposed {
 public:
  explicit Transposed(const Layer& layer)
      : layer_(layer),
        weights_(numbers(layer.groups * layer.out * taps() * layer.in, 1)),
        bias_(numbers(layer.groups * layer.out, 2)),
        op_(make(), &xnn_delete_operator) {}

  std::vector<float> compute(const Size& size, size_t threads) {
    const Pool pool(pthreadpool_create(threads), &pthreadpool_destroy);
    input_ = numbers(size.images * size.height * size.width * in_stride(), 3);
    size_t height = 0, width = 0;
    EXPECT_EQ(xnn_reshape_deconvolution2d_nhwc_f32(
                  op_.get(), size.images, size.height, size.width, layer_.height.adjustment,
                  layer_.width.adjustment, &height, &width, pool.get()),
              xnn_status_success);
    EXPECT_EQ(height, layer_.height.out(size.height));
    EXPECT_EQ(width, layer_.width.out(size.width));
    std::vector<float> output(size.images * height * width * out_stride(), kUntouched);
    EXPECT_EQ(xnn_setup_deconvolution2d_nhwc_f32(op_.get(), input_.data(), output.data()),
              xnn_status_success);
    EXPECT_EQ(xnn_run_operator(op_.get(), pool.get()), xnn_status_success);
    return output;
  }

  // Of the numbers that were computed with last: each pixel of the input adds a window.
  std::vector<double> expected(const Size& size) const {
    const size_t height = layer_.height.out(size.height), width = layer_.width.out(size.width);
    std::vector<double> sums(size.images * height * width * out_stride(), kUntouched);
    for (size_t i = 0; i < sums.size(); ++i) {
      if (i % out_stride() < channels()) sums[i] = bias_[i % out_stride()];
    }
    for (size_t pixel = 0; pixel < size.images * size.height * size.width; ++pixel) {
      const size_t image = pixel / (size.height * size.width);
      const size_t y = pixel / size.width % size.height, x = pixel % size.width;
      for (size_t tap = 0; tap < taps(); ++tap) {
        const size_t row =
            y * layer_.height.stride + tap / layer_.width.kernel - layer_.height.padding_before;
        const size_t column =
            x * layer_.width.stride + tap % layer_.width.kernel - layer_.width.padding_before;
        if (row >= height || column >= width) continue;
        add(pixel, tap, &sums[((image * height + row) * width + column) * out_stride()]);
      }
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      if (i % out_stride() < channels()) sums[i] = std::clamp<double>(sums[i], kLow, kHigh);
    }
    return sums;
  }

 private:
  size_t taps() const { return size_t{layer_.height.kernel} * layer_.width.kernel; }
  size_t channels() const { return layer_.groups * layer_.out; }
  size_t in_stride() const { return layer_.groups * layer_.in + kBehind; }
  size_t out_stride() const { return channels() + kBehind; }

  void add(size_t pixel, size_t tap, double* to) const {
    for (size_t channel = 0; channel < channels(); ++channel) {
      const size_t group = channel / layer_.out;
      for (size_t k = 0; k < layer_.in; ++k) {
        to[channel] += double{input_[pixel * in_stride() + group * layer_.in + k]} *
                       weights_[(channel * taps() + tap) * layer_.in + k];
      }
    }
  }

  xnn_operator_t make() const {
    const Side &h = layer_.height, &w = layer_.width;
    xnn_operator_t made = nullptr;
    EXPECT_EQ(
        xnn_create_deconvolution2d_nhwc_f32(
            h.padding_before, w.padding_after, h.padding_after, w.padding_before, h.kernel,
            w.kernel, h.stride, w.stride, 1, 1, layer_.groups, layer_.in, layer_.out, in_stride(),
            out_stride(), weights_.data(), bias_.data(), kLow, kHigh, 0, nullptr, nullptr, &made),
        xnn_status_success);
    return made;
  }

  const Layer layer_;
  const std::vector<float> weights_, bias_;
  const Operator op_;
  std::vector<float> input_;
};

constexpr Side kDoubled = {4, 2, 1, 1, 0};
constexpr Side kSideBySide = {2, 2, 0, 0, 0};
constexpr Side kUneven = {3, 2, 1, 0, 1};
constexpr Side kThin = {5, 4, 2, 2, 0};
constexpr Side kOne = {1, 1, 0, 0, 0};

const Layer kLayers[] = {
    {"Doubled", kDoubled, kDoubled, 1, 19, 70},
    {"ManyChannels", kDoubled, kDoubled, 1, 300, 140},
    {"FewOutputs", kDoubled, kDoubled, 1, 33, 3},
    {"SideBySide", kSideBySide, kSideBySide, 1, 40, 130},
    {"SideBySideOfManyChannels", kSideBySide, kSideBySide, 1, 300, 140},
    {"Uneven", kUneven, kDoubled, 1, 24, 32},
    {"Thin", kThin, kUneven, 1, 7, 40},
    {"Groups", kUneven, kUneven, 3, 5, 9},
    {"Line", kOne, {16, 8, 4, 4, 0}, 1, 30, 24},
    {"OnePixel", {4, 4, 1, 1, 0}, {5, 5, 0, 2, 1}, 1, 30, 50},
    {"Column", {16, 8, 4, 4, 0}, kOne, 1, 30, 24},
};

// One tile, tiles that go on in several lines and in the next one, lines of whole tiles; as few
// images as threads, and more.
const Size kSizes[] = {{1, 4, 4},   {1, 1, 1}, {3, 4, 4},  {1, 9, 13},
                       {1, 17, 28}, {2, 3, 5}, {5, 8, 14}, {1, 2, 45}};

class PhasesTest : public testing::TestWithParam<Layer> {
 protected:
  static void SetUpTestSuite() {
    const char* isa = std::getenv("ISA");
    ASSERT_NE(isa, nullptr);
    const uint32_t sse = XNN_CAP_SSSE3 | XNN_CAP_SSE4_1;
    if (isa == std::string("sse")) {
      ASSERT_TRUE(xnn_set_cap(sse, ""));
    } else if (isa == std::string("avx")) {
      ASSERT_TRUE(xnn_set_cap(sse | XNN_CAP_AVX, ""));
    } else if (isa == std::string("avx2")) {
      ASSERT_TRUE(xnn_set_cap(sse | XNN_CAP_AVX | XNN_CAP_F16C | XNN_CAP_FMA3 | XNN_CAP_AVX2, ""));
    } else {
      ASSERT_EQ(isa, std::string("native"));
    }
    ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
  }
};

TEST_P(PhasesTest, ComputesWhatTheDefinitionSays) {
  for (const Size& size : kSizes) {
    Transposed run(GetParam());
    const std::vector<float> output = run.compute(size, 2);
    const std::vector<double> expected = run.expected(size);
    ASSERT_EQ(output.size(), expected.size());
    for (size_t i = 0; i < output.size(); ++i) {
      ASSERT_NEAR(output[i], expected[i], 1e-4)
          << size.images << " x " << size.height << " x " << size.width << " at " << i;
    }
  }
}

TEST_P(PhasesTest, GivesTheSameBitsHoweverWorkIsCutAndAfterOtherSizes) {
  std::vector<std::vector<float>> alone;
  for (const Size& size : kSizes) alone.push_back(Transposed(GetParam()).compute(size, 1));
  Transposed run(GetParam());
  for (size_t threads : {1, 2, 3, 4}) {
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(run.compute(kSizes[i], threads), alone[i]) << threads << " threads, size " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, PhasesTest, testing::ValuesIn(kLayers),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace petrel::third_party::xnnpack
