// SPDX-License-Identifier: Apache-2.0

// Tiles of six rows compute what fused multiply-adds in order give, to the bit, and touch
// nothing beside their rows and columns.
#include <gtest/gtest.h>

#include "third_party/xnnpack/product_of_six.h"

namespace petrel::third_party::xnnpack {
namespace {

void expect_exact(const FmaLayer& layer) {
  ProductOfSix product(layer);
  product.run(FmaKernel::kSixRows);
  const std::vector<float>& output = product.output();
  for (size_t i = 0; i < output.size(); ++i) {
    const size_t row = (i - 1) / product.stride(), column = (i - 1) % product.stride();
    const bool is_beside = i == 0 || column >= layer.columns;
    ASSERT_EQ(output[i], is_beside ? ProductOfSix::kUntouched : product.expected(row, column))
        << layer.rows << " x " << layer.depth << " x " << layer.columns << ", window "
        << layer.window << ", at " << i;
  }
}

TEST(SixRowsTest, ComputeWhatIsThereAndTouchNothingElse) {
  if (!ProductOfSix::is_possible()) GTEST_SKIP() << "the machine has no FMA3";
  for (size_t rows : {1, 2, 3, 4, 5, 6, 7, 9, 11, 12}) {
    for (size_t columns :
         {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40, 48, 63, 64, 65, 100}) {
      for (size_t depth : {1, 2, 5, 32}) {
        for (size_t window : {0, 1, 9}) expect_exact({rows, depth, columns, window});
      }
    }
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
