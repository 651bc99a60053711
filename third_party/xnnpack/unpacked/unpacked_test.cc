// SPDX-License-Identifier: Apache-2.0
//
// Kernels give what fused multiply-adds in the order of the inputs give, to the bit, read nothing
// beside the weights and write nothing beside the outputs.
#include "third_party/xnnpack/unpacked/unpacked.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr float kUntouched = 12345;

// Floats whose last one lies at the end of the last page that may be read.
class FloatsAtAnEnd {
 public:
  explicit FloatsAtAnEnd(size_t count) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    bytes_ = (count * sizeof(float) + page_ - 1) / page_ * page_ + page_;
    memory_ = static_cast<char*>(
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + bytes_ - page_, page_, PROT_NONE);
    data_ = reinterpret_cast<float*>(memory_ + bytes_ - page_) - count;
  }
  ~FloatsAtAnEnd() { munmap(memory_, bytes_); }
  FloatsAtAnEnd(const FloatsAtAnEnd&) = delete;
  FloatsAtAnEnd& operator=(const FloatsAtAnEnd&) = delete;
  float* data() { return data_; }

 private:
  size_t page_, bytes_;
  char* memory_;
  float* data_;
};

struct Sizes {
  size_t inputs, outputs, rows;
  bool has_bias, is_finite;
};

void expect_exact(const Sizes& s) {
  std::mt19937 bits(static_cast<unsigned>(s.inputs * 131 + s.outputs));
  std::uniform_real_distribution<float> uniform(-1, 1);
  FloatsAtAnEnd weights(s.inputs * s.outputs), bias(s.outputs), input(s.rows * s.inputs);
  for (size_t i = 0; i < s.inputs * s.outputs; ++i) weights.data()[i] = uniform(bits);
  for (size_t i = 0; i < s.outputs; ++i) bias.data()[i] = uniform(bits);
  for (size_t i = 0; i < s.rows * s.inputs; ++i) input.data()[i] = uniform(bits);
  if (!s.is_finite) {
    weights.data()[0] = std::numeric_limits<float>::infinity();
    weights.data()[s.inputs * s.outputs - 1] = std::nanf("");
  }
  const size_t stride = s.outputs + 3;
  std::vector<float> output(s.rows * stride, kUntouched);
  unpacked_layer layer = {
      s.inputs,     weights.data(), s.has_bias ? bias.data() : nullptr, -1.5f, 2, s.inputs, stride,
      input.data(), output.data()};
  for (size_t row = 0; row < s.rows; ++row) {
    // In two parts, as two threads do.
    const size_t half = s.outputs / 2 / UNPACKED_BLOCK * UNPACKED_BLOCK;
    if (half > 0) unpacked_run_fma3(&layer, row, 0, half);
    unpacked_run_fma3(&layer, row, half, s.outputs - half);
  }
  for (size_t i = 0; i < output.size(); ++i) {
    const size_t row = i / stride, column = i % stride;
    float expected = kUntouched;
    if (column < s.outputs) {
      float sum = s.has_bias ? bias.data()[column] : 0;
      for (size_t k = 0; k < s.inputs; ++k) {
        sum =
            std::fma(input.data()[row * s.inputs + k], weights.data()[column * s.inputs + k], sum);
      }
      expected = std::isnan(sum) ? sum : std::min(std::max(sum, layer.low), layer.high);
    }
    if (std::isnan(expected) && std::isnan(output[i])) continue;
    ASSERT_EQ(output[i], expected)
        << s.outputs << " x " << s.inputs << ", row " << row << ", output " << column;
  }
}

TEST(Unpacked, ProductsAreExactAndReadNothingElse) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "the machine does not have FMA3";
  for (size_t inputs : {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 300}) {
    for (size_t outputs : {1, 2, 7, 8, 9, 15, 16, 17, 33, 40, 64}) {
      expect_exact({inputs, outputs, 1, true, true});
    }
  }
  expect_exact({300, 70, 3, false, true});
  expect_exact({50, 30, 2, true, false});
}

}  // namespace
