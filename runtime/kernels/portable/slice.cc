// SPDX-License-Identifier: Apache-2.0
//
// Kernels that give a part of a tensor, or put one back.
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"

namespace petrel::runtime::portable {
namespace {

// Start and length of self[start:end] along a dimension of `size`.
struct Range {
  int64_t start, length;
};
Range clamp_range(std::optional<int64_t> start, std::optional<int64_t> end, int64_t step,
                  int64_t size) {
  const auto place = [size](int64_t v) {
    if (v < 0) v += size;  // cannot overflow: v is negative, size is not
    return v < 0 ? 0 : v > size ? size : v;
  };
  const int64_t from = place(start.value_or(0));
  const int64_t to = place(end.value_or(size));
  return {from, to <= from ? 0 : (to - from - 1) / step + 1};
}

}  // namespace

// slice_copy.Tensor_out(Tensor self, int dim, SymInt? start, SymInt? end, SymInt step, *, out)
void slice_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 6);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const std::optional<int64_t> start = args.optional_integer(2);
  const std::optional<int64_t> end = args.optional_integer(3);
  const int64_t step = args.integer(4);
  const Tensor out = args.out(5);
  size_t d = 0;
  if (!args.ok() || !check(context, self.dim() > 0, "a scalar has no slices") ||
      !normalize_dim(context, dim, self.dim(), &d) ||
      !check(context, step >= 1 && step <= INT32_MAX, "step must be in [1, 2^31)")) {
    return;
  }
  const Range range = clamp_range(start, end, step, self.sizes()[d]);
  copy_all(context, self, View(self).part(d, range.start, range.length, step), out);
}

// narrow_copy.out(Tensor self, int dim, SymInt start, SymInt length, *, out)
void narrow_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  int64_t start = args.integer(2);
  const int64_t length = args.integer(3);
  const Tensor out = args.out(4);
  size_t d = 0;
  if (!args.ok() || !check(context, self.dim() > 0, "a scalar has no slices") ||
      !normalize_dim(context, dim, self.dim(), &d)) {
    return;
  }
  const int64_t size = self.sizes()[d];
  if (start < 0 && start >= -size) start += size;
  if (!check(context, start >= 0 && start <= size && length >= 0 && length <= size - start,
             "the range is not inside the dim")) {
    return;
  }
  copy_all(context, self, View(self).part(d, start, length), out);
}

// select_copy.int_out(Tensor self, int dim, SymInt index, *, out)
void select_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  int64_t index = args.integer(2);
  const Tensor out = args.out(3);
  size_t d = 0;
  if (!args.ok() || !check(context, self.dim() > 0, "a scalar has no elements to select") ||
      !normalize_dim(context, dim, self.dim(), &d)) {
    return;
  }
  const int64_t size = self.sizes()[d];
  if (!check(context, index >= -size && index < size, "index is outside the dim")) return;
  if (index < 0) index += size;
  copy_all(context, self, View(self).at(d, index), out);
}

// slice_scatter.out(Tensor self, Tensor src, int dim, SymInt? start, SymInt? end,
//   SymInt step, *, out)
void slice_scatter_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 7);
  const Tensor self = args.tensor(0);
  const Tensor source = args.tensor(1);
  const int64_t dim = args.integer(2);
  const std::optional<int64_t> start = args.optional_integer(3);
  const std::optional<int64_t> end = args.optional_integer(4);
  const int64_t step = args.integer(5);
  const Tensor out = args.out(6);
  size_t d = 0;
  if (!args.ok() || !check(context, self.dim() > 0, "a scalar has no slices") ||
      !normalize_dim(context, dim, self.dim(), &d) ||
      !check(context, step >= 1 && step <= INT32_MAX, "step must be in [1, 2^31)") ||
      !check_same_type(context, self, source)) {
    return;
  }
  const Range range = clamp_range(start, end, step, self.sizes()[d]);
  if (!copy_all(context, self, View(self), out)) return;
  const View target = View(out).part(d, range.start, range.length, step);
  if (check(context, equal(source.sizes(), target.sizes.span()),
            "the source does not have the sizes of the slice")) {
    copy_view(source, View(source), out, target);
  }
}

