// SPDX-License-Identifier: Apache-2.0

// Convolutions at whose borders many taps see only padding compute what the definition says, with
// the instructions that the variable ISA names, and such taps are left out.
#include <gtest/gtest.h>
#include <xnnpack.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "petrel/cap.h"
#include "xnnpack/config.h"

namespace petrel::third_party::xnnpack {
namespace {

using Operator = std::unique_ptr<xnn_operator, decltype(&xnn_delete_operator)>;

struct Side {
  size_t size;
  uint32_t kernel, dilation, padding_before, padding_after, stride;

  size_t out() const {
    return (size + padding_before + padding_after - (kernel - 1) * dilation - 1) / stride + 1;
  }
};

struct Layer {
  const char* name;
  Side height, width;
  size_t in, out;
};

void PrintTo(const Layer& layer, std::ostream* os) { *os << layer.name; }

constexpr Side kOne = {1, 1, 1, 0, 0, 1};

const Layer kLayers[] = {
    {"Sequence", kOne, {64, 29, 2, 28, 28, 1}, 12, 70},
    {"Causal", kOne, {60, 3, 20, 40, 0, 1}, 19, 40},
    {"CausalOfFewOutputs", kOne, {60, 3, 20, 40, 0, 1}, 19, 7},
    {"CausalOfNoWholeBlock", kOne, {61, 3, 20, 40, 0, 1}, 20, 24},
    {"BlockAndHalf", kOne, {61, 3, 20, 40, 0, 1}, 20, 48},
    {"Padded", {4, 7, 1, 6, 6, 1}, {5, 7, 1, 6, 6, 1}, 5, 33},
    {"Dilated", {9, 3, 6, 6, 6, 1}, {17, 3, 6, 6, 6, 1}, 16, 64},
    {"Strided", {14, 3, 1, 1, 1, 2}, {28, 3, 1, 1, 1, 2}, 32, 32},
    // Some windows see nothing at all.
    {"Beside", kOne, {4, 2, 1, 20, 30, 1}, 8, 32},
};

std::vector<float> numbers(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> result(count + XNN_EXTRA_BYTES / sizeof(float));
  for (float& x : result) x = uniform(generator);
  return result;
}

class ZeroTapsTest : public testing::TestWithParam<Layer> {
 protected:
  static void SetUpTestSuite() {
    const char* isa = std::getenv("ISA");
    ASSERT_NE(isa, nullptr);
    if (isa == std::string("avx2")) {
      ASSERT_TRUE(xnn_set_cap(
          XNN_CAP_SSSE3 | XNN_CAP_SSE4_1 | XNN_CAP_AVX | XNN_CAP_F16C | XNN_CAP_FMA3 | XNN_CAP_AVX2,
          ""));
    } else {
      ASSERT_EQ(isa, std::string("native"));
    }
    ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
  }

  static std::vector<float> run(const Layer& layer, const std::vector<float>& input,
                                const std::vector<float>& weights, const std::vector<float>& bias) {
    const Side &h = layer.height, &w = layer.width;
    xnn_operator_t made = nullptr;
    EXPECT_EQ(xnn_create_convolution2d_nhwc_f32(
                  h.padding_before, w.padding_after, h.padding_after, w.padding_before, h.kernel,
                  w.kernel, h.stride, w.stride, h.dilation, w.dilation, 1, layer.in, layer.out,
                  layer.in, layer.out, weights.data(), bias.data(), -INFINITY, INFINITY, 0, nullptr,
                  nullptr, &made),
              xnn_status_success);
    const Operator op(made, &xnn_delete_operator);
    size_t workspace = 0, alignment = 0, height = 0, width = 0;
    EXPECT_EQ(xnn_reshape_convolution2d_nhwc_f32(made, 1, h.size, w.size, &workspace, &alignment,
                                                 &height, &width, nullptr),
              xnn_status_success);
    EXPECT_EQ(workspace, 0u);
    std::vector<float> output(height * width * layer.out);
    EXPECT_EQ(xnn_setup_convolution2d_nhwc_f32(made, nullptr, input.data(), output.data()),
              xnn_status_success);
    EXPECT_EQ(xnn_run_operator(made, nullptr), xnn_status_success);
    return output;
  }
};

double expected(const Layer& layer, const std::vector<float>& input,
                const std::vector<float>& weights, size_t row, size_t column, size_t channel) {
  const Side &h = layer.height, &w = layer.width;
  double sum = 0;
  for (size_t tap = 0; tap < size_t{h.kernel} * w.kernel; ++tap) {
    const size_t y = row * h.stride + tap / w.kernel * h.dilation - h.padding_before;
    const size_t x = column * w.stride + tap % w.kernel * w.dilation - w.padding_before;
    if (y >= h.size || x >= w.size) continue;
    for (size_t k = 0; k < layer.in; ++k) {
      sum += double{input[(y * w.size + x) * layer.in + k]} *
             weights[(channel * h.kernel * w.kernel + tap) * layer.in + k];
    }
  }
  return sum;
}

TEST_P(ZeroTapsTest, GivesWhatTheDefinitionSays) {
  const Layer& layer = GetParam();
  const size_t taps = size_t{layer.height.kernel} * layer.width.kernel;
  const auto input = numbers(layer.height.size * layer.width.size * layer.in, 1);
  const auto weights = numbers(layer.out * taps * layer.in, 2), bias = numbers(layer.out, 3);
  const std::vector<float> output = run(layer, input, weights, bias);
  const size_t width = layer.width.out();
  ASSERT_EQ(output.size(), layer.height.out() * width * layer.out);
  for (size_t i = 0; i < output.size(); ++i) {
    const size_t pixel = i / layer.out, channel = i % layer.out;
    ASSERT_NEAR(
        output[i],
        bias[channel] + expected(layer, input, weights, pixel / width, pixel % width, channel),
        1e-4)
        << "at " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, ZeroTapsTest, testing::ValuesIn(kLayers),
                         [](const auto& info) { return std::string(info.param.name); });

// Whether the kernels that leave taps out are this machine's: others multiply by zeros.
bool leaves_out() {
  const xnn_gemm_config* config = xnn_init_f32_gemm_config();
  return (config->mr == 14 && config->nr == 32) || (config->mr == 6 && config->nr == 16);
}

// Of one line of pixels and a high window: all taps but those of the line are not numbers. One
// pixel, or a few, have a kernel of their own.
TEST_F(ZeroTapsTest, AreLeftOut) {
  for (const size_t pixels : {5, 8, 15, 16, 17, 30}) {
    for (const size_t outputs : {16, 24, 40, 48, 70}) {
      SCOPED_TRACE(std::to_string(pixels) + " pixels, " + std::to_string(outputs) + " outputs");
      const Layer layer = {"line", {1, 5, 1, 2, 2, 1}, {pixels, 1, 1, 0, 0, 1}, 6, outputs};
      const auto input = numbers(pixels * layer.in, 1), bias = numbers(outputs, 3);
      auto weights = numbers(outputs * 5 * layer.in, 2);
      for (size_t i = 0; i < outputs * 5 * layer.in; ++i) {
        if (i / layer.in % 5 != 2) weights[i] = std::numeric_limits<float>::quiet_NaN();
      }
      const std::vector<float> output = run(layer, input, weights, bias);
      ASSERT_EQ(output.size(), pixels * outputs);
      for (const float x : output) EXPECT_EQ(std::isfinite(x), leaves_out());
    }
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
