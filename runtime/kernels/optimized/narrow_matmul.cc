// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/narrow_matmul.h"

#include <algorithm>

#include "runtime/kernels/optimized/gemm.h"
#include "runtime/kernels/optimized/narrow_floats.h"
#include "runtime/kernels/optimized/parallel.h"

namespace petrel::runtime::optimized {
namespace {

constexpr size_t kFloats = 16384;  // of A at a time
constexpr size_t kRows = 96;
constexpr size_t kColumns = 128;

// Columns of B from `first` on.
struct Source {
  const NarrowProduct* product;
  size_t first;
};

// A PackPanel that widens.
void pack(const GemmJob& job, size_t first_row, size_t depth, size_t first_column, size_t columns,
          size_t width, float* panel) {
  const Source& source = *static_cast<const Source*>(job.source);
  const NarrowProduct& product = *source.product;
  const size_t column = source.first + first_column;
  if (product.pack != nullptr) {
    uint16_t raw[kMostPanel];
    if (columns < width) std::fill_n(raw, depth * width, uint16_t{0});
    product.pack(product.source, first_row, depth, column, columns, width, raw);
    return widen(product.type, raw, 0, panel, depth * width);
  }
  if (!product.b_is_transposed) {
    for (size_t k = 0; k < depth; ++k) {
      widen(product.type, product.b, (first_row + k) * product.columns + column, panel + k * width,
            columns);
    }
    return;
  }
  constexpr size_t kLine = 256;
  float line[kLine];
  for (size_t j = 0; j < columns; ++j) {
    for (size_t k = 0; k < depth; k += kLine) {
      const size_t n = std::min(kLine, depth - k);
      widen(product.type, product.b, (column + j) * product.depth + first_row + k, line, n);
      for (size_t i = 0; i < n; ++i) panel[(k + i) * width + j] = line[i];
    }
  }
}

void multiply_block(const NarrowProduct& product, size_t row, size_t rows, size_t column,
                    size_t columns) {
  float a[kFloats], c[kRows * kColumns], bias[kColumns];
  widen(product.type, product.a, row * product.depth, a, rows * product.depth);
  const Source source = {&product, column};
  GemmJob job;
  job.rows = rows, job.columns = columns, job.depth = product.depth;
  job.a = a, job.a_stride = product.depth;
  job.pack = &pack, job.source = &source;
  job.c = c, job.c_stride = kColumns;
  if (product.row_bias != nullptr) {
    widen(product.type, product.row_bias, column, bias, columns);
    job.row_bias = bias;
  }
  if (product.column_bias != nullptr) {
    widen(product.type, product.column_bias, row, bias, rows);
    job.column_bias = bias;
  }
  gemm_on_this_thread(job);
  for (size_t i = 0; i < rows; ++i) {
    narrow(c + i * kColumns, product.type, product.c, (row + i) * product.columns + column,
           columns);
  }
}

}  // namespace

bool narrow_gemm(const NarrowProduct& product) {
  if (product.depth > kFloats) return false;
  if (product.rows == 0 || product.columns == 0) return true;
  const size_t depth = std::max<size_t>(product.depth, 1);
  const size_t rows = std::min({kRows, product.rows, kFloats / depth});
  const size_t row_blocks = (product.rows + rows - 1) / rows;
  const size_t column_blocks = (product.columns + kColumns - 1) / kColumns;
  // Widening B costs about as much as multiplying it with ten rows.
  const double cost =
      static_cast<double>((rows + 10) * std::min(kColumns, product.columns) * depth) / 40.0;
  parallel_for(row_blocks * column_blocks, cost, [&](size_t begin, size_t end) {
    for (size_t u = begin; u < end; ++u) {
      const size_t row = u / column_blocks * rows, column = u % column_blocks * kColumns;
      multiply_block(product, row, std::min(rows, product.rows - row), column,
                     std::min(kColumns, product.columns - column));
    }
  });
  return true;
}

}  // namespace petrel::runtime::optimized
