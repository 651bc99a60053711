// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/gemm.h"

#include <algorithm>
#include <cstring>

#include "runtime/kernels/optimized/instruction_sets.h"
#include "runtime/kernels/optimized/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/gemm.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// A tile is kTileRows x 2 vectors: its sums, two vectors of B and one element
// of A must fit the registers, 16 of them or 32.
#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr size_t kTileRows = 12;
#else
constexpr size_t kTileRows = 6;
#endif
constexpr size_t kTileVectors = 2;
constexpr size_t kDepthBlock = 256;
constexpr size_t kMaxWidth = kTileVectors * 16;
static_assert(kDepthBlock * kMaxWidth == kMostPanel, "what packing functions rely on");

size_t PanelWidth() { return kTileVectors * hn::Lanes(D()); }

// What a finished tile adds to its sums, for the element [0, 0] of the tile.
struct Addend {
  bool c = false;
  const float* row = nullptr;
  const float* column = nullptr;
};

// A row of a tile of which `columns` exist: the sums and what is added to each, `from[j]` or, when
// that is null, `add`. Compilers that are left to choose for each column gather the same address.
HWY_INLINE void StorePart(V sum0, V sum1, const float* from, float add, float* row,
                          size_t columns) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V by = hn::Set(d, add);
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN float part[kMaxWidth];
  hn::Store(from == nullptr ? hn::Add(sum0, by) : sum0, d, part);
  hn::Store(from == nullptr ? hn::Add(sum1, by) : sum1, d, part + lanes);
  if (from == nullptr) {
    for (size_t j = 0; j < columns; ++j) row[j] = part[j];
  } else {
    for (size_t j = 0; j < columns; ++j) row[j] = part[j] + from[j];
  }
#else
  const auto mask0 = hn::FirstN(d, columns);
  const auto mask1 = hn::FirstN(d, columns - std::min(columns, lanes));
  const V add0 = from == nullptr ? by : hn::MaskedLoad(mask0, d, from);
  const V add1 = from == nullptr ? by : hn::MaskedLoad(mask1, d, from + lanes);
  hn::BlendedStore(hn::Add(sum0, add0), mask0, d, row);
  hn::BlendedStore(hn::Add(sum1, add1), mask1, d, row + lanes);
#endif
}

// Tile [kRows, width] of C from kRows rows of A and a panel of B. Of the
// columns, `columns` exist.
template <size_t kRows>
HWY_NOINLINE void Tile(const float* HWY_RESTRICT a, size_t a_stride,
                       const float* HWY_RESTRICT panel, size_t depth, const Addend& addend,
                       float* HWY_RESTRICT c, size_t c_stride, size_t columns) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sum0[kRows], sum1[kRows];
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows; ++i) sum0[i] = sum1[i] = hn::Zero(d);
  for (size_t k = 0; k < depth; ++k) {
    const V b0 = hn::LoadU(d, panel + k * kTileVectors * lanes);
    const V b1 = hn::LoadU(d, panel + k * kTileVectors * lanes + lanes);
#pragma GCC unroll 16
    for (size_t i = 0; i < kRows; ++i) {
      const V x = hn::Set(d, a[i * a_stride + k]);
      sum0[i] = hn::MulAdd(x, b0, sum0[i]);
      sum1[i] = hn::MulAdd(x, b1, sum1[i]);
    }
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows; ++i) {
    float* row = c + i * c_stride;
    const float* from = addend.c ? row : addend.row;
    if (columns < kTileVectors * lanes) {
      const bool is_column = from == nullptr && addend.column != nullptr;
      StorePart(sum0[i], sum1[i], from, is_column ? addend.column[i] : 0.0f, row, columns);
      continue;
    }
    if (from != nullptr) {
      sum0[i] = hn::Add(sum0[i], hn::LoadU(d, from));
      sum1[i] = hn::Add(sum1[i], hn::LoadU(d, from + lanes));
    } else if (addend.column != nullptr) {
      const V add = hn::Set(d, addend.column[i]);
      sum0[i] = hn::Add(sum0[i], add);
      sum1[i] = hn::Add(sum1[i], add);
    }
    hn::StoreU(sum0[i], d, row);
    hn::StoreU(sum1[i], d, row + lanes);
  }
}

// pack_rows() for whole panels: a row is two vectors.
void PackWholeRows(const GemmJob& job, size_t first_row, size_t depth, size_t first_column,
                   float* HWY_RESTRICT panel) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const float* from = job.b + first_row * job.b_stride + first_column;
  for (size_t k = 0; k < depth; ++k, from += job.b_stride, panel += 2 * lanes) {
    hn::Store(hn::LoadU(d, from), d, panel);
    hn::Store(hn::LoadU(d, from + lanes), d, panel + lanes);
  }
}

