// SPDX-License-Identifier: Apache-2.0

// Depthwise convolutions of several pixels at a time compute what the definition
// says and touch nothing beside their pixels and channels.
#include <gtest/gtest.h>

#include "third_party/xnnpack/depthwise_row.h"

namespace petrel::third_party::xnnpack {
namespace {

class DepthwiseTest : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    if (!DepthwiseRow::is_possible(GetParam())) {
      GTEST_SKIP() << "the machine has no vectors of " << GetParam() << " floats";
    }
  }
};

void check(const RowShape& shape) {
  DepthwiseRow row(shape);
  row.run(Pixels::kSeveral);
  const std::vector<float>& out = row.output(Pixels::kSeveral);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t pixel = i / row.stride(), channel = i % row.stride();
    if (channel < shape.channels) {
      ASSERT_NEAR(out[i], row.expected(pixel, channel), 1e-5)
          << shape.size << " by " << shape.stride << ", " << shape.channels << " channels, "
          << shape.width << " pixels, element " << i;
    } else {
      ASSERT_EQ(out[i], DepthwiseRow::kUntouched);
    }
  }
}

TEST_P(DepthwiseTest, ComputesWhatTheDefinitionSaysAndTouchesNothingElse) {
  for (size_t size : {3, 5, 7}) {
    for (size_t stride : {1, 2, 3}) {
      for (size_t channels : {1, 7, 8, 15, 16, 17, 32, 40, 48, 63}) {
        for (size_t width : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 17, 21, 27}) {
          check({size, stride, channels, width, GetParam()});
        }
      }
    }
  }
}

TEST_P(DepthwiseTest, ComputesSumsWithoutBounds) {
  for (size_t size : {3, 5, 7}) {
    for (size_t channels : {3, 16, 43}) {
      for (size_t width : {3, 13, 17}) {
        check({size, 1, channels, width, GetParam(), /*has_bounds=*/false});
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, DepthwiseTest, testing::Values(8, 16));

}  // namespace
}  // namespace petrel::third_party::xnnpack
