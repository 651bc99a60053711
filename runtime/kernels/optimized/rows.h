// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operators as a few long rows: the dims of an output, in the order
// of its memory, with neighbours joined wherever all operands allow it.
//
//   out [8, 64, 56, 56], a the same, b [64, 1, 1]
//     -> 512 rows of 3136 elements, in which b stands still
//   out, a, b of one layout
//     -> 1 row
//
//   Rows<3> rows(out);                   // operand 0
//   if (!rows.add(1, a) || !rows.add(2, b) || !rows.finish()) ...  // portable
//   rows.run(nanoseconds, [&](const int64_t* at, size_t n) {
//     f(x + at[1], rows.moves(1), y + at[2], rows.moves(2), o + at[0], n);
//   });
//
// Along a row an operand advances by one element or not at all; when that
// cannot be had, finish() is false. Long rows are cut for threads.
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_ROWS_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/tensor.h"
#include "runtime/kernels/optimized/parallel.h"
#include "runtime/kernels/portable/strided_loop.h"

namespace petrel::runtime::optimized {

template <size_t N>
class Rows final {
 public:
  explicit Rows(const Tensor& out) {
    for (size_t d = 0; d < out.sizes().size(); ++d) {
      Dim& dim = dims_[rank_++];
      dim.size = out.sizes()[d];
      dim.stride[0] = out.strides()[d];
      for (size_t k = 1; k < N; ++k) dim.stride[k] = 0;
    }
  }

  // Strides of operand k; false when it does not broadcast to the output.
  bool add(size_t k, const Tensor& tensor) {
    const size_t rank = tensor.sizes().size();
    if (rank > rank_) return false;
    const size_t shift = rank_ - rank;
    for (size_t d = 0; d < rank; ++d) {
      const int64_t size = tensor.sizes()[d];
      if (size != 1 && size != dims_[d + shift].size) return false;
      dims_[d + shift].stride[k] = size == 1 ? 0 : tensor.strides()[d];
    }
    return true;
  }

  bool finish() {
    sort_and_join();
    if (rank_ == 0) return true;
    for (size_t k = 0; k < N; ++k) {
      const int64_t stride = dims_[rank_ - 1].stride[k];
      if (stride != 1 && (k == 0 || stride != 0)) return false;
    }
    return true;
  }

  // Whether operand k advances along a row.
  bool moves(size_t k) const { return rank_ == 0 || dims_[rank_ - 1].stride[k] != 0; }

  // fn(offsets of the operands in elements, number of elements), on several
  // threads; `nanoseconds` is the cost of one element.
  template <typename Fn>
  void run(double nanoseconds, Fn fn) const {
    size_t count = 1;
    for (size_t d = 0; d + 1 < rank_; ++d) count *= static_cast<size_t>(dims_[d].size);
    const size_t length = rank_ == 0 ? 1 : static_cast<size_t>(dims_[rank_ - 1].size);
    if (count == 0 || length == 0) return;
    // Unit: a piece of a row.
    const size_t pieces = (length + kPiece - 1) / kPiece;
    const double cost = nanoseconds * static_cast<double>(length < kPiece ? length : kPiece);
    parallel_for(count * pieces, cost + kRowNanoseconds, [&](size_t begin, size_t end) {
      size_t row = begin / pieces;
      size_t piece = begin % pieces;
      Position position = position_of(row);
      for (size_t left = end - begin; left > 0;) {
        const size_t taken = pieces - piece < left ? pieces - piece : left;
        const size_t first = piece * kPiece;
        const size_t last = (piece + taken) * kPiece < length ? (piece + taken) * kPiece : length;
        int64_t at[N];
        for (size_t k = 0; k < N; ++k) {
          at[k] = position.at[k] + (moves(k) ? static_cast<int64_t>(first) : 0);
        }
        fn(static_cast<const int64_t*>(at), last - first);
        left -= taken;
        piece = 0;
        advance(&position);
      }
    });
  }

 private:
  static constexpr size_t kPiece = 4096;
  static constexpr double kRowNanoseconds = 5.0;

  struct Dim {
    int64_t size;
    int64_t stride[N];
  };

  struct Position {
    int64_t index[kTensorDimensionLimit] = {};
    int64_t at[N] = {};
  };

  void sort_and_join() {
    size_t kept = 0;
    for (size_t d = 0; d < rank_; ++d) {
      if (dims_[d].size == 1) continue;
      const Dim dim = dims_[d];
      size_t place = kept++;
      for (; place > 0 && dims_[place - 1].stride[0] < dim.stride[0]; --place) {
        dims_[place] = dims_[place - 1];
      }
      dims_[place] = dim;
    }
    rank_ = kept;
    size_t joined = 0;
    for (size_t d = 1; d < rank_; ++d) {
      Dim& outer = dims_[joined];
      const Dim& inner = dims_[d];
      bool fits = true;
      for (size_t k = 0; k < N; ++k) fits &= outer.stride[k] == inner.stride[k] * inner.size;
      if (fits) {
        const int64_t size = outer.size * inner.size;
        outer = inner;
        outer.size = size;
      } else {
        dims_[++joined] = inner;
      }
    }
    if (rank_ > 0) rank_ = joined + 1;
  }

  Position position_of(size_t row) const {
    Position position;
    for (size_t d = rank_ > 0 ? rank_ - 1 : 0; d-- > 0;) {
      const size_t size = static_cast<size_t>(dims_[d].size);
      position.index[d] = static_cast<int64_t>(row % size);
      row /= size;
      for (size_t k = 0; k < N; ++k) position.at[k] += position.index[d] * dims_[d].stride[k];
    }
    return position;
  }

  void advance(Position* position) const {
    for (size_t d = rank_ > 0 ? rank_ - 1 : 0; d-- > 0;) {
      for (size_t k = 0; k < N; ++k) position->at[k] += dims_[d].stride[k];
      if (++position->index[d] < dims_[d].size) return;
      for (size_t k = 0; k < N; ++k) position->at[k] -= dims_[d].size * dims_[d].stride[k];
      position->index[d] = 0;
    }
  }

  Dim dims_[kTensorDimensionLimit];  // rank_ of them
  size_t rank_ = 0;
};

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_ROWS_H_
