// SPDX-License-Identifier: Apache-2.0
//
// where and masked_fill: elements are moved as they are, so only their size
// counts.
#include <cstring>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/rows.h"

namespace petrel::runtime::optimized {
namespace {

template <typename T>
void choose_row(const uint8_t* condition, bool condition_moves, const T* yes, bool yes_moves,
                const T* no, bool no_moves, T* to, size_t n) {
  if (!condition_moves) {
    const T* from = *condition != 0 ? yes : no;
    if (*condition != 0 ? yes_moves : no_moves) {
      std::memmove(to, from, n * sizeof(T));
    } else {
      for (size_t i = 0; i < n; ++i) to[i] = *from;
    }
    return;
  }
  const size_t y = yes_moves, z = no_moves;
  if (y + z == 2) {
    for (size_t i = 0; i < n; ++i) {
      // Both are read, so that there is no branch.
      const T a = yes[i], b = no[i];
      to[i] = condition[i] != 0 ? a : b;
    }
  } else if (y == 1) {
    const T fixed = *no;
    for (size_t i = 0; i < n; ++i) {
      const T a = yes[i];
      to[i] = condition[i] != 0 ? a : fixed;
    }
  } else if (z == 1) {
    const T fixed = *yes;
    for (size_t i = 0; i < n; ++i) {
      const T b = no[i];
      to[i] = condition[i] != 0 ? fixed : b;
    }
  } else {
    const T a = *yes, b = *no;
    for (size_t i = 0; i < n; ++i) to[i] = condition[i] != 0 ? a : b;
  }
}

template <typename T>
void choose(const Rows<4>& rows, const Tensor& condition, const void* yes, const void* no,
            const Tensor& out) {
  const uint8_t* test = static_cast<const uint8_t*>(condition.const_data_ptr());
  rows.run(0.3, [&](const int64_t* at, size_t n) {
    choose_row(test + at[1], rows.moves(1), static_cast<const T*>(yes) + at[2], rows.moves(2),
               static_cast<const T*>(no) + at[3], rows.moves(3),
               static_cast<T*>(out.mutable_data_ptr()) + at[0], n);
  });
}

bool choose_by_size(const Rows<4>& rows, const Tensor& condition, const void* yes, const void* no,
                    const Tensor& out) {
  switch (out.element_size()) {
    case 1:
      choose<uint8_t>(rows, condition, yes, no, out);
      return true;
    case 2:
      choose<uint16_t>(rows, condition, yes, no, out);
      return true;
    case 4:
      choose<uint32_t>(rows, condition, yes, no, out);
      return true;
    case 8:
      choose<uint64_t>(rows, condition, yes, no, out);
      return true;
    default:
      return false;
  }
}

bool moves_only(const Tensor& tensor) {
  return portable::is_arithmetic(tensor.scalar_type()) && tensor.scalar_type() != ScalarType::Bool;
}

}  // namespace

// where.self_out(Tensor condition, Tensor self, Tensor other, *, out)
void where_self_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor condition = args.tensor(0);
  const Tensor self = args.tensor(1);
  const Tensor other = args.tensor(2);
  const Tensor out = args.out(3);
  if (!args.ok()) return;
  const ScalarType type = out.scalar_type();
  portable::SizeArray sizes(condition.sizes());
  if (!moves_only(out) || self.scalar_type() != type || other.scalar_type() != type ||
      (condition.scalar_type() != ScalarType::Bool &&
       condition.scalar_type() != ScalarType::Byte) ||
      !portable::broadcast_sizes(&sizes, self.sizes()) ||
      !portable::broadcast_sizes(&sizes, other.sizes()) ||
      resize_tensor(out, sizes.span()) != Error::Ok) {
    return portable::where_self_out(context, raw);
  }
  Rows<4> rows(out);
  if (!rows.add(1, condition) || !rows.add(2, self) || !rows.add(3, other) || !rows.finish() ||
      !choose_by_size(rows, condition, self.const_data_ptr(), other.const_data_ptr(), out)) {
    portable::where_self_out(context, raw);
  }
}

// masked_fill.Scalar_out(Tensor self, Tensor mask, Scalar value, *, out)
void masked_fill_scalar_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const Tensor mask = args.tensor(1);
  const Scalar value = args.scalar(2);
  const Tensor out = args.out(3);
  if (!args.ok()) return;
  portable::SizeArray sizes(self.sizes());
  if (!moves_only(out) || self.scalar_type() != out.scalar_type() ||
      mask.scalar_type() != ScalarType::Bool || !portable::broadcast_sizes(&sizes, mask.sizes()) ||
      resize_tensor(out, sizes.span()) != Error::Ok) {
    return portable::masked_fill_scalar_out(context, raw);
  }
  uint64_t filler = 0;
  if (portable::is_floating(out.scalar_type())) {
    portable::storer<double>(out.scalar_type())(&filler, 0, value.to_double());
  } else {
    portable::storer<int64_t>(out.scalar_type())(&filler, 0, value.to_int());
  }
  Rows<4> rows(out);  // operand 2, the filler, stands still everywhere
  if (!rows.add(1, mask) || !rows.add(3, self) || !rows.finish() ||
      !choose_by_size(rows, mask, &filler, self.const_data_ptr(), out)) {
    portable::masked_fill_scalar_out(context, raw);
  }
}

}  // namespace petrel::runtime::optimized
