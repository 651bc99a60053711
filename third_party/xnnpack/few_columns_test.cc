// SPDX-License-Identifier: Apache-2.0

// Layers of few columns, and transposed convolutions of one image, compute what
// the definition says, and in whole tiles where the machine has AVX-512.
#include <gtest/gtest.h>
#include <xnnpack.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "xnnpack/config.h"
#include "xnnpack/operator.h"

namespace petrel::third_party::xnnpack {
namespace {

using Operator = std::unique_ptr<xnn_operator, decltype(&xnn_delete_operator)>;

constexpr uint32_t kTileColumns = 32;  // of AVX-512
constexpr uint32_t kTileRows = 14;

std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> floats(count + XNN_EXTRA_BYTES / sizeof(float));
  for (float& f : floats) f = uniform(bits);
  return floats;
}

class FewColumnsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
    has_avx512_ = xnn_init_f32_gemm_config()->nr == kTileColumns;
  }

  bool has_avx512_ = false;
};

TEST_F(FewColumnsTest, FullyConnectedLayersAreRightAndTakeWideTilesFromFiveColumns) {
  constexpr size_t kDepth = 37;
  for (size_t columns : {1, 4, 5, 9, 16, 23, 31, 33}) {
    for (size_t rows : {1, 3, 7, 20}) {
      const std::vector<float> input = random_floats(rows * kDepth, 1);
      const std::vector<float> weight = random_floats(columns * kDepth, 2);
      const std::vector<float> bias = random_floats(columns, 3);
      std::vector<float> output(rows * columns);
      xnn_operator_t made = nullptr;
      ASSERT_EQ(xnn_create_fully_connected_nc_f32(kDepth, columns, kDepth, columns, weight.data(),
                                                  bias.data(), -INFINITY, INFINITY, 0, nullptr,
                                                  nullptr, &made),
                xnn_status_success);
      const Operator op(made, &xnn_delete_operator);
      ASSERT_EQ(xnn_reshape_fully_connected_nc_f32(made, rows, nullptr), xnn_status_success);
      ASSERT_EQ(xnn_setup_fully_connected_nc_f32(made, input.data(), output.data()),
                xnn_status_success);
      ASSERT_EQ(xnn_run_operator(made, nullptr), xnn_status_success);
      if (has_avx512_) {
        EXPECT_EQ(made->ukernel.gemm.nr == kTileColumns, columns > 4) << columns;
      }
      for (size_t i = 0; i < rows * columns; ++i) {
        const size_t row = i / columns, column = i % columns;
        double sum = bias[column];
        for (size_t k = 0; k < kDepth; ++k) {
          sum += static_cast<double>(input[row * kDepth + k]) * weight[column * kDepth + k];
        }
        ASSERT_NEAR(output[i], sum, 1e-5) << rows << " x " << columns << " at " << i;
      }
    }
  }
}

struct Image {
  size_t height, width, in, out, kernel, stride;
};

// By the definition: every pixel of the input adds a window to the output.
std::vector<double> transposed(const Image& image, const std::vector<float>& input,
                               const std::vector<float>& weight, size_t out_height,
                               size_t out_width) {
  std::vector<double> output(out_height * out_width * image.out, 0);
  for (size_t y = 0; y < image.height; ++y) {
    for (size_t x = 0; x < image.width; ++x) {
      for (size_t o = 0; o < image.out; ++o) {
        for (size_t ky = 0; ky < image.kernel; ++ky) {
          for (size_t kx = 0; kx < image.kernel; ++kx) {
            double sum = 0;
            for (size_t i = 0; i < image.in; ++i) {
              sum += static_cast<double>(input[(y * image.width + x) * image.in + i]) *
                     weight[((o * image.kernel + ky) * image.kernel + kx) * image.in + i];
            }
            const size_t at = (y * image.stride + ky) * out_width + x * image.stride + kx;
            output[at * image.out + o] += sum;
          }
        }
      }
    }
  }
  return output;
}

TEST_F(FewColumnsTest, TransposedConvolutionsOfOneImageAreRightAndTakeRowsOfPixels) {
  for (const Image& image : {Image{3, 20, 6, 16, 2, 2}, Image{5, 9, 3, 40, 3, 2},
                             Image{4, 4, 8, 3, 4, 2}, Image{2, 30, 5, 33, 3, 1}}) {
    const size_t out_height = (image.height - 1) * image.stride + image.kernel;
    const size_t out_width = (image.width - 1) * image.stride + image.kernel;
    const std::vector<float> input = random_floats(image.height * image.width * image.in, 1);
    const size_t window = image.kernel * image.kernel;
    const std::vector<float> weight = random_floats(image.out * window * image.in, 2);
    std::vector<float> output(out_height * out_width * image.out);
    const auto kernel = static_cast<uint32_t>(image.kernel);
    const auto stride = static_cast<uint32_t>(image.stride);
    xnn_operator_t made = nullptr;
    ASSERT_EQ(xnn_create_deconvolution2d_nhwc_f32(0, 0, 0, 0, kernel, kernel, stride, stride, 1, 1,
                                                  1, image.in, image.out, image.in, image.out,
                                                  weight.data(), nullptr, -INFINITY, INFINITY, 0,
                                                  nullptr, nullptr, &made),
              xnn_status_success);
    const Operator op(made, &xnn_delete_operator);
    size_t height = 0, width = 0;
    ASSERT_EQ(xnn_reshape_deconvolution2d_nhwc_f32(made, 1, image.height, image.width, 0, 0,
                                                   &height, &width, nullptr),
              xnn_status_success);
    ASSERT_EQ(height, out_height);
    ASSERT_EQ(width, out_width);
    ASSERT_EQ(xnn_setup_deconvolution2d_nhwc_f32(made, input.data(), output.data()),
              xnn_status_success);
    ASSERT_EQ(xnn_run_operator(made, nullptr), xnn_status_success);
    if (has_avx512_ && image.stride == image.kernel) {
      EXPECT_EQ(made->last_mr, kTileRows);
    }
    const std::vector<double> expected = transposed(image, input, weight, out_height, out_width);
    for (size_t i = 0; i < output.size(); ++i) {
      ASSERT_NEAR(output[i], expected[i], 1e-5) << image.out << " channels at " << i;
    }
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
