// SPDX-License-Identifier: Apache-2.0
//
// The product of two matrices of doubles, C = A B, in tiles of registers over
// packed panels of B, as gemm.h has it for floats.
//
//   DoubleProduct product;             // C[m, n] = A[m, k] B[k, n]
//   product.rows = m, product.columns = n, product.depth = k;
//   product.a = a, product.c = c;
//   product.b = b, product.b_row = n, product.b_column = 1;   // strides
//   double_gemm(product);
//
// A and C are contiguous; C overlaps neither A nor B. B may come from a function
// instead, which fills panels as PackPanel does.
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_DOUBLE_GEMM_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_DOUBLE_GEMM_H_

#include <cstddef>

namespace petrel::runtime::optimized {

struct DoubleProduct {
  size_t rows = 0, columns = 0, depth = 0;
  const double* a = nullptr;
  const double* b = nullptr;
  size_t b_row = 0, b_column = 1;
  void (*pack)(const void* source, size_t first_row, size_t depth, size_t first_column,
               size_t columns, size_t width, double* panel) = nullptr;
  const void* source = nullptr;
  double* c = nullptr;
  // Added to the product; at most one of them.
  const double* row_bias = nullptr;     // [columns], to every row
  const double* column_bias = nullptr;  // [rows], to every column
};

void double_gemm(const DoubleProduct& product);

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_DOUBLE_GEMM_H_
