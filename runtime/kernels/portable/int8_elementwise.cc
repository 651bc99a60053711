// SPDX-License-Identifier: Apache-2.0
//
// Levels one by one (docs/int8.md). A function of one tensor is a table with an entry for
// each level, the least first; two tensors broadcast, and are scaled together and rounded
// once.
//
//   int8_table.out(Tensor input, Tensor table, *, out)
//   int8_add.out(Tensor self, Tensor other, int self_zero_point, int other_zero_point,
//     int self_multiplier, int other_multiplier, int shift, int zero_point, int least, int most,
//     ScalarType dtype, *, out)
//   int8_mul.out(Tensor self, Tensor other, int self_zero_point, int other_zero_point,
//     int multiplier, int shift, int zero_point, int least, int most, ScalarType dtype, *, out)
#include "runtime/kernels/portable/int8_levels.h"
#include "runtime/kernels/portable/loop_charge.h"

namespace petrel::runtime::portable {
namespace {

// out[i] = target.level(combined(x, y), shift) for x and y less their zero points.
template <typename Combined>
void combine(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
             const int64_t zero_points[2], int64_t shift, const Int8Target& target,
             const Tensor& out, Combined combined) {
  SizeArray sizes(self.sizes());
  if (!check_levels(context, self) || !check_levels(context, other) ||
      !check_zero_point(context, zero_points[0]) || !check_zero_point(context, zero_points[1]) ||
      !check_shift(context, shift) ||
      !check(context, broadcast_sizes(&sizes, other.sizes()), "sizes do not broadcast") ||
      !resize_out(context, out, sizes.span()) || !check_in_place(context, out, self) ||
      !check_in_place(context, out, other) || !charge_loop(context, sizes)) {
    return;
  }
  const LevelReader x(self), y(other);
  LevelWriter writer(out);
  StridedLoop<3> loop(out.sizes());
  loop.operand(0, out);
  loop.operand(1, self);
  loop.operand(2, other);
  loop.run([&](const int64_t* at) {
    const int64_t a = x.at(static_cast<size_t>(at[1])) - zero_points[0];
    const int64_t b = y.at(static_cast<size_t>(at[2])) - zero_points[1];
    writer.put(static_cast<size_t>(at[0]),
               target.level(combined(a, b), static_cast<int32_t>(shift)));
  });
}

}  // namespace

void int8_table_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor input = args.tensor(0);
  const Tensor table = args.tensor(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_levels(context, input) || !check_levels(context, table) ||
      !check(context, table.numel() == 256, "a table must have 256 entries") ||
      !check_same_type(context, table, out) || !resize_out(context, out, input.sizes()) ||
      !check_contiguous(context, out)) {
    return;
  }
  const LevelReader from(input), entries(table);
  LevelWriter writer(out);
  const int32_t least = input.scalar_type() == ScalarType::Char ? -128 : 0;
  for (size_t i = 0; i < input.numel(); ++i) {
    writer.put(i, entries.at(static_cast<size_t>(from.at(i) - least)));
  }
}

void int8_add_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 12);
  const Tensor self = args.tensor(0);
  const Tensor other = args.tensor(1);
  const int64_t zero_points[] = {args.integer(2), args.integer(3)};
  const int64_t multipliers[] = {args.integer(4), args.integer(5)};
  const int64_t shift = args.integer(6);
  const Tensor out = args.out(11);
  Int8Target target;
  if (!args.ok() || !read_target(context, args, 7, out, &target) ||
      !check_multiplier(context, multipliers[0]) || !check_multiplier(context, multipliers[1])) {
    return;
  }
  combine(context, self, other, zero_points, shift, target, out,
          [&](int64_t a, int64_t b) { return a * multipliers[0] + b * multipliers[1]; });
}

void int8_mul_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 11);
  const Tensor self = args.tensor(0);
  const Tensor other = args.tensor(1);
  const int64_t zero_points[] = {args.integer(2), args.integer(3)};
  const int64_t multiplier = args.integer(4);
  const int64_t shift = args.integer(5);
  const Tensor out = args.out(10);
  Int8Target target;
  if (!args.ok() || !read_target(context, args, 6, out, &target) ||
      !check_multiplier(context, multiplier)) {
    return;
  }
  combine(context, self, other, zero_points, shift, target, out,
          [&](int64_t a, int64_t b) { return a * b * multiplier; });
}

}  // namespace petrel::runtime::portable
