// SPDX-License-Identifier: Apache-2.0

// One row of the output of a depthwise convolution with AVX-512 or FMA3, by
// XNNPACK's kernel and by that of depthwise_pixels.patch. Data is random with a fixed
// seed; the first column of the input is padding. For their test and benchmark
// only.
//
//   DepthwiseRow row({/*size=*/3, /*stride=*/1, /*channels=*/96, /*width=*/56});
//   row.run(Pixels::kSeveral);
//   row.output(Pixels::kSeveral);
#ifndef PETREL_THIRD_PARTY_XNNPACK_DEPTHWISE_ROW_H_
#define PETREL_THIRD_PARTY_XNNPACK_DEPTHWISE_ROW_H_

#include <cstddef>
#include <vector>

namespace petrel::third_party::xnnpack {

enum class Pixels { kOne, kSeveral };

struct RowShape {
  size_t size;  // height and width of the window: 3, 5, or 7, which XNNPACK has no such kernel for
  size_t stride;
  size_t channels;
  size_t width;            // of the output
  size_t lanes = 16;       // 16: AVX-512; 8: FMA3
  bool has_bounds = true;  // of the output
};

class DepthwiseRow {
 public:
  // False when the machine lacks the instructions: nothing may be run then.
  static bool is_possible(size_t lanes);

  explicit DepthwiseRow(const RowShape& shape);
  DepthwiseRow(const DepthwiseRow&) = delete;
  DepthwiseRow& operator=(const DepthwiseRow&) = delete;

  // Of kOne there are 3, and 5 with AVX-512. That of FMA3 has weights in tiles of 16
  // channels: it takes as long as with the right ones, for whole tiles.
  void run(Pixels pixels);
  // Elements that must stay as they are have kUntouched.
  const std::vector<float>& output(Pixels pixels) const;
  // The same by the definition, in double.
  double expected(size_t pixel, size_t channel) const;

  static constexpr float kUntouched = 12345;
  // Floats from one pixel of the output to the next.
  size_t stride() const { return shape_.channels + 2; }

 private:
  const RowShape shape_;
  std::vector<float> input_, storage_, zeros_, one_, several_;
  const float* weights_ = nullptr;  // in storage_, aligned
  std::vector<const float*> pointers_;
};

}  // namespace petrel::third_party::xnnpack

#endif  // PETREL_THIRD_PARTY_XNNPACK_DEPTHWISE_ROW_H_
