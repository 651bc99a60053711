// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/binary_rows.h"

#include "runtime/kernels/optimized/cast.h"
#include "runtime/kernels/optimized/narrow_floats.h"
#include "runtime/kernels/optimized/rows.h"

namespace petrel::runtime::optimized {
namespace {

// Whether element i of all operands belongs together, in memory, as it mostly
// does: then there is one row and nothing to find out. Gives out its sizes.
bool is_one_row(const Tensor& a, const Operand& b, const Tensor& out) {
  return (!b.tensor || same_layout(a, *b.tensor)) && resize_tensor(out, a.sizes()) == Error::Ok &&
         same_layout(a, out);
}

// Gives out its sizes and finds the rows.
bool find_rows(const Tensor& a, const Operand& b, const Tensor& out, std::optional<Rows<3>>* rows) {
  portable::SizeArray sizes(a.sizes());
  if (b.tensor && !portable::broadcast_sizes(&sizes, b.tensor->sizes())) return false;
  if (resize_tensor(out, sizes.span()) != Error::Ok) return false;
  rows->emplace(out);
  return (*rows)->add(1, a) && (!b.tensor || (*rows)->add(2, *b.tensor)) && (*rows)->finish();
}

// `number` stands for b when that is not a tensor, in the element type that `row`
// wants.
template <typename RowFunction>
bool run_rows(const Tensor& a, const Operand& b, const void* number, const Tensor& out,
              double nanoseconds, RowFunction row, float p) {
  const char* x = static_cast<const char*>(a.const_data_ptr());
  const char* y = static_cast<const char*>(b.tensor ? b.tensor->const_data_ptr() : number);
  char* to = static_cast<char*>(out.mutable_data_ptr());
  constexpr size_t kShort = 1024;  // not worth cutting for threads
  if (a.numel() <= kShort && is_one_row(a, b, out)) {
    if (a.numel() != 0) row(x, true, y, b.tensor.has_value(), to, a.numel(), p);
    return true;
  }
  std::optional<Rows<3>> rows;
  if (!find_rows(a, b, out, &rows)) return false;
  // The portable kernel says why.
  if ((x == to && a.numel() != out.numel()) ||
      (b.tensor && y == to && b.tensor->numel() != out.numel())) {
    return false;
  }
  const int64_t size = static_cast<int64_t>(a.element_size());
  const int64_t b_size = b.tensor ? static_cast<int64_t>(b.tensor->element_size()) : 0;
  const int64_t out_size = static_cast<int64_t>(out.element_size());
  const bool y_moves = b.tensor && rows->moves(2);
  // A row in which nothing moves has one element: let one operand move.
  const bool x_moves = rows->moves(1) || !y_moves;
  rows->run(nanoseconds, [&](const int64_t* at, size_t n) {
    row(x + at[1] * size, x_moves, y + at[2] * b_size, y_moves, to + at[0] * out_size, n, p);
  });
  return true;
}

// A row of operands that `row` wants as floats.
struct WidenedRow {
  Row row;
  ScalarType a_type, b_type, out_type;

