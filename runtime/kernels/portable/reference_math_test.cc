// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/reference_math.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace petrel::runtime::reference_math {
namespace {

using Function = double (*)(double);
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Compared {
  const char* name;
  Function ours;
  Function library;
  double low, high;
};

class ReferenceMath : public testing::TestWithParam<Compared> {};

TEST_P(ReferenceMath, IsFarMoreExactThanAFloat) {
  const Compared& c = GetParam();
  for (int i = 0; i <= 20000; ++i) {
    const double x = c.low + (c.high - c.low) * i / 20000.0;
    const double expected = c.library(x);
    ASSERT_NEAR(c.ours(x), expected, 1e-13 * std::fabs(expected) + 1e-300) << c.name << " " << x;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Functions, ReferenceMath,
    testing::Values(
        Compared{"exp", exp, std::exp, -100, 100}, Compared{"expm1", expm1, std::expm1, -5, 5.01},
        Compared{"log", log, std::log, 1e-6, 50}, Compared{"log1p", log1p, std::log1p, -0.9, 10.01},
        Compared{"log2", log2, std::log2, 1e-6, 50.1},
        Compared{"log10", log10, std::log10, 1e-6, 50.1},
        Compared{"sin", sin, std::sin, -1000, 1000.1},
        Compared{"cos", cos, std::cos, -1000, 1000.1}, Compared{"tan", tan, std::tan, -1.5, 1.51},
        Compared{"asin", asin, std::asin, -1, 1}, Compared{"acos", acos, std::acos, -1, 0.999},
        Compared{"atan", atan, std::atan, -50, 50.1}, Compared{"sinh", sinh, std::sinh, -50, 50.1},
        Compared{"cosh", cosh, std::cosh, -50, 50}, Compared{"tanh", tanh, std::tanh, -30, 30.1},
        Compared{"asinh", asinh, std::asinh, -50, 50.1},
        Compared{"acosh", acosh, std::acosh, 1.0001, 50},
        Compared{"atanh", atanh, std::atanh, -0.99, 0.991},
        Compared{"erf", erf, std::erf, -7, 7.01}),
    [](const auto& info) { return info.param.name; });

// Values of the C library, which is right to the last bit here.
TEST(ReferenceMathLimits, AnglesOfAnySizeAreReducedExactly) {
  const double angles[][3] = {{10000000.0, 0.4205477931907825, -0.9072703861817396},
                              {-12345678.9, 0.8973068124812599, 0.44140739037166243},
                              {1e15, 0.8582727931702359, -0.5131937377869703},
                              {1e22, -0.8522008497671888, 0.523214785395139},
                              {-3e38, 0.023678459894696413, 0.9997196259637076},
                              {1.7e308, -0.5952560848632077, 0.803536056087918},
                              {5.319372648326541e+255, 1.0, -4.68716592425462e-19},
                              {3294198.658330571, -1.284135242062735e-10, 1.0}};
  for (const auto& [x, sine, cosine] : angles) {
    EXPECT_NEAR(sin(x), sine, 3e-15 * std::fabs(sine)) << x;
    EXPECT_NEAR(cos(x), cosine, 3e-15 * std::fabs(cosine)) << x;
    EXPECT_NEAR(sin(-x), -sine, 3e-15 * std::fabs(sine)) << x;
  }
}

TEST(ReferenceMathLimits, FollowTheStandard) {
  EXPECT_EQ(exp(-kInfinity), 0.0);
  EXPECT_EQ(exp(kInfinity), kInfinity);
  EXPECT_EQ(log(0.0), -kInfinity);
  EXPECT_TRUE(std::isnan(log(-1.0)));
  EXPECT_EQ(tanh(kInfinity), 1.0);
  EXPECT_EQ(erf(-kInfinity), -1.0);
  EXPECT_TRUE(std::isnan(sin(kInfinity)));
  for (Function f : {exp, expm1, log, sin, cos, tanh, erf, atan, sinh, asinh}) {
    EXPECT_TRUE(std::isnan(f(std::nan(""))));
  }
}

TEST(ReferenceMathLimits, ExponentialsReachTheEndsOfDoubles) {
  for (const double x : {-745.2, -745.1, -744.0, -720.0, -708.5, -708.3, 709.3, 709.5, 709.78}) {
    EXPECT_NEAR(exp(x), std::exp(x), 3e-16 * std::exp(x) + 5e-324) << x;
    EXPECT_NEAR(expm1(x), std::expm1(x), 3e-16 * std::fabs(std::expm1(x))) << x;
  }
  for (const double x : {709.79, 710.0, 1e9, 1e308}) {
    EXPECT_EQ(exp(x), kInfinity) << x;
    EXPECT_EQ(expm1(x), kInfinity) << x;
    EXPECT_EQ(exp(-1.1 * x), 0.0) << x;
    EXPECT_EQ(expm1(-x), -1.0) << x;
    EXPECT_EQ(tanh(-x), -1.0) << x;
  }
}

TEST(ReferenceMathLimits, WhatIsNearZeroKeepsItsDigitsAndSign) {
  for (const Function f : {expm1, tanh}) {
    for (const double x : {1e-300, 5e-324, 1e-17, 1e-9}) {
      EXPECT_NEAR(f(x), x, x * x) << x;
    }
  }
  for (const Function f : {expm1, tanh, erf}) EXPECT_TRUE(std::signbit(f(-0.0)));
}

TEST(ReferenceMathPow, AgreesOnSpecialValues) {
  const double values[] = {0.0,  -0.0, 1.0, -1.0, 2.0,       -2.0,       0.5,
                           -0.5, 3.0,  -3., 1e9,  kInfinity, -kInfinity, std::nan("")};
  for (const double x : values) {
    for (const double y : values) {
      const double expected = std::pow(x, y);
      const double got = pow(x, y);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << x << " ^ " << y << " is " << got;
      } else if (std::isinf(expected) || expected == 0.0) {
        EXPECT_EQ(got, expected) << x << " ^ " << y;
      } else {
        EXPECT_NEAR(got, expected, 1e-12 * std::fabs(expected)) << x << " ^ " << y;
      }
    }
  }
}

}  // namespace
}  // namespace petrel::runtime::reference_math
