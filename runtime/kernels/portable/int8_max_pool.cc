// SPDX-License-Identifier: Apache-2.0
//
// The largest level of each window of the last two dimensions (docs/int8.md), without the places
// that aten::max_pool2d_with_indices gives:
//
//   int8_max_pool.out(Tensor input, int[] rows, int[] columns, *, out)
//
// Each row of the output has three numbers of `rows`, each column three of `columns`: the first
// index of its window, the end, and the step from one index to the next.
#include "runtime/kernels/portable/int8_levels.h"

namespace petrel::runtime::portable {
namespace {

// How many elements the longest window has; -1 for windows that are none of a dim of `size`.
int64_t longest(KernelRuntimeContext& context, Span<const int64_t> windows, int64_t size) {
  int64_t most = 0;
  if (!check(context, windows.size() % 3 == 0 && windows.size() / 3 <= INT32_MAX,
             "windows must have three numbers each")) {
    return -1;
  }
  for (size_t i = 0; i < windows.size(); i += 3) {
    if (!check(context, windows[i] >= 0 && windows[i] < windows[i + 1] && windows[i + 1] <= size,
               "a window has no elements, or is not within the input") ||
        !check(context, windows[i + 2] >= 1 && windows[i + 2] <= INT32_MAX,
               "a step is not in [1, 2^31)")) {
      return -1;
    }
    most = windows[i + 1] - windows[i] > most ? windows[i + 1] - windows[i] : most;
  }
  return most;
}

}  // namespace

void int8_max_pool_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor input = args.tensor(0);
  const Span<const int64_t> rows = args.int_list(1);
  const Span<const int64_t> columns = args.int_list(2);
  const Tensor out = args.out(3);
  if (!args.ok() || !check_levels(context, input) || !check_same_type(context, input, out) ||
      !check(context, input.dim() >= 2, "input must have rank 2 or more")) {
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
  const LevelReader from(input);
  LevelWriter writer(out);
  const auto planes = static_cast<int64_t>(product(input.sizes(), 0, sizes.rank - 2));
  size_t i = 0;
  for (int64_t plane = 0; plane < planes; ++plane) {
    for (size_t p = 0; p < rows.size(); p += 3) {
      for (size_t q = 0; q < columns.size(); q += 3) {
        int32_t best = -128;
        for (int64_t h = rows[p]; h < rows[p + 1]; h += rows[p + 2]) {
          for (int64_t w = columns[q]; w < columns[q + 1]; w += columns[q + 2]) {
            const int32_t level = from.at(static_cast<size_t>((plane * height + h) * width + w));
            best = level > best ? level : best;
          }
        }
        writer.put(i++, best);
      }
    }
  }
}

}  // namespace petrel::runtime::portable
