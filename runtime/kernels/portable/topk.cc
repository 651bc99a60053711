// SPDX-License-Identifier: Apache-2.0
//
// topk.values(Tensor self, SymInt k, int dim, bool largest, bool sorted, *,
//   values, indices): the k largest or smallest along one dim, in order. NaN is
// larger than all; of equal elements the first comes first.
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"

namespace petrel::runtime::portable {
namespace {

bool above(double a, double b) { return a != a ? b == b : a > b; }

}  // namespace

void topk_values(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 7);
  const Tensor self = args.tensor(0);
  const int64_t k = args.integer(1);
  const int64_t dim = args.integer(2);
  const bool largest = args.boolean(3);
  const Tensor values = args.out(5);
  const Tensor indices = args.out(6);
  size_t d = 0;
  if (!args.ok() || !check_arithmetic(context, self) || !check_same_type(context, self, values) ||
      !check(context, indices.scalar_type() == ScalarType::Long, "indices must be int64") ||
      !normalize_dim(context, dim, self.dim(), &d)) {
    return;
  }
  const int64_t size = self.dim() == 0 ? 1 : self.sizes()[d];
  if (!check(context, k >= 0 && k <= size, "k is not in [0, size of the dim]")) return;
  SizeArray sizes(self.sizes());
  if (sizes.rank > 0) sizes[d] = static_cast<SizesType>(k);
  if (!resize_out(context, values, sizes.span()) || !resize_out(context, indices, sizes.span())) {
    return;
  }
  const auto load = loader<double>(self.scalar_type());
  const auto store = storer<double>(values.scalar_type());
  const int64_t step = self.dim() == 0 ? 0 : self.strides()[d];
  const int64_t value_step = self.dim() == 0 ? 0 : values.strides()[d];
  const int64_t index_step = self.dim() == 0 ? 0 : indices.strides()[d];
  SizeArray lines(self.sizes());
  if (lines.rank > 0) lines[d] = 1;
  StridedLoop<3> loop(lines.span());
  loop.strides_of(0, lines.span(), self.strides());
  loop.strides_of(1, lines.span(), values.strides());
  loop.strides_of(2, lines.span(), indices.strides());
  int64_t* index_out = indices.mutable_data_ptr<int64_t>();
  loop.run([&](const int64_t* at) {
    const auto element = [&](int64_t i) {
      return load(self.const_data_ptr(), static_cast<size_t>(at[0] + i * step));
    };
    // Each round finds the best element that comes after the one before it, in
    // the order of value and then of place.
    double last = 0;
    int64_t last_at = -1;
    for (int64_t n = 0; n < k; ++n) {
      int64_t best_at = -1;
      double best = 0;
      for (int64_t i = 0; i < size; ++i) {
        const double x = element(i);
        if (n > 0) {
          const bool better = largest ? above(x, last) : above(last, x);
          const bool worse = largest ? above(last, x) : above(x, last);
          if (better || (!worse && i <= last_at)) continue;
        }
        if (best_at < 0 || (largest ? above(x, best) : above(best, x))) {
          best = x;
          best_at = i;
        }
      }
      store(values.mutable_data_ptr(), static_cast<size_t>(at[1] + n * value_step), best);
      index_out[at[2] + n * index_step] = best_at;
      last = best;
      last_at = best_at;
    }
  });
}

}  // namespace petrel::runtime::portable