// pack_transposed() in squares of four.
void PackTransposed(const GemmJob& job, size_t first_row, size_t depth, size_t first_column,
                    size_t columns, size_t width, float* HWY_RESTRICT panel) {
  const float* from = job.b + first_column * job.b_stride + first_row;
  const size_t stride = job.b_stride;
  size_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> four;
  for (; j + 4 <= columns; j += 4, from += 4 * stride) {
    size_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      const auto r0 = hn::LoadU(four, from + k), r1 = hn::LoadU(four, from + stride + k);
      const auto r2 = hn::LoadU(four, from + 2 * stride + k);
      const auto r3 = hn::LoadU(four, from + 3 * stride + k);
      const auto low01 = hn::InterleaveLower(four, r0, r1);
      const auto low23 = hn::InterleaveLower(four, r2, r3);
      const auto high01 = hn::InterleaveUpper(four, r0, r1);
      const auto high23 = hn::InterleaveUpper(four, r2, r3);
      float* to = panel + k * width + j;
      hn::StoreU(hn::ConcatLowerLower(four, low23, low01), four, to);
      hn::StoreU(hn::ConcatUpperUpper(four, low23, low01), four, to + width);
      hn::StoreU(hn::ConcatLowerLower(four, high23, high01), four, to + 2 * width);
      hn::StoreU(hn::ConcatUpperUpper(four, high23, high01), four, to + 3 * width);
    }
    for (; k < depth; ++k) {
      for (size_t i = 0; i < 4; ++i) panel[k * width + j + i] = from[i * stride + k];
    }
  }
#endif
  for (; j < columns; ++j, from += stride) {
    for (size_t k = 0; k < depth; ++k) panel[k * width + j] = from[k];
  }
}

// Rows [first_row, end_row) of the panel of C that begins at first_column.
void Panel(const GemmJob& job, size_t first_column, size_t first_row, size_t end_row) {
  const size_t width = PanelWidth();
  const size_t columns = std::min(width, job.columns - first_column);
  HWY_ALIGN float panel[kDepthBlock * kMaxWidth];
  const bool is_whole = columns == width;
  if (!is_whole) {
    std::memset(panel, 0, std::min(kDepthBlock, job.depth) * width * sizeof(float));
  }
  for (size_t k = 0; k == 0 || k < job.depth; k += kDepthBlock) {
    const size_t depth = std::min(kDepthBlock, job.depth - k);
    if (depth == 0) {
      // Operands without elements have no address to count from.
    } else if (is_whole && job.pack == &pack_rows) {
      PackWholeRows(job, k, depth, first_column, panel);
    } else if (job.pack == &pack_transposed) {
      PackTransposed(job, k, depth, first_column, columns, width, panel);
    } else {
      job.pack(job, k, depth, first_column, columns, width, panel);
    }
    for (size_t i = first_row; i < end_row;) {
      Addend addend;
      addend.c = k > 0 || job.accumulate;
      if (k == 0 && job.row_bias != nullptr) addend.row = job.row_bias + first_column;
      if (k == 0 && job.column_bias != nullptr) addend.column = job.column_bias + i;
      const size_t left = end_row - i;
      const auto tile = left >= kTileRows            ? &Tile<kTileRows>
                        : left >= 8 && kTileRows > 8 ? &Tile<8>
                        : left >= 4                  ? &Tile<4>
                        : left >= 2                  ? &Tile<2>
                                                     : &Tile<1>;
      tile(job.a + i * job.a_stride + k, job.a_stride, panel, depth, addend,
           job.c + i * job.c_stride + first_column, job.c_stride, columns);
      i += left >= kTileRows            ? kTileRows
           : left >= 8 && kTileRows > 8 ? 8
           : left >= 4                  ? 4
           : left >= 2                  ? 2
                                        : 1;
    }
  }
}

