// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <pthreadpool.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "petrel/cap.h"
#include "third_party/xnnpack/layer.h"

namespace petrel::third_party::xnnpack {
namespace {

struct Case {
  const char* name;
  Shape shape;
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

// Channels that are not a multiple of a column tile, one row more than a row tile
// and more than one image are where a wrong order would show.
const Case kCases[] = {
    {"FullyConnected", {Kind::kFullyConnected, 37, 0, 0, 300, 1000}},
    {"FullyConnectedOneRow", {Kind::kFullyConnected, 1, 0, 0, 300, 1000}},
    {"FullyConnectedEvenChannels", {Kind::kFullyConnected, 64, 0, 0, 256, 512}},
    {"FullyConnectedDeep", {Kind::kFullyConnected, 20, 0, 0, 5000, 70}},
    {"FullyConnectedRowsOfThreads", {Kind::kFullyConnected, 149, 0, 0, 300, 500}},
    {"Int8FullyConnectedRowsOfThreads", {Kind::kInt8FullyConnected, 149, 0, 0, 300, 500}},
    {"Int8FullyConnected", {Kind::kInt8FullyConnected, 37, 0, 0, 300, 1000}},
    {"Pointwise", {Kind::kConvolution, 1, 7, 1, 300, 500}},
    {"PointwiseBatch", {Kind::kConvolution, 3, 7, 1, 300, 500}},
    {"Convolution", {Kind::kConvolution, 1, 7, 3, 100, 203}},
    {"ConvolutionRowsOfThreads", {Kind::kConvolution, 1, 11, 3, 100, 203}},
    {"ConvolutionBatch", {Kind::kConvolution, 3, 5, 3, 100, 203}},
    {"Int8Convolution", {Kind::kInt8Convolution, 1, 7, 3, 100, 203}},
    {"Int8ConvolutionBatch", {Kind::kInt8Convolution, 3, 5, 3, 100, 203}},
};

// (case, threads, largest panel in bytes, the same where the next one is brought ahead)
class LoopOrderTest : public ::testing::TestWithParam<std::tuple<Case, size_t, size_t, size_t>> {
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
  }
};

TEST_P(LoopOrderTest, PanelsFirstGivesTheSameBitsAndTheRightValues) {
  const auto& [test_case, threads, max_panel, max_ahead] = GetParam();
  std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> pool(pthreadpool_create(threads),
                                                                    &pthreadpool_destroy);
  Layer layer(test_case.shape, pool.get());

  layer.reshape(0);
  layer.run();
  const std::vector<float> rows_first = layer.output();
  layer.reshape(max_panel, max_ahead);
  // A tile that is left out must not find the earlier result in its place.
  std::fill(layer.output().begin(), layer.output().end(), -12345.f);
  layer.run();
  ASSERT_EQ(
      std::memcmp(rows_first.data(), layer.output().data(), rows_first.size() * sizeof(float)), 0);

  float largest = 0;
  for (float x : rows_first) largest = std::max(largest, std::fabs(x));
  for (size_t pixel = 0; pixel < layer.pixels(); pixel += 3) {
    for (size_t channel = 0; channel < test_case.shape.out; channel += 7) {
      ASSERT_NEAR(layer.output()[pixel * test_case.shape.out + channel],
                  layer.expected(pixel, channel), 1e-4 * largest)
          << "pixel " << pixel << ", channel " << channel;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LoopOrderTest,
                         ::testing::Combine(::testing::ValuesIn(kCases),
                                            ::testing::Values(1, 2, 3, 4),
                                            // One column tile, a few, and the panel as shipped.
                                            ::testing::Values(1, 100'000, 1 << 20),
                                            ::testing::Values(0, 1, 1 << 17)),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + std::string("Threads") +
                                  std::to_string(std::get<1>(info.param)) + "Panel" +
                                  std::to_string(std::get<2>(info.param)) + "Ahead" +
                                  std::to_string(std::get<3>(info.param));
                         });

}  // namespace
}  // namespace petrel::third_party::xnnpack
