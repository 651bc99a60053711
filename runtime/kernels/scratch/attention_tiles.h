// SPDX-License-Identifier: Apache-2.0
//
// How attention is cut: rows of queries in blocks, each meeting 128 keys at a
// time. The scores of a block and those keys, a tile, are all that is ever kept
// of the product of queries and keys.
//
//              128 keys
//            +---------+----
//     rows   |  tile   |  ->        of one head; blocks() of them
//            +---------+----
//
// Arithmetic of shapes only, so that the compiler can know what the kernel will do.
//
//   const AttentionTiles tiles(batch * heads, rows);
//   use(tiles.bytes());
#ifndef PETREL_RUNTIME_KERNELS_SCRATCH_ATTENTION_TILES_H_
#define PETREL_RUNTIME_KERNELS_SCRATCH_ATTENTION_TILES_H_

#include <algorithm>
#include <cstddef>

namespace petrel::runtime::scratch {

class AttentionTiles final {
 public:
  static constexpr size_t kMostRows = 192;
  static constexpr size_t kColumns = 128;  // a multiple of all vectors
  static constexpr size_t kMostFloats = kMostRows * kColumns;

  // Keys and values are packed once per block of rows: few and equal ones, but
  // enough for the threads. At least one head and one row.
  AttentionTiles(size_t heads, size_t rows) : all_rows_(rows) {
    const size_t wanted = heads >= kPlentyOfHeads ? 1 : kPlentyOfHeads / heads;
    const size_t least = 1 + (rows - 1) / kMostRows;
    const size_t pieces = std::max(least, std::min(wanted, rows / kLeastRows));
    const size_t each = 1 + (rows - 1) / pieces;
    rows_ = std::min(kMostRows, (each + kRowStep - 1) / kRowStep * kRowStep);
  }

  // From block to block; the last has what is left.
  size_t rows() const { return rows_; }
  size_t blocks() const { return 1 + (all_rows_ - 1) / rows_; }
  // Of the largest tile.
  size_t bytes() const { return std::min(rows_, all_rows_) * kColumns * sizeof(float); }

 private:
  static constexpr size_t kRowStep = 12;  // what the product of matrices likes
  static constexpr size_t kPlentyOfHeads = 8;
  static constexpr size_t kLeastRows = 96;  // worth a block of their own

  size_t all_rows_;
  size_t rows_ = 0;
};

}  // namespace petrel::runtime::scratch

#endif  // PETREL_RUNTIME_KERNELS_SCRATCH_ATTENTION_TILES_H_