// select_scatter.out(Tensor self, Tensor src, int dim, SymInt index, *, out)
void select_scatter_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const Tensor source = args.tensor(1);
  const int64_t dim = args.integer(2);
  int64_t index = args.integer(3);
  const Tensor out = args.out(4);
  size_t d = 0;
  if (!args.ok() || !check(context, self.dim() > 0, "a scalar has no elements to select") ||
      !normalize_dim(context, dim, self.dim(), &d) || !check_same_type(context, self, source) ||
      !check(context, source.dim() == self.dim() - 1, "the source has the wrong rank")) {
    return;
  }
  const int64_t size = self.sizes()[d];
  if (!check(context, index >= -size && index < size, "index is outside the dim") ||
      !copy_all(context, self, View(self), out)) {
    return;
  }
  if (index < 0) index += size;
  const View target = View(out).part(d, index, 1);
  View from;
  from.sizes.rank = target.sizes.rank;
  for (size_t i = 0, j = 0; i < from.sizes.rank; ++i) {
    from.sizes[i] = i == d ? 1 : source.sizes()[j];
    from.strides[i] = i == d ? 0 : source.strides()[j];
    if (i != d) ++j;
  }
  if (check(context, equal(from.sizes.span(), target.sizes.span()),
            "the source does not have the sizes of the selection")) {
    copy_view(source, from, out, target);
  }
}

// split_with_sizes_copy.out(Tensor self, SymInt[] split_sizes, int dim, *, Tensor[] out)
void split_with_sizes_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> lengths = args.int_list(1);
  const int64_t dim = args.integer(2);
  const Span<const Tensor> out = args.out_list(3);
  size_t d = 0;
  if (!args.ok() || !check(context, self.dim() > 0, "a scalar cannot be split") ||
      !normalize_dim(context, dim, self.dim(), &d) ||
      !check(context, lengths.size() == out.size(), "the number of outputs is wrong")) {
    return;
  }
  int64_t start = 0;
  for (size_t n = 0; n < out.size(); ++n) {
    if (!check(context, lengths[n] >= 0 && lengths[n] <= self.sizes()[d] - start,
               "the parts are larger than the dim") ||
        !copy_all(context, self, View(self).part(d, start, lengths[n]), out[n])) {
      return;
    }
    start += lengths[n];
  }
}

// split_copy.Tensor_out(Tensor self, SymInt split_size, int dim, *, Tensor[] out)
void split_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const int64_t length = args.integer(1);
  const int64_t dim = args.integer(2);
  const Span<const Tensor> out = args.out_list(3);
  size_t d = 0;
  if (!args.ok() || !check(context, self.dim() > 0, "a scalar cannot be split") ||
      !normalize_dim(context, dim, self.dim(), &d) ||
      !check(context, length >= 1, "split_size must be at least 1")) {
    return;
  }
  int64_t start = 0;
  for (const Tensor& piece : out) {
    const int64_t rest = self.sizes()[d] - start;
    const int64_t now = length < rest ? length : rest;
    if (!copy_all(context, self, View(self).part(d, start, now), piece)) return;
    start += now;
  }
  check(context, start == self.sizes()[d], "the number of outputs is wrong");
}

// unbind_copy.int_out(Tensor self, int dim, *, Tensor[] out)
void unbind_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Span<const Tensor> out = args.out_list(2);
  size_t d = 0;
  if (!args.ok() || !check(context, self.dim() > 0, "a scalar cannot be split") ||
      !normalize_dim(context, dim, self.dim(), &d) ||
      !check(context, static_cast<int64_t>(out.size()) == self.sizes()[d],
             "the number of outputs is wrong")) {
    return;
  }
  for (size_t n = 0; n < out.size(); ++n) {
    if (!copy_all(context, self, View(self).at(d, static_cast<int64_t>(n)), out[n])) return;
  }
}

}  // namespace petrel::runtime::portable
