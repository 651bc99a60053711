// SPDX-License-Identifier: Apache-2.0
//
// Products by weights of 4 bits, through XNNPACK's operator, against sums in double. On machines
// whose XNNPACK keeps its own kernels, those are what is tested; PETREL_TEST_ISA names the level.
#include <gtest/gtest.h>
#include <petrel/packing.h>
#include <pthreadpool.h>
#include <xnnpack.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backends/xnnpack/runtime/start.h"
#include "runtime/platform/isa_level.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// XNNPACK reads a little behind rows, and numbers of rows that are not there.
constexpr size_t kBehind = 64;

struct Case {
  size_t rows, columns, depth, group;
  bool extreme = false;  // only the largest and smallest numbers
  float smallest = -kInfinity, largest = kInfinity;
};

float upper_half(float x, uint16_t* bits) {
  uint32_t all;
  std::memcpy(&all, &x, sizeof(all));
  *bits = static_cast<uint16_t>(all >> 16);
  all = uint32_t{*bits} << 16;
  std::memcpy(&x, &all, sizeof(x));
  return x;
}

struct Product {
  explicit Product(const Case& c) : sizes(c) {
    std::mt19937 random(7);
    const auto level = [&](int count) {
      const int any = static_cast<int>(random() % static_cast<unsigned>(count));
      return c.extreme ? (any % 2 == 0 ? 0 : count - 1) : any;
    };
    input.resize(c.rows * c.depth + kBehind);
    for (int8_t& x : input) x = static_cast<int8_t>(level(256) - 128);
    for (size_t r = 0; r < c.rows; ++r) {
      rows.push_back({level(256) - 128, 0.01f + 0.001f * static_cast<float>(r % 7)});
    }
    // Kernels compute the last row for rows that are not there, and read what is behind it.
    rows.resize(c.rows + kBehind, rows.back());
    for (size_t i = 0; i < c.columns * c.depth / 2; ++i) {
      weights.push_back(static_cast<uint8_t>(level(16) | level(16) << 4));
    }
    for (size_t i = 0; i < c.columns * c.depth / c.group; ++i) {
      const float any = 0.01f + 1e-4f * static_cast<float>(random() % 100);
      scales.push_back(upper_half(any, &scale_bits.emplace_back()));
    }
    for (size_t i = 0; i < c.columns; ++i) bias.push_back(static_cast<float>(random() % 5) - 2);
  }

  // The result in double, and the sum of magnitudes that rounding is measured by.
  double expected(size_t row, size_t column, double* magnitude) const {
    double sum = 0;
    *magnitude = 1;
    for (size_t k = 0; k < sizes.depth; ++k) {
      const size_t at = column * sizes.depth + k;
      const int weight = (weights[at / 2] >> (at % 2 * 4) & 15) - 8;
      const int value = input[row * sizes.depth + k] - rows[row].zero_point;
      const double one = double{scales[at / sizes.group]} * weight * value * rows[row].scale;
      sum += one;
      *magnitude += std::abs(one);
    }
    return std::fmin(std::fmax(sum + bias[column], sizes.smallest), sizes.largest);
  }

  Case sizes;
  std::vector<int8_t> input;
  std::vector<xnn_quantization_params> rows;
  std::vector<uint8_t> weights;
  std::vector<uint16_t> scale_bits;
  std::vector<float> scales, bias;
};

bool set_level() {
  const char* name = std::getenv("PETREL_TEST_ISA");
  return name == nullptr || runtime::set_isa_level(name) == runtime::Error::Ok;
}

void check(const Case& c, pthreadpool_t pool = nullptr) {
  SCOPED_TRACE(::testing::Message() << c.rows << " rows, " << c.columns << " columns, depth "
                                    << c.depth << ", groups of " << c.group);
  static const bool is_set = set_level();
  if (!is_set) GTEST_SKIP() << "the machine has no " << std::getenv("PETREL_TEST_ISA");
  ASSERT_EQ(start_xnnpack(), xnn_status_success);
  const Product product(c);
  xnn_operator_t op = nullptr;
  xnn_set_packing_threads(pool);
  ASSERT_EQ(xnn_create_fully_connected_nc_qd8_f32_qb4w(
                c.depth, c.columns, c.depth, c.columns, c.group, 8, product.scale_bits.data(),
                product.weights.data(), product.bias.data(), c.smallest, c.largest, 0, nullptr,
                nullptr, &op),
            xnn_status_success);
  xnn_set_packing_threads(nullptr);
  std::vector<float> output(c.rows * c.columns + 1, 7.0f);
  ASSERT_EQ(xnn_reshape_fully_connected_nc_qd8_f32_qb4w(op, c.rows, pool), xnn_status_success);
  ASSERT_EQ(xnn_setup_fully_connected_nc_qd8_f32_qb4w(op, product.input.data(), output.data(),
                                                      product.rows.data()),
            xnn_status_success);
  ASSERT_EQ(xnn_run_operator(op, pool), xnn_status_success);
  xnn_delete_operator(op);
  for (size_t r = 0; r < c.rows; ++r) {
    for (size_t n = 0; n < c.columns; ++n) {
      double magnitude = 0;
      const double expected = product.expected(r, n, &magnitude);
      ASSERT_NEAR(output[r * c.columns + n], expected, 2e-6 * magnitude) << r << ", " << n;
    }
  }
  EXPECT_EQ(output.back(), 7.0f) << "written behind the output";
}

TEST(FourBitProduct, AgreesWithDoubleForAnyNumberOfRows) {
  for (size_t rows = 1; rows <= 35; ++rows) check({rows, 24, 64, 32});
  check({128, 40, 352, 32});
}

// Tiles take a row of weights in pieces, and sums of rows of levels are kept for a while.
TEST(FourBitProduct, TakesAnyDepth) {
  for (const size_t depth : {32, 96, 992, 1024, 1056, 2080}) check({19, 17, depth, 32});
  check({3, 17, 2304, 768});
  check({14, 17, 19200, 64});
  check({1, 5, 270336, 128});
}

TEST(FourBitProduct, TakesAnyNumberOfColumns) {
  for (size_t columns = 1; columns <= 33; ++columns) {
    check({1, columns, 96, 32});
    check({3, columns, 96, 32});
  }
}

TEST(FourBitProduct, TakesLongerGroups) {
  for (const size_t group : {32, 64, 128, 256}) check({9, 11, 512, group});
}

TEST(FourBitProduct, HoldsTheLargestSums) {
  Case c = {8, 16, 1024, 256};
  c.extreme = true;
  check(c);
  c.group = 32;
  check(c);
}

TEST(FourBitProduct, Clamps) {
  Case c = {5, 9, 64, 32};
  c.smallest = -0.5f;
  c.largest = 1.5f;
  check(c);
}

TEST(FourBitProduct, IsSplitOverThreads) {
  pthreadpool_t pool = pthreadpool_create(2);
  check({1, 1000, 64, 32}, pool);
  check({20, 200, 64, 32}, pool);
  check({2, 1025, 1024, 32}, pool);  // packed by both
  pthreadpool_destroy(pool);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
