// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/double_gemm.h"

#include <algorithm>

#include "runtime/kernels/optimized/instruction_sets.h"
#include "runtime/kernels/optimized/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/double_gemm.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DD = hn::ScalableTag<double>;
using VD = hn::Vec<DD>;

constexpr size_t kDoubleDepth = 256;
constexpr size_t kDoubleWidth = 2 * 8;  // at most
constexpr size_t kDoubleRows = 4;

// Rows [row, row + kRows) of the panel of C that begins at `column`: what the
// part of the panel from depth k on adds.
template <size_t kRows>
void DoubleTile(const DoubleProduct& product, size_t row, size_t column, size_t k, size_t depth,
                const double* HWY_RESTRICT panel) {
  const DD d;
  const size_t lanes = hn::Lanes(d);
  const double* HWY_RESTRICT a = product.a + row * product.depth + k;
  VD sum0[kRows], sum1[kRows];
#pragma GCC unroll 4
  for (size_t i = 0; i < kRows; ++i) sum0[i] = sum1[i] = hn::Zero(d);
  for (size_t j = 0; j < depth; ++j) {
    const VD b0 = hn::Load(d, panel + j * 2 * lanes);
    const VD b1 = hn::Load(d, panel + j * 2 * lanes + lanes);
#pragma GCC unroll 4
    for (size_t i = 0; i < kRows; ++i) {
      const VD x = hn::Set(d, a[i * product.depth + j]);
      sum0[i] = hn::MulAdd(x, b0, sum0[i]);
      sum1[i] = hn::MulAdd(x, b1, sum1[i]);
    }
  }
  HWY_ALIGN double tile[kDoubleWidth];
  const size_t columns = std::min(2 * lanes, product.columns - column);
  for (size_t i = 0; i < kRows; ++i) {
    hn::Store(sum0[i], d, tile);
    hn::Store(sum1[i], d, tile + lanes);
    double* c = product.c + (row + i) * product.columns + column;
    for (size_t j = 0; j < columns; ++j) {
      const double start = k > 0                            ? c[j]
                           : product.row_bias != nullptr    ? product.row_bias[column + j]
                           : product.column_bias != nullptr ? product.column_bias[row + i]
                                                            : 0.0;
      c[j] = start + tile[j];
    }
  }
}

void DoublePanel(const DoubleProduct& product, size_t column, size_t first_row, size_t end_row) {
  const size_t width = 2 * hn::Lanes(DD());
  const size_t columns = std::min(width, product.columns - column);
  HWY_ALIGN double panel[kDoubleDepth * kDoubleWidth];
  if (columns < width) std::fill_n(panel, kDoubleDepth * width, 0.0);
  for (size_t k = 0; k == 0 || k < product.depth; k += kDoubleDepth) {
    const size_t depth = std::min(kDoubleDepth, product.depth - k);
    if (depth == 0) {
      // Operands without elements have no address to count from.
    } else if (product.pack != nullptr) {
      product.pack(product.source, k, depth, column, columns, width, panel);
    } else {
      const double* from = product.b + k * product.b_row + column * product.b_column;
      for (size_t j = 0; j < depth; ++j) {
        for (size_t i = 0; i < columns; ++i) {
          panel[j * width + i] = from[j * product.b_row + i * product.b_column];
        }
      }
    }
    size_t row = first_row;
    for (; row + kDoubleRows <= end_row; row += kDoubleRows) {
      DoubleTile<kDoubleRows>(product, row, column, k, depth, panel);
    }
    for (; row < end_row; ++row) DoubleTile<1>(product, row, column, k, depth, panel);
  }
}

size_t DoublePanelWidth() { return 2 * hn::Lanes(DD()); }

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

PETREL_EXPORT(DoublePanel);
PETREL_EXPORT(DoublePanelWidth);

constexpr double kMultiplyAddsPerNanosecond = 10.0;
constexpr size_t kRowBlock = 96;  // rows that share a packed panel

}  // namespace

void double_gemm(const DoubleProduct& product) {
  if (product.rows == 0 || product.columns == 0) return;
  const size_t width = PETREL_DISPATCH(DoublePanelWidth)();
  const size_t panels = (product.columns + width - 1) / width;
  const size_t blocks = (product.rows + kRowBlock - 1) / kRowBlock;
  const double cost =
      static_cast<double>(std::min(product.rows, kRowBlock) * width * product.depth) /
      kMultiplyAddsPerNanosecond;
  parallel_for(panels * blocks, cost, [&](size_t begin, size_t end) {
    for (size_t u = begin; u < end; ++u) {
      const size_t first = u % blocks * kRowBlock;
      PETREL_DISPATCH(DoublePanel)
      (product, u / blocks * width, first, std::min(first + kRowBlock, product.rows));
    }
  });
}

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
