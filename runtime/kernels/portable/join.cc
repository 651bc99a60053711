// SPDX-License-Identifier: Apache-2.0
//
// Kernels that put tensors together, or one several times or the other way round.
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"

namespace petrel::runtime::portable {

// cat.out(Tensor[] tensors, int dim, *, out); 1-D tensors of no elements are skipped.
void cat_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Span<const Tensor> tensors = args.tensor_list(0);
  const int64_t dim = args.integer(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check(context, !tensors.empty(), "there is nothing to join")) return;
  const auto skipped = [](const Tensor& t) { return t.dim() == 1 && t.numel() == 0; };
  const Tensor* first = &tensors[0];
  for (const Tensor& t : tensors) {
    if (!skipped(t)) {
      first = &t;
      break;
    }
  }
  size_t d = 0;
  if (!check(context, first->dim() > 0, "scalars cannot be joined") ||
      !normalize_dim(context, dim, first->dim(), &d)) {
    return;
  }
  SizeArray sizes(first->sizes());
  int64_t total = 0;
  for (const Tensor& t : tensors) {
    if (!check_same_type(context, t, out)) return;
    if (skipped(t)) continue;
    if (!check_rank(context, t, first->dim())) return;
    for (size_t i = 0; i < sizes.rank; ++i) {
      if (!check(context, i == d || t.sizes()[i] == sizes[i], "sizes beside the dim differ")) {
        return;
      }
    }
    total += t.sizes()[d];  // at most 2^31 tensors of 2^31
  }
  if (!narrow_size(context, total, &sizes[d]) || !resize_out(context, out, sizes.span())) return;
  int64_t start = 0;
  for (const Tensor& t : tensors) {
    if (skipped(t)) continue;
    copy_view(t, View(t), out, View(out).part(d, start, t.sizes()[d]));
    start += t.sizes()[d];
  }
}

// stack.out(Tensor[] tensors, int dim, *, out)
void stack_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Span<const Tensor> tensors = args.tensor_list(0);
  const int64_t dim = args.integer(1);
  const Tensor out = args.out(2);
  size_t d = 0;
  if (!args.ok() || !check(context, !tensors.empty(), "there is nothing to stack") ||
      !normalize_dim(context, dim, tensors[0].dim() + 1, &d) ||
      !check(context, tensors[0].sizes().size() < kTensorDimensionLimit, "rank is above 16")) {
    return;
  }
  SizeArray sizes;
  for (size_t i = 0; i <= tensors[0].sizes().size(); ++i) {
    sizes[sizes.rank++] =
        i == d ? static_cast<SizesType>(tensors.size()) : tensors[0].sizes()[i < d ? i : i - 1];
  }
  for (const Tensor& t : tensors) {
    if (!check_same_type(context, t, out) ||
        !check(context, equal(t.sizes(), tensors[0].sizes()), "sizes differ")) {
      return;
    }
  }
  if (!resize_out(context, out, sizes.span())) return;
  for (size_t n = 0; n < tensors.size(); ++n) {
    copy_view(tensors[n], View(tensors[n]), out, View(out).at(d, static_cast<int64_t>(n)));
  }
}

// repeat.out(Tensor self, SymInt[] repeats, *, out)
void repeat_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> repeats = args.int_list(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_same_type(context, self, out) ||
      !check(context, repeats.size() <= kTensorDimensionLimit, "rank is above 16") ||
      !check(context, repeats.size() >= self.sizes().size(), "a repetition is missing")) {
    return;
  }
  const size_t rank = repeats.size();
  const size_t shift = rank - self.sizes().size();
  SizeArray sizes, from;
  sizes.rank = from.rank = rank;
  for (size_t d = 0; d < rank; ++d) {
    from[d] = d < shift ? 1 : self.sizes()[d - shift];
    int64_t size = 0;
    if (!check(context, repeats[d] >= 0 && checked_mul(repeats[d], int64_t{from[d]}, &size),
               "a repetition is negative or too large") ||
        !narrow_size(context, size, &sizes[d])) {
      return;
    }
  }
  if (!resize_out(context, out, sizes.span())) return;
  // One copy per tile; `tile` counts through the repetitions.
  int64_t tile[kTensorDimensionLimit] = {};
  while (true) {
    View target(out);
    for (size_t d = 0; d < rank; ++d) {
      target.offset += tile[d] * from[d] * target.strides[d];
      target.sizes[d] = from[d];
    }
    copy_view(self, View(self), out, target);
    size_t d = rank;
    while (d > 0 && ++tile[d - 1] == repeats[d - 1]) tile[--d] = 0;
    if (d == 0) return;
  }
}

// flip.out(Tensor self, int[] dims, *, out)
void flip_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> dims = args.int_list(1);
  const Tensor out = args.out(2);
  if (!args.ok()) return;
  View view(self);
  bool flipped[kTensorDimensionLimit] = {};
  for (const int64_t dim : dims) {
    size_t d = 0;
    if (!normalize_dim(context, dim, self.dim(), &d) ||
        !check(context, !flipped[d], "a dim is named twice")) {
      return;
    }
    flipped[d] = true;
    if (self.dim() == 0 || self.sizes()[d] == 0) continue;
    view.offset += (self.sizes()[d] - 1) * view.strides[d];
    view.strides[d] = -view.strides[d];
  }
  copy_all(context, self, view, out);
}

// pixel_shuffle.out(Tensor self, int upscale_factor, *, out):
// [N, C r r, H, W] -> [N, C, H r, W r]
void pixel_shuffle_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const int64_t r = args.integer(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_same_type(context, self, out) || !check_rank(context, self, 4) ||
      !check(context, r >= 1 && r <= 32767 && self.size(1) % (r * r) == 0,
             "channels are not a multiple of the squared factor")) {
    return;
  }
  SizeArray sizes(self.sizes());
  sizes[1] = static_cast<SizesType>(self.size(1) / (r * r));
  if (!narrow_size(context, self.size(2) * r, &sizes[2]) ||
      !narrow_size(context, self.size(3) * r, &sizes[3]) ||
      !resize_out(context, out, sizes.span())) {
    return;
  }
  for (int64_t i = 0; i < r; ++i) {
    for (int64_t j = 0; j < r; ++j) {
      View from(self);
      from.offset = (i * r + j) * from.strides[1];
      from.strides[1] *= r * r;
      from.sizes[1] = sizes[1];
      View to(out);
      to.offset = i * to.strides[2] + j * to.strides[3];
      to.sizes = from.sizes;
      to.strides[2] *= r;
      to.strides[3] *= r;
      copy_view(self, from, out, to);
    }
  }
}

}  // namespace petrel::runtime::portable
