// SPDX-License-Identifier: Apache-2.0

// Sines and cosines are right to the last bits for arguments of any size, near
// their zeros, and for what is not a number; rows of any length are filled exactly.
#include <gtest/gtest.h>
#include <xnnpack.h>

#include <cmath>
#include <limits>
#include <vector>

namespace petrel::third_party::xnnpack {
namespace {

std::vector<float> run(xnn_unary_operator type, std::vector<float> x) {
  const size_t count = x.size();
  x.resize(count + XNN_EXTRA_BYTES / sizeof(float));
  std::vector<float> y(count + 1, 12345);
  EXPECT_EQ(xnn_initialize(nullptr), xnn_status_success);
  EXPECT_EQ(
      xnn_run_unary_elementwise_nc(type, xnn_datatype_fp32, xnn_datatype_fp32, nullptr, nullptr,
                                   nullptr, 0, count, 1, 1, 1, nullptr, x.data(), y.data()),
      xnn_status_success);
  EXPECT_EQ(y.back(), 12345);
  y.pop_back();
  return y;
}

// Within two units in the last place of the function in double.
void expect_right(const std::vector<float>& x) {
  const std::vector<float> sines = run(xnn_unary_sine, x);
  const std::vector<float> cosines = run(xnn_unary_cosine, x);
  for (size_t i = 0; i < x.size(); ++i) {
    const double sine = std::sin(static_cast<double>(x[i]));
    const double cosine = std::cos(static_cast<double>(x[i]));
    ASSERT_NEAR(sines[i], sine, 2.5e-7 * std::fabs(sine)) << "sin " << x[i];
    ASSERT_NEAR(cosines[i], cosine, 2.5e-7 * std::fabs(cosine)) << "cos " << x[i];
  }
}

TEST(AnglesTest, AreRightFromTinyToHuge) {
  std::vector<float> x;
  for (float size = 1e-30f; size < 1e30f; size *= 1.0237f) {
    x.push_back(size);
    x.push_back(-size);
  }
  expect_right(x);
}

TEST(AnglesTest, AreRightBesideEveryZero) {
  std::vector<float> x;
  for (int n = 1; n < 45000; n += 7) {
    const auto zero = static_cast<float>(n * 1.57079632679489661923);
    x.insert(x.end(), {zero, std::nextafter(zero, 0.0f), std::nextafter(zero, 1e9f)});
  }
  expect_right(x);
}

TEST(AnglesTest, KeepTheSignOfZeroAndWhatIsNoNumber) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {0.0f, -0.0f, inf, -inf, nan, 1.0f};
  const std::vector<float> sines = run(xnn_unary_sine, x);
  const std::vector<float> cosines = run(xnn_unary_cosine, x);
  EXPECT_FALSE(std::signbit(sines[0]));
  EXPECT_TRUE(std::signbit(sines[1]));
  EXPECT_EQ(sines[1], 0);
  EXPECT_EQ(cosines[0], 1);
  EXPECT_EQ(cosines[1], 1);
  for (int i : {2, 3, 4}) {
    EXPECT_TRUE(std::isnan(sines[i])) << i;
    EXPECT_TRUE(std::isnan(cosines[i])) << i;
  }
  EXPECT_NEAR(sines[5], 0.8414709848, 1e-7);
}

TEST(AnglesTest, FillRowsOfAnyLength) {
  for (size_t count = 1; count < 40; ++count) {
    std::vector<float> x(count);
    for (size_t i = 0; i < count; ++i) x[i] = 0.37f * static_cast<float>(i + 1);
    expect_right(x);
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
