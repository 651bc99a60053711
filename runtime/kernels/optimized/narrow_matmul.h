// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices of half or bfloat16: blocks of both operands become
// floats, the sums run in float, and the result is rounded once.
//
//   NarrowProduct product;              // C[m, n] = A[m, k] B[k, n]
//   product.type = ScalarType::Half;
//   product.rows = m, product.columns = n, product.depth = k;
//   product.a = a, product.b = b, product.c = c;
//   if (!narrow_gemm(product)) ...      // too deep for the buffers
//
// All matrices are contiguous; with b_is_transposed B is given as [n, k].
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_NARROW_MATMUL_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_NARROW_MATMUL_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/scalar_type.h"

namespace petrel::runtime::optimized {

struct NarrowProduct {
  ScalarType type = ScalarType::Half;
  size_t rows = 0, columns = 0, depth = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  bool b_is_transposed = false;
  // In place of b: fills panels as PackPanel does, without widening.
  void (*pack)(const void* source, size_t first_row, size_t depth, size_t first_column,
               size_t columns, size_t width, uint16_t* panel) = nullptr;
  const void* source = nullptr;
  // Added to the product; at most one of them.
  const void* row_bias = nullptr;     // [columns], to every row
  const void* column_bias = nullptr;  // [rows], to every column
  void* c = nullptr;
};

bool narrow_gemm(const NarrowProduct& product);

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_NARROW_MATMUL_H_
