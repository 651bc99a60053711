// SPDX-License-Identifier: Apache-2.0
//
// Softmax of levels along one dim (docs/int8.md):
//
//   int8_softmax.out(Tensor input, int dim, Tensor table, int multiplier, int shift,
//     int zero_point, int least, int most, ScalarType dtype, *, out)
//
// table[d], int32, is the exponential of a level that is d below the largest. An output is
// table[d] * multiplier / 2^shift over the sum of the entries of all, rounded once.
#include "runtime/kernels/portable/int8_levels.h"
#include "runtime/micro/math/level_of_share.h"

namespace petrel::runtime::portable {

void int8_softmax_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 10);
  const Tensor input = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor table = args.tensor(2);
  const int64_t multiplier = args.integer(3);
  const int64_t shift = args.integer(4);
  const Tensor out = args.out(9);
  Int8Target target;
  size_t d = 0;
  if (!args.ok() || !read_target(context, args, 5, out, &target) || !check_levels(context, input) ||
      !check(context, input.dim() >= 1, "input must have a dim") ||
      !normalize_dim(context, dim, input.dim(), &d) ||
      !check(context, table.scalar_type() == ScalarType::Int && table.numel() == 256,
             "a table must have 256 entries of int32") ||
      !check_contiguous(context, table) || !check_multiplier(context, multiplier) ||
      !check_shift(context, shift) || !resize_out(context, out, input.sizes()) ||
      !check_contiguous(context, out)) {
    return;
  }
  const auto rank = static_cast<size_t>(input.dim());
  const auto count = static_cast<size_t>(input.sizes()[d]);
  const size_t inner = product(input.sizes(), d + 1, rank);
  const size_t rows = product(input.sizes(), 0, d) * inner;
  const int32_t* const entries = table.const_data_ptr<int32_t>();
  const int64_t most_sum = int64_t{1} << (kMostShift - shift);
  const LevelReader from(input);
  LevelWriter writer(out);
  for (size_t row = 0; row < rows && count > 0; ++row) {
    const size_t first = row / inner * count * inner + row % inner;
    int32_t largest = from.at(first);
    for (size_t i = 1; i < count; ++i) {
      const int32_t level = from.at(first + i * inner);
      largest = level > largest ? level : largest;
    }
    // In range whatever was written meanwhile.
    const auto entry_of = [&](size_t i) { return entries[(largest - from.at(i)) & 255]; };
    int64_t sum = 0;
    for (size_t i = 0; i < count; ++i) sum += entry_of(first + i * inner);
    if (!check(context, sum >= 1 && sum <= most_sum, "a sum of exponentials is out of range")) {
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      const int64_t entry = entry_of(first + i * inner);
      writer.put(first + i * inner,
                 petrel_level_of_share(entry * multiplier, sum << shift, target.zero_point,
                                       target.least, target.most));
    }
  }
}

}  // namespace petrel::runtime::portable