// Columns [begin, end) of a C of one row, from a B of which rows are
// contiguous. Rows are read side by side as streams, not panel by panel:
// nothing is used twice, so only the speed of memory counts.
void Row(const GemmJob& job, size_t begin, size_t end) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  float* HWY_RESTRICT c = job.c;
  if (job.row_bias != nullptr) {
    std::memcpy(c + begin, job.row_bias + begin, (end - begin) * sizeof(float));
  } else if (job.column_bias != nullptr) {
    std::fill(c + begin, c + end, job.column_bias[0]);
  } else if (!job.accumulate) {
    std::memset(c + begin, 0, (end - begin) * sizeof(float));
  }
  size_t k = 0;
  for (; k + 4 <= job.depth; k += 4) {
    const float* b0 = job.b + k * job.b_stride;
    const float* b1 = b0 + job.b_stride;
    const float* b2 = b1 + job.b_stride;
    const float* b3 = b2 + job.b_stride;
    const float* x = job.a + k;
    const V x0 = hn::Set(d, x[0]), x1 = hn::Set(d, x[1]);
    const V x2 = hn::Set(d, x[2]), x3 = hn::Set(d, x[3]);
    size_t j = begin;
    for (; j + lanes <= end; j += lanes) {
      V sum = hn::LoadU(d, c + j);
      sum = hn::MulAdd(x0, hn::LoadU(d, b0 + j), sum);
      sum = hn::MulAdd(x1, hn::LoadU(d, b1 + j), sum);
      sum = hn::MulAdd(x2, hn::LoadU(d, b2 + j), sum);
      sum = hn::MulAdd(x3, hn::LoadU(d, b3 + j), sum);
      hn::StoreU(sum, d, c + j);
    }
    for (; j < end; ++j) c[j] += x[0] * b0[j] + x[1] * b1[j] + x[2] * b2[j] + x[3] * b3[j];
  }
  for (; k < job.depth; ++k) {
    const float* b0 = job.b + k * job.b_stride;
    for (size_t j = begin; j < end; ++j) c[j] += job.a[k] * b0[j];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

PETREL_EXPORT(PanelWidth);
PETREL_EXPORT(Panel);
PETREL_EXPORT(Row);

// Multiply-adds per nanosecond of one thread, for deciding on threads.
constexpr double kMultiplyAddsPerNanosecond = 40.0;
constexpr double kStreamedFloatsPerNanosecond = 5.0;

// Rows that share a packed panel: enough to pay for packing, few enough that
// there is work for all threads when there are few panels.
constexpr size_t kRowBlock = 96;

void run_rows(const GemmJob& job) {
  // In steps of a cache line, so that threads do not write to the same one.
  constexpr size_t kStep = 16;
  const size_t steps = (job.columns + kStep - 1) / kStep;
  parallel_for(steps, kStep * static_cast<double>(job.depth) / kStreamedFloatsPerNanosecond,
               [&](size_t begin, size_t end) {
                 PETREL_DISPATCH(Row)
                 (job, begin * kStep, std::min(end * kStep, job.columns));
               });
}

}  // namespace

void pack_rows(const GemmJob& job, size_t first_row, size_t depth, size_t first_column,
               size_t columns, size_t width, float* panel) {
  const float* from = job.b + first_row * job.b_stride + first_column;
  for (size_t k = 0; k < depth; ++k) {
    std::memcpy(panel + k * width, from + k * job.b_stride, columns * sizeof(float));
  }
}

void pack_transposed(const GemmJob& job, size_t first_row, size_t depth, size_t first_column,
                     size_t columns, size_t width, float* panel) {
  const float* from = job.b + first_column * job.b_stride + first_row;
  for (size_t j = 0; j < columns; ++j) {
    for (size_t k = 0; k < depth; ++k) panel[k * width + j] = from[j * job.b_stride + k];
  }
}

void gemm_batch(const GemmJob& job, size_t count, SelectJob select, const void* context) {
  if (count == 0 || job.rows == 0 || job.columns == 0) return;
  if (job.rows == 1 && count == 1 && job.pack == &pack_rows) {
    GemmJob one = job;
    if (select != nullptr) select(context, 0, &one);
    return run_rows(one);
  }
  const size_t width = PETREL_DISPATCH(PanelWidth)();
  const size_t panels = (job.columns + width - 1) / width;
  const size_t blocks = (job.rows + kRowBlock - 1) / kRowBlock;
  const double cost = static_cast<double>(std::min(job.rows, kRowBlock) * width * job.depth) /
                      kMultiplyAddsPerNanosecond;
  // Unit u is a block of rows in a panel of a product, rows fastest.
  parallel_for(count * panels * blocks, cost, [&](size_t begin, size_t end) {
    for (size_t u = begin; u < end;) {
      const size_t block = u % blocks;
      const size_t panel = u / blocks % panels;
      GemmJob one = job;
      if (select != nullptr) select(context, u / blocks / panels, &one);
      // Blocks of the same panel that follow each other share the packing.
      const size_t last = std::min(blocks, block + (end - u));
      PETREL_DISPATCH(Panel)
      (one, panel * width, block * kRowBlock, std::min(last * kRowBlock, job.rows));
      u += last - block;
    }
  });
}

void gemm(const GemmJob& job) { gemm_batch(job, 1, nullptr, nullptr); }

void gemm_on_this_thread(const GemmJob& job) {
  const size_t width = PETREL_DISPATCH(PanelWidth)();
  for (size_t column = 0; column < job.columns; column += width) {
    PETREL_DISPATCH(Panel)(job, column, 0, job.rows);
  }
}

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
