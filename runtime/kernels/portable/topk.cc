// SPDX-License-Identifier: Apache-2.0
//
// topk.values(Tensor self, SymInt k, int dim, bool largest, bool sorted, *,
//   values, indices): the k largest or smallest along one dim, in order. NaN is
// larger than all; of equal elements the first comes first.
//
// The places of those found are kept in the output, so nothing else may lie there.
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"

namespace petrel::runtime::portable {
namespace {

// Integers are compared as integers: not all of them are doubles.
bool above(double a, double b) { return a != a ? b == b : a > b; }
bool above(int64_t a, int64_t b) { return a > b; }

// A heap in place, `step` apart: nothing comes after the entry at its top.
//
//        0         entry n comes after 2n+1 and 2n+2,
//      1   2       or is what they are
//     3 4 5 6
template <typename Before>
void sift_down(int64_t* heap, int64_t step, int64_t count, int64_t n, const Before& before) {
  const int64_t entry = heap[n * step];
  for (int64_t child; (child = 2 * n + 1) < count; n = child) {
    if (child + 1 < count && before(heap[child * step], heap[(child + 1) * step])) ++child;
    if (!before(entry, heap[child * step])) break;
    heap[n * step] = heap[child * step];
  }
  heap[n * step] = entry;
}

// The first `k` of the elements [0, size) in order. The places of those kept are
// a heap in the output itself; then its top goes to the end, again and again.
template <typename Before>
void keep_first(int64_t* places, int64_t step, int64_t k, int64_t size, const Before& before) {
  if (k < 1) return;
  for (int64_t i = 0; i < k; ++i) places[i * step] = i;
  for (int64_t n = k / 2 - 1; n >= 0; --n) sift_down(places, step, k, n, before);
  for (int64_t i = k; i < size; ++i) {
    if (!before(i, places[0])) continue;
    places[0] = i;
    sift_down(places, step, k, 0, before);
  }
  for (int64_t end = k - 1; end > 0; --end) {
    const int64_t last = places[0];
    places[0] = places[end * step];
    places[end * step] = last;
    sift_down(places, step, end, 0, before);
  }
}

// What is asked for along dim d.
struct Selection {
  size_t d;
  int64_t k;
  bool largest;
};

// C: what elements are compared as.
template <typename C>
void select_lines(const Selection& wanted, const Tensor& self, const Tensor& values,
                  const Tensor& indices) {
  const auto [d, k, largest] = wanted;
  const auto load = loader<C>(self.scalar_type());
  const auto store = storer<C>(values.scalar_type());
  const int64_t size = self.dim() == 0 ? 1 : self.sizes()[d];
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
  loop.run([&, k = k, largest = largest](const int64_t* at) {
    const auto element = [&](int64_t i) {
      return load(self.const_data_ptr(), static_cast<size_t>(at[0] + i * step));
    };
    // Whether element a comes before element b: by value, then by place.
    const auto comes_before = [&](int64_t a, int64_t b) {
      const C x = element(a), y = element(b);
      if (largest ? above(x, y) : above(y, x)) return true;
      if (largest ? above(y, x) : above(x, y)) return false;
      return a < b;
    };
    int64_t* places = index_out + at[2];
    keep_first(places, index_step, k, size, comes_before);
    for (int64_t n = 0; n < k; ++n) {
      store(values.mutable_data_ptr(), static_cast<size_t>(at[1] + n * value_step),
            element(places[n * index_step]));
    }
  });
}

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
  if (!resize_one_out(context, values, sizes.span()) ||
      !resize_out(context, indices, sizes.span()) ||
      !check_apart(context, {self, values, indices})) {
    return;
  }
  if (!charge_order(context, self, k)) return;
  const Selection wanted = {d, k, largest};
  if (is_floating(self.scalar_type())) {
    select_lines<double>(wanted, self, values, indices);
  } else {
    select_lines<int64_t>(wanted, self, values, indices);
  }
}

}  // namespace petrel::runtime::portable