  void operator()(const void* a, bool a_moves, const void* b, bool b_moves, void* out, size_t n,
                  float p) const {
    constexpr size_t kPiece = 512;
    float x[kPiece], y[kPiece], result[kPiece];
    for (size_t i = 0; i < n; i += kPiece) {
      const size_t count = n - i < kPiece ? n - i : kPiece;
      load_floats(a_type, a, a_moves ? i : 0, x, a_moves ? count : 1);
      load_floats(b_type, b, b_moves ? i : 0, y, b_moves ? count : 1);
      if (out_type == ScalarType::Bool) {
        row(x, a_moves, y, b_moves, static_cast<uint8_t*>(out) + i, count, p);
      } else if (out_type == ScalarType::Float) {
        row(x, a_moves, y, b_moves, static_cast<float*>(out) + i, count, p);
      } else {
        row(x, a_moves, y, b_moves, result, count, p);
        narrow(result, out_type, out, i, count);
      }
    }
  }
};

bool is_floatlike(ScalarType type) { return type == ScalarType::Float || is_narrow(type); }

// Whether PyTorch rounds an operand to half or bfloat16 that `float_rows` would take as it is.
bool rounds(const Tensor& a, const Operand& b, Wider wider) {
  const ScalarType type = a.scalar_type();
  if (!b.tensor) {
    if (!is_narrow(type) || wider == Wider::kKept) return false;
    float number = static_cast<float>(b.number.to_double()), rounded = 0;
    uint16_t bits = 0;
    narrow(&number, type, &bits, 0, 1);
    load_floats(type, &bits, 0, &rounded, 1);
    return number != rounded;
  }
  const ScalarType other = b.tensor->scalar_type();
  if (is_narrow(type) == is_narrow(other)) return false;
  const ScalarType from = is_narrow(type) ? other : type;
  if (from != ScalarType::Float) return element_size(from) > 1;
  return wider == Wider::kRounded && (a.dim() == 0) != (b.tensor->dim() == 0);
}

bool both_are(const Tensor& a, const Operand& b, ScalarType type) {
  return a.scalar_type() == type && (!b.tensor || b.tensor->scalar_type() == type);
}

}  // namespace

Operand read_operand(KernelArgs& args, bool with_scalar) {
  Operand b;
  if (with_scalar) {
    b.number = args.scalar(1);
  } else {
    b.tensor = args.tensor(1);
  }
  return b;
}

bool float_rows(const Tensor& a, const Operand& b, const Tensor& out, Row row, bool to_bool,
                Wider wider, float p, double nanoseconds) {
  const ScalarType type = a.scalar_type(), out_type = out.scalar_type();
  const ScalarType other = b.tensor ? b.tensor->scalar_type() : ScalarType::Float;
  const float number = static_cast<float>(b.number.to_double());
  if (to_bool ? out_type != ScalarType::Bool : !is_floatlike(out_type)) return false;
  if (both_are(a, b, ScalarType::Float) && (to_bool || out_type == ScalarType::Float)) {
    return run_rows(a, b, &number, out, nanoseconds, row, p);
  }
  // Integers alone are computed as integers, which are exact and refuse to be divided
  // by zero, whatever the output is.
  const bool has_floats = is_floatlike(type) || (b.tensor && is_floatlike(other));
  const bool has_float_number = !b.tensor && b.number.isFloatingPoint();
  if (!has_floats && (to_bool || !has_float_number)) return false;
  if (!can_load_floats(type) || !can_load_floats(other) || rounds(a, b, wider)) return false;
  return run_rows(a, b, &number, out, nanoseconds + 0.4, WidenedRow{row, type, other, out_type}, p);
}

bool plain_rows(const Tensor& a, const Operand& b, const Tensor& out, Row row, bool to_bool,
                bool swapped) {
  const ScalarType type = a.scalar_type();
  if (row == nullptr || !both_are(a, b, type) ||
      out.scalar_type() != (to_bool ? ScalarType::Bool : type)) {
    return false;
  }
  uint64_t number = 0;
  if (!b.tensor && type == ScalarType::Double) {
    portable::storer<double>(type)(&number, 0, b.number.to_double());
  } else if (!b.tensor) {
    // A number beside integers must be an integer, or the result is none. It wraps, as in eager.
    // Beside truths only a truth stays what it is: with 3 they are compared as integers.
    if (b.number.isFloatingPoint()) return false;
    if (type == ScalarType::Bool && !b.number.isBoolean()) return false;
    portable::storer<int64_t>(type)(&number, 0, b.number.to_int());
  }
  if (!swapped) return run_rows(a, b, &number, out, 0.3, row, 0.0f);
  return run_rows(
      a, b, &number, out, 0.3,
      [row](const void* x, bool x_moves, const void* y, bool y_moves, void* to, size_t n, float p) {
        row(y, y_moves, x, x_moves, to, n, p);
      },
      0.0f);
}

}  // namespace petrel::runtime::optimized
