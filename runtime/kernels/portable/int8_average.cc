// SPDX-License-Identifier: Apache-2.0
//
// Averages of levels over windows of the last two dimensions (docs/int8.md):
//
//   int8_average.out(Tensor input, int[] rows, int[] columns, int input_zero_point,
//     int multiplier, int shift, int zero_point, int least, int most, ScalarType dtype, *, out)
//
// Each row of the output has three numbers of `rows`, each column three of `columns`: the first
// index of its window, the end, and a divisor. An output is the sum over its window divided by
// the product of both divisors.
//
//   rows [0, 2, 2, 2, 4, 2]   windows of two rows, side by side: out has 2 rows
//   rows [0, H, H]            one window with all rows
//   rows [0, -1, -1]          the same, as many as there are
#include "runtime/kernels/portable/int8_levels.h"
#include "runtime/micro/math/level_of_share.h"

namespace petrel::runtime::portable {
namespace {

// Of a window: -1 is the size of its dim.
int64_t known(int64_t number, int64_t size) { return number == -1 ? size : number; }

// How many elements the longest window has; -1 for windows that are none of a dim of `size`.
int64_t longest(KernelRuntimeContext& context, Span<const int64_t> windows, int64_t size) {
  int64_t most = 0;
  if (!check(context, windows.size() % 3 == 0 && windows.size() / 3 <= INT32_MAX,
             "windows must have three numbers each")) {
    return -1;
  }
  for (size_t i = 0; i < windows.size(); i += 3) {
    const int64_t end = known(windows[i + 1], size), divisor = known(windows[i + 2], size);
    if (!check(context, windows[i] >= 0 && windows[i] <= end && end <= size,
               "a window is not within the input") ||
        !check(context, divisor >= 1 && divisor <= INT32_MAX, "a divisor is not in [1, 2^31)")) {
      return -1;
    }
    most = end - windows[i] > most ? end - windows[i] : most;
  }
  return most;
}

struct Averages {
  LevelReader input;
  int64_t height, width;
  int32_t zero_point;

  int64_t sum(int64_t plane, const int64_t* row, const int64_t* column) const {
    Int8Sum sum(0);
    const int64_t bottom = known(row[1], height), right = known(column[1], width);
    for (int64_t h = row[0]; h < bottom; ++h) {
      for (int64_t w = column[0]; w < right; ++w) {
        sum.add(input.at(static_cast<size_t>((plane * height + h) * width + w)) - zero_point);
      }
    }
    return sum.value();
  }
};

}  // namespace

void int8_average_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 11);
  const Tensor input = args.tensor(0);
  const Span<const int64_t> rows = args.int_list(1);
  const Span<const int64_t> columns = args.int_list(2);
  const int64_t input_zero_point = args.integer(3);
  const int64_t multiplier = args.integer(4);
  const int64_t shift = args.integer(5);
  const Tensor out = args.out(10);
  Int8Target target;
  if (!args.ok() || !read_target(context, args, 6, out, &target) || !check_levels(context, input) ||
      !check(context, input.dim() >= 2, "input must have rank 2 or more") ||
      !check_zero_point(context, input_zero_point) || !check_multiplier(context, multiplier) ||
      !check_shift(context, shift)) {
    return;
  }
  SizeArray sizes(input.sizes());
  const int64_t height = sizes[sizes.rank - 2], width = sizes[sizes.rank - 1];
  const int64_t tall = longest(context, rows, height);
  const int64_t wide = tall < 0 ? -1 : longest(context, columns, width);
  if (wide < 0) return;
  sizes[sizes.rank - 2] = static_cast<SizesType>(rows.size() / 3);
  sizes[sizes.rank - 1] = static_cast<SizesType>(columns.size() / 3);
  if (!resize_out(context, out, sizes.span()) || !check_contiguous(context, out) ||
      !charge_each(context, out, tall * wide)) {
    return;
  }
  const Averages averages = {LevelReader(input), height, width,
                             static_cast<int32_t>(input_zero_point)};
  const int64_t least_unit = int64_t{1} << (kMostShift - shift);
  LevelWriter writer(out);
  const auto planes = static_cast<int64_t>(product(input.sizes(), 0, sizes.rank - 2));
  size_t i = 0;
  for (int64_t plane = 0; plane < planes; ++plane) {
    for (size_t p = 0; p < rows.size(); p += 3) {
      for (size_t q = 0; q < columns.size(); q += 3) {
        const int64_t divisor = known(rows[p + 2], height) * known(columns[q + 2], width);
        if (!check(context, divisor <= least_unit, "a divisor is too large for the shift")) return;
        const int64_t sum = averages.sum(plane, rows.data() + p, columns.data() + q);
        writer.put(i++, petrel_level_of_share(sum * multiplier, divisor << shift, target.zero_point,
                                              target.least, target.most));
      }
    }
  }
}

}  // namespace petrel::runtime::portable
