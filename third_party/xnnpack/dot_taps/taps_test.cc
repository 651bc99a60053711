// SPDX-License-Identifier: Apache-2.0

// Depthwise kernels with dots of four taps compute what a loop over taps does, to the bit.
#include "third_party/xnnpack/dot_taps/taps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace petrel::third_party::xnnpack {
namespace {

constexpr size_t kTile = 16;
constexpr size_t kPixels = 3;
constexpr int8_t kUntouched = 99;

struct Case {
  size_t taps;
  size_t channels;
  int zero_point, min, max;
};

// Pixel p reads row p + t as tap t; every fifth tap is padding.
class Layer {
 public:
  explicit Layer(const Case& c) : case_(c), stride_((c.channels + kTile - 1) / kTile * kTile) {
    std::mt19937 random(static_cast<uint32_t>(c.taps * 1000 + c.channels));
    const auto bytes = [&](size_t count) {
      std::vector<int8_t> made(count);
      for (int8_t& one : made) one = static_cast<int8_t>(random());
      return made;
    };
    rows_ = bytes((kPixels + c.taps) * stride_);
    weights_ = bytes(c.taps * stride_);
    padding_ = bytes(stride_);
    for (size_t i = 0; i < stride_; ++i) {
      bias_.push_back(static_cast<int32_t>(random() % 200001) - 100000);
      scale_.push_back(std::ldexp(static_cast<float>(random() % 1000 + 1), -18));
    }
    bias_[0] = 0x7FFFFFFF;  // sums wrap, as integers of the hardware do
  }

  std::vector<int8_t> run() const {
    std::vector<const int8_t*> input;
    for (size_t p = 0; p < kPixels; ++p) {
      for (size_t t = 0; t < case_.taps; ++t) {
        // The kernel adds an offset of a row to all that is not padding.
        input.push_back(is_padding(t) ? padding_.data() : rows_.data() + (p + t) * stride_);
      }
    }
    union xnn_qs8_qc8w_conv_minmax_params params;
    std::memset(&params, 0, sizeof params);
    params.fp32_scalar = {static_cast<int16_t>(case_.zero_point), static_cast<int16_t>(case_.min),
                          static_cast<int16_t>(case_.max)};
    std::vector<uint8_t> packed = pack();
    petrel_interleave_taps(case_.taps, case_.channels, packed.data());
    std::vector<int8_t> output(kPixels * (case_.channels + 5), kUntouched);
    const auto kernel = case_.taps == 9 ? petrel_qs8_qc8w_dwconv_9p16c__avx512vnni
                                        : petrel_qs8_qc8w_dwconv_25p16c__avx512vnni;
    kernel(case_.channels, kPixels, input.data(), packed.data(), output.data(),
           static_cast<intptr_t>(case_.taps * sizeof(void*)), 5, stride_, padding_.data(), &params);
    return output;
  }

  std::vector<int8_t> expected() const {
    std::vector<int8_t> output(kPixels * (case_.channels + 5), kUntouched);
    for (size_t p = 0; p < kPixels; ++p) {
      for (size_t c = 0; c < case_.channels; ++c) {
        uint32_t sum = static_cast<uint32_t>(bias_[c]);
        for (size_t t = 0; t < case_.taps; ++t) {
          const int in = is_padding(t) ? padding_[c] : rows_[(p + t + 1) * stride_ + c];
          sum += static_cast<uint32_t>(in * weights_[t * stride_ + c]);
        }
        const float scaled = static_cast<float>(static_cast<int32_t>(sum)) * scale_[c];
        const float least = static_cast<float>(case_.min - case_.zero_point);
        const float most = static_cast<float>(case_.max - case_.zero_point);
        output[p * (case_.channels + 5) + c] = static_cast<int8_t>(
            std::lrint(std::max(std::min(scaled, most), least)) + case_.zero_point);
      }
    }
    return output;
  }

 private:
  static bool is_padding(size_t tap) { return tap % 5 == 2; }

  // As XNNPACK packs: by tiles of channels, in them by taps.
  std::vector<uint8_t> pack() const {
    std::vector<uint8_t> packed;
    const auto append = [&](const void* data, size_t bytes) {
      const auto* begin = static_cast<const uint8_t*>(data);
      packed.insert(packed.end(), begin, begin + bytes);
    };
    for (size_t first = 0; first < stride_; first += kTile) {
      append(&bias_[first], kTile * sizeof(int32_t));
      for (size_t t = 0; t < case_.taps; ++t) append(&weights_[t * stride_ + first], kTile);
      append(&scale_[first], kTile * sizeof(float));
    }
    return packed;
  }

  const Case case_;
  const size_t stride_;
  std::vector<int8_t> rows_, weights_, padding_;
  std::vector<int32_t> bias_;
  std::vector<float> scale_;
};

TEST(DotTaps, GiveTheBytesOfALoop) {
  if (!__builtin_cpu_supports("avx512vbmi") || !__builtin_cpu_supports("avx512vnni")) {
    GTEST_SKIP() << "the machine has no AVX-512 VBMI or VNNI";
  }
  for (const size_t taps : {9, 25}) {
    for (const size_t channels : {1, 8, 15, 16, 17, 24, 32, 96, 144}) {
      for (const auto& [zero_point, min, max] :
           {std::array{0, -128, 127}, std::array{-128, -128, 127}, std::array{127, -128, 127},
            std::array{3, -20, 90}}) {
        const Layer layer({taps, channels, zero_point, min, max});
        EXPECT_EQ(layer.run(), layer.expected())
            << taps << " taps of " << channels << " channels, zero point " << zero_point;
      }
    }
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
