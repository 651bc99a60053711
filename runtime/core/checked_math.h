// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on numbers that come from a file. Each function stores the exact
// result and returns true, or returns false when it does not fit; `*out` is
// then unspecified.
//
//   size_t end;
//   if (!checked_add(offset, size, &end) || end > file_size) return ...;

#ifndef PETREL_RUNTIME_CORE_CHECKED_MATH_H_
#define PETREL_RUNTIME_CORE_CHECKED_MATH_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "runtime/core/span.h"

namespace petrel::runtime {

template <typename A, typename B, typename R>
[[nodiscard]] constexpr bool checked_add(A a, B b, R* out) {
  return !__builtin_add_overflow(a, b, out);
}

template <typename A, typename B, typename R>
[[nodiscard]] constexpr bool checked_sub(A a, B b, R* out) {
  return !__builtin_sub_overflow(a, b, out);
}

template <typename A, typename B, typename R>
[[nodiscard]] constexpr bool checked_mul(A a, B b, R* out) {
  return !__builtin_mul_overflow(a, b, out);
}

// Stores `value` as an R if it is representable.
template <typename A, typename R>
[[nodiscard]] constexpr bool checked_cast(A value, R* out) {
  return !__builtin_add_overflow(value, 0, out);
}

constexpr bool is_power_of_two(size_t value) { return value != 0 && (value & (value - 1)) == 0; }

// Rounds up to a multiple of `alignment`, a power of two.
[[nodiscard]] constexpr bool checked_align_up(size_t value, size_t alignment, size_t* out) {
  size_t padded = 0;
  if (!checked_add(value, alignment - 1, &padded)) return false;
  *out = padded & ~(alignment - 1);
  return true;
}

// Product of the sizes of a tensor in which 0 counts as 1: an upper bound of how
// often loops over it run, the inner ones of which may find nothing to do. False
// for a negative size and when the product does not fit.
template <typename T>
[[nodiscard]] constexpr bool checked_extent(Span<T> sizes, size_t* out) {
  size_t extent = 1;
  for (const auto size : sizes) {
    if (size < 0) return false;
    if (size != 0 && !checked_mul(extent, static_cast<size_t>(size), &extent)) return false;
  }
  *out = extent;
  // Strides must be representable.
  return extent <= static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max());
}

// Product of the sizes of a tensor; 1 for rank 0. False for a negative size
// and when the product does not fit, even if a later size is 0: no partial
// product may overflow, so that strides are safe too.
template <typename T>
[[nodiscard]] constexpr bool checked_numel(Span<T> sizes, size_t* out) {
  if (!checked_extent(sizes, out)) return false;
  for (const auto size : sizes) {
    if (size == 0) *out = 0;
  }
  return true;
}

// Bytes of `numel` elements. False if they are more than an object can have.
[[nodiscard]] constexpr bool checked_nbytes(size_t numel, size_t element_bytes, size_t* out) {
  return checked_mul(numel, element_bytes, out) &&
         *out <= static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max());
}

// True if [offset, offset + size) lies in [0, limit).
constexpr bool in_bounds(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_CHECKED_MATH_H_
