// SPDX-License-Identifier: Apache-2.0
//
// From floats to int8: the numbers that a range of values, or a weight, is stored with.
//
//   x in [-1.0, 3.0]   affine_of       scale 4/255, zero point -64:  x = scale * (q + 64)
//   w[k, ...]          quantize_weight scale[k] = max |w[k, ...]| / 127:  w = scale[k] * q
//
// The numbers of torch's observers: min-max, affine over -128..127 for activations,
// symmetric over -127..127 for weights, rounded to the nearest even level.
#ifndef PETREL_EXIR_QUANTIZE_SCHEME_H_
#define PETREL_EXIR_QUANTIZE_SCHEME_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/ir/constant.h"

namespace petrel::exir {

// What a value was seen to lie in; empty until it has seen something.
struct Range {
  float min = std::numeric_limits<float>::infinity();
  float max = -std::numeric_limits<float>::infinity();

  bool is_empty() const { return !(min <= max); }
  void include(const Range& other);
};

struct Affine {
  float scale = 1;
  int32_t zero_point = 0;
};

inline constexpr int64_t kLeastLevel = -128;
inline constexpr int64_t kMostLevel = 127;

// 0 is always exact. A range of nothing but zeros has the scale 1. Precondition: the
// range is not empty, and finite.
Affine affine_of(const Range& range);

// InvalidArgument naming what is wrong: scales must be positive, normal numbers, and zero
// points levels.
absl::Status check_affine(const Affine& numbers);

// What the elements of a constant of f32 lie in. InvalidArgument naming it where one is not
// finite.
absl::StatusOr<Range> range_of(const Constant& constant);

// The nearest levels of a constant of f32; numbers far out get the last level.
// Precondition: its elements are finite.
std::vector<int8_t> levels_of(const Constant& constant, const Affine& numbers);

// A weight of f32 stored as i8 with a scale for each index along `axis`.
struct QuantizedWeight {
  std::vector<int8_t> levels;
  std::vector<float> scales;
};

// Where all weights are too small for a scale that is a normal number, they become 0.
// InvalidArgument naming the index whose weights are not finite.
absl::StatusOr<QuantizedWeight> quantize_weight(const Constant& weight, size_t axis);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_SCHEME_H_
