// SPDX-License-Identifier: Apache-2.0
//
// Half and bfloat16 by way of float: what is computed on floats serves them,
// too, row by row, with a buffer on the stack between.
//
//   float row[kNarrowPiece];
//   widen(self.scalar_type(), data, i, row, n);    // elements [i, i + n)
//   ...
//   narrow(row, out.scalar_type(), to, i, n);      // rounded to nearest even
//
// The type is Half, BFloat16 or Float.
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_NARROW_FLOATS_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_NARROW_FLOATS_H_

#include <cstddef>

#include "runtime/core/scalar_type.h"

namespace petrel::runtime::optimized {

// Floats in a buffer; the longest row of a reduction that goes through one.
inline constexpr size_t kNarrowPiece = 8192;

constexpr bool is_narrow(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::BFloat16;
}

void widen(ScalarType type, const void* data, size_t first, float* out, size_t n);
void narrow(const float* in, ScalarType type, void* data, size_t first, size_t n);

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_NARROW_FLOATS_H_
