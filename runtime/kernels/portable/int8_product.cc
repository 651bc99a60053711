// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices of levels (docs/int8.md): sums in int32 of
// (a - zero point of a) * (b - zero point of b), scaled and rounded once.
//
//   int8_linear.out(Tensor input, Tensor weight, Tensor? bias, Tensor multiplier, Tensor shift,
//     int input_zero_point, int zero_point, int least, int most, ScalarType dtype, *, out)
//   int8_matmul.out(Tensor self, Tensor other, int self_zero_point, int other_zero_point,
//     int multiplier, int shift, int zero_point, int least, int most, ScalarType dtype, *, out)
#include "runtime/kernels/portable/int8_levels.h"

namespace petrel::runtime::portable {

// Rows of `input` by rows of `weight`, int8 around 0, whose bias is int32 in steps of a product.
void int8_linear_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 11);
  const Tensor input = args.tensor(0);
  const Tensor weight = args.tensor(1);
  const std::optional<Tensor> bias = args.optional_tensor(2);
  const Tensor multipliers = args.tensor(3);
  const Tensor shifts = args.tensor(4);
  const int64_t input_zero_point = args.integer(5);
  const Tensor out = args.out(10);
  Int8Target target;
  Int8Scales scales;
  if (!args.ok() || !read_target(context, args, 6, out, &target) || !check_levels(context, input) ||
      !check_levels(context, weight) || !check_zero_point(context, input_zero_point) ||
      !check_rank(context, weight, 2) ||
      !check(context, input.dim() >= 1 && input.size(input.dim() - 1) == weight.size(1),
             "inner sizes of input and weight differ")) {
    return;
  }
  const int64_t depth = weight.size(1), columns = weight.size(0);
  SizeArray sizes(input.sizes());
  sizes[sizes.rank - 1] = weight.sizes()[0];
  if (!Int8Scales::read(context, multipliers, shifts, columns, &scales) ||
      !check_int8_bias(context, bias, columns) || !resize_out(context, out, sizes.span()) ||
      !check_contiguous(context, out) || !charge_product(context, out, input)) {
    return;
  }
  const auto rows = static_cast<int64_t>(product(input.sizes(), 0, sizes.rank - 1));
  const LevelReader a(input), b(weight);
  LevelWriter writer(out);
  for (int64_t j = 0; j < columns; ++j) {
    const int32_t shift = scales.shift(j);
    if (!check_shift(context, shift)) return;
    for (int64_t i = 0; i < rows; ++i) {
      Int8Sum sum(bias ? bias->const_data_ptr<int32_t>()[j] : 0);
      for (int64_t k = 0; k < depth; ++k) {
        sum.add(
            (a.at(static_cast<size_t>(i * depth + k)) - static_cast<int32_t>(input_zero_point)) *
            b.at(static_cast<size_t>(j * depth + k)));
      }
      writer.put(static_cast<size_t>(i * columns + j),
                 target.level(sum.value() * scales.multiplier(j), shift));
    }
  }
}

// [rows, depth] by [depth, columns], or batches of them.
void int8_matmul_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 11);
  const Tensor self = args.tensor(0);
  const Tensor other = args.tensor(1);
  const int64_t self_zero_point = args.integer(2);
  const int64_t other_zero_point = args.integer(3);
  const int64_t multiplier = args.integer(4);
  const int64_t shift = args.integer(5);
  const Tensor out = args.out(10);
  Int8Target target;
  if (!args.ok() || !read_target(context, args, 6, out, &target) || !check_levels(context, self) ||
      !check_levels(context, other) || !check_zero_point(context, self_zero_point) ||
      !check_zero_point(context, other_zero_point) || !check_multiplier(context, multiplier) ||
      !check_shift(context, shift) || !check_rank(context, other, self.dim()) ||
      !check(context, self.dim() == 2 || self.dim() == 3, "matrices must have rank 2 or 3") ||
      !check(context, self.dim() == 2 || self.size(0) == other.size(0), "batch sizes differ") ||
      !check(context, self.size(self.dim() - 1) == other.size(self.dim() - 2),
             "inner sizes of the matrices differ")) {
    return;
  }
  SizeArray sizes(self.sizes());
  sizes[sizes.rank - 1] = other.sizes()[sizes.rank - 1];
  if (!resize_out(context, out, sizes.span()) || !check_contiguous(context, out) ||
      !charge_product(context, out, self)) {
    return;
  }
  const int64_t rows = self.size(self.dim() - 2), depth = self.size(self.dim() - 1);
  const int64_t columns = other.size(other.dim() - 1);
  const int64_t batches = self.dim() == 3 ? self.size(0) : 1;
  const LevelReader a(self), b(other);
  LevelWriter writer(out);
  for (int64_t i = 0; i < batches * rows; ++i) {
    const int64_t matrix = i / rows * depth * columns;
    for (int64_t j = 0; j < columns; ++j) {
      Int8Sum sum(0);
      for (int64_t k = 0; k < depth; ++k) {
        sum.add((a.at(static_cast<size_t>(i * depth + k)) - static_cast<int32_t>(self_zero_point)) *
                (b.at(static_cast<size_t>(matrix + k * columns + j)) -
                 static_cast<int32_t>(other_zero_point)));
      }
      writer.put(static_cast<size_t>(i * columns + j),
                 target.level(sum.value() * multiplier, static_cast<int32_t>(shift)));
    }
  }
}

}  // namespace petrel::runtime::portable
