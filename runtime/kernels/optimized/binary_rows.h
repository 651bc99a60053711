// SPDX-License-Identifier: Apache-2.0
//
// What operators of two operands share: out = f(a, b) with broadcasting, where
// b is a tensor or a number, row by row (rows.h).
//
//   const Operand b = read_operand(args, with_scalar);
//   if (!float_rows(a, b, out, PETREL_DISPATCH(Row_atan2), false) &&
//       !plain_rows(a, b, out, wrapping_row<Plus>(a.scalar_type()), false)) ...  // portable
//
// A Row computes n elements of f. An operand that does not move is its first
// element; of two operands at least one moves.
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_BINARY_ROWS_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_BINARY_ROWS_H_

#include <optional>
#include <type_traits>

#include "runtime/kernels/optimized/fast_path.h"

namespace petrel::runtime::optimized {

// The second operand, and how a number stands for it.
struct Operand {
  std::optional<Tensor> tensor;
  Scalar number = Scalar(int64_t{0});
};

Operand read_operand(KernelArgs& args, bool with_scalar);

// Types are those of the function. `p` is a parameter of some.
using Row = void (*)(const void* a, bool a_moves, const void* b, bool b_moves, void* out, size_t n,
                     float p);

// `row` computes floats or, with `to_bool`, bools, and `out` must be of these: a row of
// floats writes four bytes for each. Operands of other types become floats before (not
// doubles, and integers only beside floats), and floats become the type of `out`. These,
// like all here, give `out` its sizes and are false when the call is not for them.
// Beside half and bfloat16, integers that these do not have are not for them, nor wider floats
// unless `row` is of those that compute with them in float. `nanoseconds` is for one element.
enum class Wider : uint8_t { kRounded, kKept };
bool float_rows(const Tensor& a, const Operand& b, const Tensor& out, Row row, bool to_bool,
                Wider wider, float p = 0.0f, double nanoseconds = 0.1);

// `row` computes what a and b both are, into the same type or bool; null means
// that it does not. With `swapped` it gets b before a.
bool plain_rows(const Tensor& a, const Operand& b, const Tensor& out, Row row, bool to_bool,
                bool swapped = false);

// A row of T by a plain loop; one that stands still is spread over a buffer
// first, so that there is one loop.
template <typename T, typename Out, typename F>
void plain_row(const void* a, bool a_moves, const void* b, bool b_moves, void* out, size_t n,
               float) {
  constexpr size_t kPiece = 1024 / sizeof(T);
  T spread[kPiece];
  if (!a_moves || !b_moves) {
    const T fixed = *static_cast<const T*>(a_moves ? b : a);
    for (size_t i = 0; i < kPiece && i < n; ++i) spread[i] = fixed;
  }
  const F f;
  const size_t step = a_moves && b_moves ? n : kPiece;
  for (size_t first = 0; first < n; first += step) {
    const T* x = a_moves ? static_cast<const T*>(a) + first : spread;
    const T* y = b_moves ? static_cast<const T*>(b) + first : spread;
    Out* to = static_cast<Out*>(out) + first;
    const size_t count = n - first < step ? n - first : step;
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) to[i] = f(x[i], y[i]);
  }
}

// Rows of F for what wraps, or compares, alike with and without a sign: chosen
// by the size of integers. Null for other types.
template <typename F, bool kToBool>
Row wrapping_row(ScalarType type) {
  const auto row = [](auto zero) -> Row {
    using T = decltype(zero);
    return &plain_row<T, std::conditional_t<kToBool, uint8_t, T>, F>;
  };
  switch (type) {
    case ScalarType::Long:
      return row(uint64_t{0});
    case ScalarType::Int:
      return row(uint32_t{0});
    case ScalarType::Short:
      return row(uint16_t{0});
    case ScalarType::Char:
    case ScalarType::Byte:
      return row(uint8_t{0});
    default:
      return nullptr;
  }
}

// Rows of F for what depends on the sign.
template <typename F, bool kToBool>
Row ordered_row(ScalarType type) {
  const auto row = [](auto zero) -> Row {
    using T = decltype(zero);
    return &plain_row<T, std::conditional_t<kToBool, uint8_t, T>, F>;
  };
  switch (type) {
    case ScalarType::Long:
      return row(int64_t{0});
    case ScalarType::Int:
      return row(int32_t{0});
    case ScalarType::Short:
      return row(int16_t{0});
    case ScalarType::Char:
      return row(int8_t{0});
    case ScalarType::Byte:
      return row(uint8_t{0});
    default:
      return nullptr;
  }
}

// `row` of doubles for doubles, else `other`.
template <typename F, bool kToBool>
Row or_double_row(ScalarType type, Row other) {
  if (type != ScalarType::Double) return other;
  return &plain_row<double, std::conditional_t<kToBool, uint8_t, double>, F>;
}

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_BINARY_ROWS_H_
