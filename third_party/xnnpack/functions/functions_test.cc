// SPDX-License-Identifier: Apache-2.0

// Functions of every instruction set are as near to the true ones as this says, for all kinds of
// floats and wherever an element lies, and read and write nothing outside of their elements.
#include "third_party/xnnpack/functions/functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLeastNormal = std::numeric_limits<float>::min();

struct Function {
  const char* name;
  petrel_function id;
  double (*right)(double);
};

constexpr Function kFunctions[] = {{"Exponential", petrel_exponential, &std::exp},
                                   {"Logarithm", petrel_logarithm, &std::log},
                                   {"Sine", petrel_sine, &std::sin},
                                   {"Cosine", petrel_cosine, &std::cos}};

struct Isa {
  const char* name;
  const xnn_unary_elementwise_config* (*config)(petrel_function);
  bool (*is_there)();
};

constexpr Isa kIsas[] = {
    {"Baseline", &petrel_f32_function_baseline, [] { return true; }},
    {"Avx2", &petrel_f32_function_avx2,
     [] { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }},
    {"Avx512", &petrel_f32_function_avx512f, [] { return __builtin_cpu_supports("avx512f") != 0; }},
};

class FunctionsTest : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  void SetUp() override {
    const Isa& isa = kIsas[std::get<0>(GetParam())];
    function_ = kFunctions[std::get<1>(GetParam())];
    if (!isa.is_there()) GTEST_SKIP() << "the machine has no " << isa.name;
    const xnn_unary_elementwise_config* config = isa.config(function_.id);
    const bool is_angle = function_.id == petrel_sine || function_.id == petrel_cosine;
    ASSERT_EQ(config != nullptr, !is_angle || isa.config != &petrel_f32_function_baseline);
    if (config == nullptr) return;
    kernel_ = config->ukernel;
  }

  void run(const float* x, size_t count, float* y) const {
    kernel_(count * sizeof(float), x, y, nullptr);
  }
  std::vector<float> run(const std::vector<float>& x) const {
    std::vector<float> y(x.size());
    run(x.data(), x.size(), y.data());
    return y;
  }

  Function function_;
  xnn_vunary_ukernel_fn kernel_ = nullptr;  // null where there is none
};

float with_bits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

// In units of the last place of what is right; what is no normal number must be that, or 0 for a
// smaller one.
double distance(double right, float y) {
  const auto rounded = static_cast<float>(right);
  if (std::isnan(right)) return std::isnan(y) ? 0 : kInfinity;
  if (std::isinf(rounded)) return y == rounded ? 0 : kInfinity;
  if (std::fabs(right) < kLeastNormal) return std::fabs(y) <= kLeastNormal ? 0 : kInfinity;
  return std::fabs(y - right) / std::ldexp(1, std::ilogb(right) - 23);
}

TEST_P(FunctionsTest, AreNearTheTrueOnes) {
  if (kernel_ == nullptr) return;
  constexpr uint64_t kStep = 3581;  // prime
  std::vector<float> x(4096);
  double worst = 0;
  float where = 0;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += kStep * x.size()) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = with_bits(static_cast<uint32_t>(bits + kStep * i));
    const std::vector<float> y = run(x);
    for (size_t i = 0; i < x.size(); ++i) {
      // Numbers below the least normal one may count as 0.
      const bool is_small = function_.id == petrel_logarithm && std::fabs(x[i]) < kLeastNormal;
      if (is_small && y[i] == -kInfinity) continue;
      const double off = distance(function_.right(x[i]), y[i]);
      if (off > worst) {
        worst = off;
        where = x[i];
      }
    }
  }
  EXPECT_LE(worst, 1.6) << "at " << where;
}

TEST_P(FunctionsTest, AreNearTheTrueOnesWhereNetworksUseThem) {
  if (kernel_ == nullptr) return;
  std::vector<float> x;
  for (float at = -100; at < 100; at += 0.00173F) x.push_back(at);
  for (int n = 1; n < 45000; n += 7) {
    const auto zero = static_cast<float>(n * 1.57079632679489661923);
    x.insert(x.end(), {zero, std::nextafter(zero, 0.0F), std::nextafter(zero, 1e9F)});
  }
  for (float at = 1; at > 0.9F; at = std::nextafter(at, 0.0F) - 1e-6F) x.push_back(at);
  const std::vector<float> y = run(x);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(distance(function_.right(x[i]), y[i]), 1.6) << x[i];
  }
}

TEST_P(FunctionsTest, HaveLimits) {
  if (kernel_ == nullptr) return;
  const std::vector<float> x = {0, -0.0F, kInfinity, -kInfinity, std::nanf(""), -1, 1, 3e38F};
  const std::vector<float> y = run(x);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_LE(distance(function_.right(x[i]), y[i]), 1.6) << x[i];
  }
  if (function_.id == petrel_sine) {
    EXPECT_TRUE(std::signbit(y[1]));
  }
}

// Beside any others, and where large angles are among them.
TEST_P(FunctionsTest, DependOnNothingButTheElement) {
  if (kernel_ == nullptr) return;
  std::vector<float> x(300);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.37F * static_cast<float>(i) + 0.01F;
  x[211] = 1e7F;
  const std::vector<float> whole = run(x);
  for (size_t first = 0; first < x.size(); first += 23) {
    for (size_t count = 1; first + count <= x.size(); count = count * 3 / 2 + 1) {
      std::vector<float> y(count + 2, 12345);
      run(x.data() + first, count, y.data() + 1);
      EXPECT_EQ(y.front(), 12345);
      EXPECT_EQ(y.back(), 12345);
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(y[i + 1], whole[first + i]) << first << " " << i;
    }
  }
  std::vector<float> in_place = x;
  run(in_place.data(), in_place.size(), in_place.data());
  EXPECT_EQ(in_place, whole);
}

INSTANTIATE_TEST_SUITE_P(All, FunctionsTest,
                         testing::Combine(testing::Range(0, 3), testing::Range(0, 4)),
                         [](const auto& info) {
                           return std::string(kIsas[std::get<0>(info.param)].name) +
                                  kFunctions[std::get<1>(info.param)].name;
                         });

}  // namespace
