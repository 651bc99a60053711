// SPDX-License-Identifier: Apache-2.0
//
// What bounds of bytes are made of: products and sums that stay at the largest number, and the
// largest tile of a kernel.
//
//   product({4, UINT64_MAX})   UINT64_MAX
//   sum({1, 2, 3})             6
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_BYTE_BOUNDS_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_BYTE_BOUNDS_H_

#include <cstdint>
#include <initializer_list>

namespace petrel::backends::xnnpack {

// The most rows and columns that a kernel computes at once, on any machine, and how deep a step of
// a product is.
inline constexpr uint64_t kTileRows = 16;
inline constexpr uint64_t kTileColumns = 64;
inline constexpr uint64_t kTileDepth = 8;

inline uint64_t product(std::initializer_list<uint64_t> factors) {
  uint64_t result = 1;
  for (const uint64_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) return UINT64_MAX;
  }
  return result;
}

inline uint64_t sum(std::initializer_list<uint64_t> terms) {
  uint64_t result = 0;
  for (const uint64_t term : terms) {
    if (__builtin_add_overflow(result, term, &result)) return UINT64_MAX;
  }
  return result;
}

inline uint64_t sum(uint64_t a, uint64_t b) { return sum({a, b}); }

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_BYTE_BOUNDS_H_
