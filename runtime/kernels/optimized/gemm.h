// SPDX-License-Identifier: Apache-2.0
//
// The product of two float matrices, C = A B, in tiles that stay in registers.
//
//             columns                B is cut into panels of a few vectors'
//           |  B   |                 width. A panel is copied ("packed") 256
//     depth |  [p] |                 rows at a time to a buffer on the stack,
//           |      |                 where the rows of A meet it tile by tile.
//   rows A  |  C   |
//
// Where B comes from is the caller's: a function packs panels, so a transposed
// matrix or the windows of a convolution need no copy of the whole.
//
//   GemmJob job;                       // C[m, n] = A[m, k] B[k, n]
//   job.rows = m; job.columns = n; job.depth = k;
//   job.a = a; job.a_stride = k;
//   job.b = b; job.b_stride = n; job.pack = pack_rows;
//   job.c = c; job.c_stride = n;
//   gemm(job);
//
// C may overlap neither A nor B. The sums run in float, depth ascending.
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_GEMM_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_GEMM_H_

#include <cstddef>

namespace petrel::runtime::optimized {

struct GemmJob;

// panel[k * width + j] = B[first_row + k, first_column + j] for k < depth and
// j < columns; the rest of each row of the panel is not touched.
// A panel has at most kMostPanel elements.
inline constexpr size_t kMostPanel = 256 * 32;
using PackPanel = void (*)(const GemmJob& job, size_t first_row, size_t depth, size_t first_column,
                           size_t columns, size_t width, float* panel);

struct GemmJob {
  size_t rows = 0, columns = 0, depth = 0;
  const float* a = nullptr;
  size_t a_stride = 0;  // elements from row to row
  PackPanel pack = nullptr;
  // What `pack` reads. b and b_stride describe a matrix for the functions below.
  const float* b = nullptr;
  size_t b_stride = 0;
  const void* source = nullptr;
  float* c = nullptr;
  size_t c_stride = 0;
  // What is added to the product; at most one of them.
  bool accumulate = false;             // C as it was
  const float* row_bias = nullptr;     // [columns], to every row
  const float* column_bias = nullptr;  // [rows], to every column
};

// B[k, j] = b[k * b_stride + j], and its transpose b[j * b_stride + k].
void pack_rows(const GemmJob& job, size_t first_row, size_t depth, size_t first_column,
               size_t columns, size_t width, float* panel);
void pack_transposed(const GemmJob& job, size_t first_row, size_t depth, size_t first_column,
                     size_t columns, size_t width, float* panel);

void gemm(const GemmJob& job);

// The same without threads, for parts of larger work that has its own.
void gemm_on_this_thread(const GemmJob& job);

// `count` products of equal sizes. select(context, i, &job) sets what differs
// from `job`; it is called from many threads.
using SelectJob = void (*)(const void* context, size_t i, GemmJob* job);
void gemm_batch(const GemmJob& job, size_t count, SelectJob select, const void* context);

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_GEMM_H_
