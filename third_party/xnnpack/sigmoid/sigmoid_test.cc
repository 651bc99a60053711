// SPDX-License-Identifier: Apache-2.0

// The sigmoid of AVX2 is as near to the true one as this says, wherever an element lies, and
// reads and writes nothing outside of its batch.
#include "third_party/xnnpack/sigmoid/sigmoid.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace {

class SigmoidTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
      GTEST_SKIP() << "the machine has no AVX2";
    }
  }
};

void run(const float* in, size_t count, float* out) {
  petrel_f32_vsigmoid_ukernel__avx2(count * sizeof(float), in, out, nullptr);
}

float with_bits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

// How far y is from the sigmoid of x, in units of its last place.
double distance(float x, float y) {
  const double right = 1 / (1 + std::exp(-static_cast<double>(x)));
  return std::fabs(y - right) / std::ldexp(1, std::ilogb(right) - 23);
}

TEST_F(SigmoidTest, IsNearTheTrueOne) {
  constexpr uint64_t kStep = 1021;  // prime
  std::vector<float> in(4096), out(in.size());
  double worst_positive = 0, worst_near = 0, worst = 0;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += kStep * in.size()) {
    for (size_t i = 0; i < in.size(); ++i) {
      in[i] = with_bits(static_cast<uint32_t>(bits + kStep * i));
    }
    run(in.data(), in.size(), out.data());
    for (size_t i = 0; i < in.size(); ++i) {
      const float x = in[i];
      if (std::isnan(x)) {
        ASSERT_TRUE(std::isnan(out[i]));
      } else if (x < -87.3F) {
        ASSERT_GE(out[i], 0);
        ASSERT_LE(out[i], 1.3e-38F);
      } else {
        double& kind = x >= 0 ? worst_positive : x > -1 ? worst_near : worst;
        kind = std::max(kind, distance(x, out[i]));
      }
    }
  }
  EXPECT_LE(worst_positive, 1.6);
  EXPECT_LE(worst_near, 2.2);
  EXPECT_LE(worst, 4.72);
}

TEST_F(SigmoidTest, EndsInZeroAndOne) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> in = {-infinity, -1e38F, -89, -88,   -0.0F,   0,
                                 17,        88,     90,  1e38F, infinity};
  std::vector<float> out(in.size());
  run(in.data(), in.size(), out.data());
  EXPECT_EQ(out, (std::vector<float>{0, 0, 0, 0, 0.5, 0.5, 1, 1, 1, 1, 1}));
}

// Memory between pages that nobody may touch; floats lie at either end of it.
class Guarded {
 public:
  Guarded() {
    memory_ = static_cast<char*>(
        mmap(nullptr, 3 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_, page_, PROT_NONE);
    mprotect(memory_ + 2 * page_, page_, PROT_NONE);
  }
  ~Guarded() { munmap(memory_, 3 * page_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  float* floats(size_t count, bool at_end) {
    float* const first = reinterpret_cast<float*>(memory_ + page_);
    return at_end ? first + page_ / sizeof(float) - count : first;
  }

 private:
  const size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* memory_;
};

TEST_F(SigmoidTest, GivesTheSameBitsAnywhereInABatchAndTouchesNothingElse) {
  constexpr float kUntouched = 12345;
  std::vector<float> in(100), alone(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = 0.37F * static_cast<float>(i) - 20;
    run(&in[i], 1, &alone[i]);
  }
  Guarded from, to;
  for (size_t count = 1; count <= in.size(); ++count) {
    for (const bool at_end : {false, true}) {
      float* const x = from.floats(count, at_end);
      float* const y = to.floats(count, at_end);
      std::copy_n(in.begin(), count, x);
      float* const behind = at_end ? y - 1 : y + count;
      *behind = kUntouched;
      run(x, count, y);
      ASSERT_EQ(std::memcmp(y, alone.data(), count * sizeof(float)), 0) << count << " floats";
      ASSERT_EQ(*behind, kUntouched);
      run(x, count, x);
      ASSERT_EQ(std::memcmp(y, x, count * sizeof(float)), 0) << "in place, " << count;
    }
  }
}

}  // namespace
