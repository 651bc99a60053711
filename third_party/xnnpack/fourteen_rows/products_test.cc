// SPDX-License-Identifier: Apache-2.0

// Tiles of fourteen rows, and of fewer, compute what fused multiply-adds in order give, to the
// bit, and touch nothing beside their rows and columns.
#include <gtest/gtest.h>

#include <cmath>

#include "third_party/xnnpack/fourteen_rows/tile_product.h"

namespace petrel::third_party::xnnpack {
namespace {

void expect_exact(TileLayer layer, Kernel kernel) {
  if (kernel == Kernel::kHalves) layer.block_columns = 16;
  TileProduct product(layer);
  product.run(kernel);
  const std::vector<float>& output = product.output();
  for (size_t i = 0; i < output.size(); ++i) {
    const size_t row = (i - 1) / product.stride(), column = (i - 1) % product.stride();
    const bool is_beside = i == 0 || column >= layer.columns;
    const float expected = is_beside ? TileProduct::kUntouched : product.expected(row, column);
    if (std::isnan(expected) && std::isnan(output[i])) continue;
    ASSERT_EQ(output[i], expected)
        << layer.rows << " x " << layer.depth << " x " << layer.columns << ", window "
        << layer.window << ", between " << layer.between << ", at " << i;
  }
}

class ProductsTest : public ::testing::TestWithParam<Kernel> {
 protected:
  void SetUp() override {
    if (!TileProduct::is_possible()) GTEST_SKIP() << "the machine has no AVX-512";
  }
};

TEST_P(ProductsTest, ComputeWhatIsThereAndTouchNothingElse) {
  for (size_t rows = 1; rows <= 16; ++rows) {
    for (size_t columns : {1, 7, 8, 9, 16, 17, 24, 25, 31, 32, 33, 40, 64, 72, 96, 128, 170, 300}) {
      for (size_t depth : {1, 3, 4, 5, 32}) {
        for (size_t window : {0, 1, 9}) expect_exact({rows, depth, columns, window}, GetParam());
      }
    }
  }
}

TEST_P(ProductsTest, HaveManyTiles) { expect_exact({45, 67, 100, 4}, GetParam()); }

// Rows a multiple of 4 KB apart are computed in two halves.
TEST_P(ProductsTest, ComputeRowsThatLieInOneSetOfTheCache) {
  for (size_t columns : {32, 40, 64, 300, 560}) {
    for (size_t rows : {10, 11, 14, 27}) {
      expect_exact({rows, 1024, columns, 0}, GetParam());
      expect_exact({rows, 2048, columns, 0}, GetParam());
    }
    for (size_t depth : {7, 512, 515, 1021}) {
      expect_exact({27, depth, columns, 0, true, 1024 - depth}, GetParam());
      expect_exact({27, depth, columns, 0, false, 1024 - depth}, GetParam());
      for (size_t window : {1, 4}) {
        expect_exact({27, depth, columns, window, true, 1024 - depth}, GetParam());
      }
    }
  }
}

TEST_P(ProductsTest, KeepWhatIsNotANumberAndBoundInfinities) {
  for (size_t rows : {1, 4, 7, 9, 14, 28}) {
    for (size_t columns : {8, 20, 32, 64, 128}) {
      expect_exact({rows, 6, columns, 0, false}, GetParam());
      expect_exact({rows, 6, columns, 2, false}, GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ProductsTest,
                         ::testing::Values(Kernel::kFourteen, Kernel::kFourteenAhead,
                                           Kernel::kHalves));

}  // namespace
}  // namespace petrel::third_party::xnnpack
