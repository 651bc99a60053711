// SPDX-License-Identifier: Apache-2.0
//
// From floats to 4 bits: rows of a weight with a scale for each group of elements.
//
//   w[n, k0 .. k0 + group)  -->  levels -8 .. 7, one scale:  w = scale * level
//
// A scale is the one with the least squared error among those near max |w| / 7, which
// clips what lies far out. It is a number of bfloat16, because XNNPACK stores it so: with
// it kernels and XNNPACK compute with the same weights.
#ifndef PETREL_EXIR_QUANTIZE_GROUP_SCHEME_H_
#define PETREL_EXIR_QUANTIZE_GROUP_SCHEME_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace petrel::exir {

inline constexpr int64_t kLeastLevel4 = -8;
inline constexpr int64_t kMostLevel4 = 7;

// A matrix [n, k] in 4 bits, scales [n, k / group].
struct RoundedWeight {
  std::vector<int8_t> levels;
  std::vector<float> scales;
};

// The scale of `count` finite numbers; 1 where all are too small for one. Their levels
// are written to `levels`.
float quantize_group(const float* values, size_t count, int8_t* levels);

// The nearest number of bfloat16, ties to even. Precondition: `value` is finite.
float to_bfloat16(float value);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_GROUP_SCHEME_H_
