// SPDX-License-Identifier: Apache-2.0

// Narrow tiles compute what the definition says, the same bits as whole tiles,
// and nothing beside their rows and columns.
#include <gtest/gtest.h>

#include "third_party/xnnpack/narrow_product.h"

namespace petrel::third_party::xnnpack {
namespace {

TEST(NarrowTilesTest, ComputeWhatIsThereAndTouchNothingElse) {
  if (!NarrowProduct::is_possible()) GTEST_SKIP() << "the machine has no AVX-512";
  for (size_t rows = 1; rows <= 7; ++rows) {
    for (size_t columns : {1, 7, 8, 9, 16, 17, 24, 25, 31, 32, 33, 40, 56, 64, 72, 100, 128, 170}) {
      for (size_t depth : {1, 5, 32}) {
        for (size_t window : {0, 1, 9}) {
          NarrowProduct product({rows, depth, columns, window});
          product.run(Kernel::kWhole);
          product.run(Kernel::kNarrow);
          const std::vector<float>& narrow = product.output(Kernel::kNarrow);
          ASSERT_EQ(narrow, product.output(Kernel::kWhole))
              << rows << " x " << depth << " x " << columns << ", window " << window;
          for (size_t i = 0; i < narrow.size(); ++i) {
            const size_t row = (i - 1) / product.stride(), column = (i - 1) % product.stride();
            if (i == 0 || row >= rows || column >= columns) {
              ASSERT_EQ(narrow[i], NarrowProduct::kUntouched) << i;
            } else {
              ASSERT_NEAR(narrow[i], product.expected(row, column), 1e-4) << i;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
