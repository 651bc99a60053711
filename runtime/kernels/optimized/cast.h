// SPDX-License-Identifier: Apache-2.0
//
// Elements of any type as floats: operators that mix types read their operands
// through this, a piece at a time.
//
//   if (!can_load_floats(type)) ...
//   load_floats(type, data, i, row, n);   // elements [i, i + n)
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_CAST_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_CAST_H_

#include <cstddef>

#include "runtime/core/scalar_type.h"

namespace petrel::runtime::optimized {

// Not so for doubles, which floats do not hold.
bool can_load_floats(ScalarType type);
void load_floats(ScalarType type, const void* data, size_t first, float* out, size_t n);

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_CAST_H_
