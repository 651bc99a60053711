// SPDX-License-Identifier: Apache-2.0
//
// Kernels that give the same elements in another arrangement: reshapes,
// permutations, slices, joins and repetitions.
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"

namespace petrel::runtime::portable {
namespace {

// Elements in logical order into a tensor of other sizes.
bool copy_in_order(KernelRuntimeContext& context, const Tensor& self, const Tensor& out) {
  if (!check(context, self.numel() == out.numel(), "the number of elements differs")) {
    return false;
  }
  if (is_contiguous(out)) {
    int64_t next = 0;
    const size_t size = out.element_size();
    const char* from = static_cast<const char*>(self.const_data_ptr());
    char* to = static_cast<char*>(out.mutable_data_ptr());
    StridedLoop<1> loop(self.sizes());
    loop.operand(0, self);
    loop.run([&](const int64_t* at) {
      std::memmove(to + next++ * static_cast<int64_t>(size),
                   from + at[0] * static_cast<int64_t>(size), size);
    });
    return true;
  }
  if (!check(context, is_contiguous(self), "input and output are both not contiguous")) {
    return false;
  }
  int64_t next = 0;
  const size_t size = out.element_size();
  const char* from = static_cast<const char*>(self.const_data_ptr());
  char* to = static_cast<char*>(out.mutable_data_ptr());
  StridedLoop<1> loop(out.sizes());
  loop.operand(0, out);
  loop.run([&](const int64_t* at) {
    std::memmove(to + at[0] * static_cast<int64_t>(size),
                 from + next++ * static_cast<int64_t>(size), size);
  });
  return true;
}

bool narrow_size(KernelRuntimeContext& context, int64_t size, SizesType* out) {
  return check(context, size >= 0 && size <= INT32_MAX && (*out = static_cast<SizesType>(size), true),
               "a size is not in [0, 2^31)");
}

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

// self[:, start : start + length * step : step] along dim d.
View part(const Tensor& self, size_t d, int64_t start, int64_t length, int64_t step) {
  View view(self);
  view.offset += start * view.strides[d];
  view.strides[d] *= step;
  view.sizes[d] = static_cast<SizesType>(length);
  return view;
}

bool copy_all(KernelRuntimeContext& context, const Tensor& self, const View& from,
              const Tensor& out) {
  if (!check_same_type(context, self, out) || !resize_out(context, out, from.sizes.span())) {
    return false;
  }
  copy_view(self, from, out, View(out));
  return true;
}

}  // namespace

// view_copy.out(Tensor self, SymInt[] size, *, out)
void view_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> size = args.int_list(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_same_type(context, self, out) ||
      !check(context, size.size() <= kTensorDimensionLimit, "rank is above 16")) {
    return;
  }
  SizeArray sizes;
  sizes.rank = size.size();
  size_t known = 1;
  int inferred = -1;
  for (size_t d = 0; d < size.size(); ++d) {
    if (size[d] == -1) {
      if (!check(context, inferred < 0, "more than one size is -1")) return;
      inferred = static_cast<int>(d);
      continue;
    }
    if (!narrow_size(context, size[d], &sizes[d]) ||
        !check(context, checked_mul(known, static_cast<size_t>(sizes[d]), &known),
               "the sizes overflow")) {
      return;
    }
  }
  if (inferred >= 0) {
    if (!check(context, known != 0 && self.numel() % known == 0,
               "the size -1 cannot be inferred") ||
        !narrow_size(context, static_cast<int64_t>(self.numel() / known),
                     &sizes[static_cast<size_t>(inferred)])) {
      return;
    }
  }
  if (!resize_out(context, out, sizes.span())) return;
  copy_in_order(context, self, out);
}

// clone.out, _clone_dim_order.out, _to_dim_order_copy.out, _to_copy.out, copy.out:
// same sizes, perhaps another type or order.
namespace {

void convert(KernelRuntimeContext& context, const Tensor& self, const Tensor& out) {
  if (!resize_out(context, out, self.sizes())) return;
  if (self.scalar_type() == out.scalar_type()) {
    copy_view(self, View(self), out, View(out));
    return;
  }
  if (!check_arithmetic(context, self) || !check_arithmetic(context, out)) return;
  StridedLoop<2> loop(out.sizes());
  loop.operand(0, out);
  loop.operand(1, self);
  const auto run = [&](auto zero) {
    using C = decltype(zero);
    const auto load = loader<C>(self.scalar_type());
    const auto store = storer<C>(out.scalar_type());
    loop.run([&](const int64_t* at) {
      store(out.mutable_data_ptr(), static_cast<size_t>(at[0]),
            load(self.const_data_ptr(), static_cast<size_t>(at[1])));
    });
  };
  if (is_floating(self.scalar_type())) {
    run(double{0});
  } else {
    run(int64_t{0});
  }
}

void convert_args(KernelRuntimeContext& context, Span<EValue*> raw, size_t count) {
  KernelArgs args(context, raw, count);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(count - 1);
  if (args.ok()) convert(context, self, out);
}

}  // namespace

// alias_copy.out, detach_copy.out, lift_fresh_copy.out(Tensor self, *, out)
void identity_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  convert_args(context, raw, 2);
}
// clone.out(Tensor self, *, MemoryFormat? memory_format, out)
void clone_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  convert_args(context, raw, 3);
}
// _clone_dim_order.out(Tensor self, *, bool non_blocking, int[]? dim_order, out)
// _to_copy.out and _to_dim_order_copy.out with the same shape of arguments
void to_order_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  convert_args(context, raw, 4);
}

// copy_(Tensor(a!) self, Tensor src, bool non_blocking) -> Tensor(a!)
void copy_in_place(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.out(0);
  const Tensor source = args.tensor(1);
  if (!args.ok() || !check(context, broadcasts_to(source.sizes(), self.sizes()),
                           "the source does not broadcast to the target")) {
    return;
  }
  if (source.scalar_type() == self.scalar_type()) {
    copy_view(source, View(source), self, View(self));
  } else if (check(context, equal(source.sizes(), self.sizes()),
                   "a conversion needs equal sizes")) {
    convert(context, source, self);
  }
}

// copy.out(Tensor self, Tensor src, bool non_blocking, *, out)
void copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const Tensor source = args.tensor(1);
  const Tensor out = args.out(3);
  if (!args.ok() || !check_same_type(context, source, out) ||
      !check(context, broadcasts_to(source.sizes(), self.sizes()),
             "the source does not broadcast to the target") ||
      !resize_out(context, out, self.sizes())) {
    return;
  }
  copy_view(source, View(source), out, View(out));
}

// permute_copy.out(Tensor self, int[] dims, *, out)
void permute_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> dims = args.int_list(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check(context, static_cast<ssize_t>(dims.size()) == self.dim(),
                           "the permutation has the wrong length")) {
    return;
  }
  View view;
  view.sizes.rank = dims.size();
  bool seen[kTensorDimensionLimit] = {};
  for (size_t i = 0; i < dims.size(); ++i) {
    size_t d = 0;
    if (!normalize_dim(context, dims[i], self.dim(), &d) ||
        !check(context, !seen[d], "a dim is named twice")) {
      return;
    }
    seen[d] = true;
    view.sizes[i] = self.sizes()[d];
    view.strides[i] = self.strides()[d];
  }
  copy_all(context, self, view, out);
}

namespace {

void swap_dims(KernelRuntimeContext& context, const Tensor& self, size_t a, size_t b,
               const Tensor& out) {
  View view(self);
  std::swap(view.sizes[a], view.sizes[b]);
  std::swap(view.strides[a], view.strides[b]);
  copy_all(context, self, view, out);
}

}  // namespace

// transpose_copy.int_out(Tensor self, int dim0, int dim1, *, out)
void transpose_copy_int_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const int64_t dim0 = args.integer(1);
  const int64_t dim1 = args.integer(2);
  const Tensor out = args.out(3);
  size_t a = 0, b = 0;
  if (!args.ok() || !normalize_dim(context, dim0, self.dim(), &a) ||
      !normalize_dim(context, dim1, self.dim(), &b)) {
    return;
  }
  swap_dims(context, self, a, b, out);
}

// t_copy.out(Tensor self, *, out)
void t_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  if (!args.ok() || !check(context, self.dim() <= 2, "rank is above 2")) return;
  swap_dims(context, self, 0, self.dim() == 2 ? 1 : 0, out);
}

// expand_copy.out(Tensor self, SymInt[] size, *, bool implicit, out): -1 keeps.
void expand_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> size = args.int_list(1);
  const Tensor out = args.out(3);
  if (!args.ok() || !check_same_type(context, self, out) ||
      !check(context, size.size() <= kTensorDimensionLimit, "rank is above 16") ||
      !check(context, size.size() >= self.sizes().size(), "expand cannot drop dims")) {
    return;
  }
  SizeArray sizes;
  sizes.rank = size.size();
  const size_t shift = size.size() - self.sizes().size();
  for (size_t d = 0; d < size.size(); ++d) {
    const int64_t wanted = size[d] == -1 && d >= shift ? self.sizes()[d - shift] : size[d];
    if (!narrow_size(context, wanted, &sizes[d])) return;
  }
  if (!check(context, broadcasts_to(self.sizes(), sizes.span()), "the sizes do not broadcast") ||
      !resize_out(context, out, sizes.span())) {
    return;
  }
  copy_view(self, View(self), out, View(out));
}

namespace {

// Reshapes that only add or drop dimensions of size 1.
void reshape_to(KernelRuntimeContext& context, const Tensor& self, const SizeArray& sizes,
                const Tensor& out) {
  if (check_same_type(context, self, out) && resize_out(context, out, sizes.span())) {
    copy_in_order(context, self, out);
  }
}

void squeeze(KernelRuntimeContext& context, const Tensor& self, Span<const int64_t> dims,
             const Tensor& out) {
  bool dropped[kTensorDimensionLimit] = {};
  for (const int64_t dim : dims) {
    size_t d = 0;
    if (!normalize_dim(context, dim, self.dim(), &d)) return;
    dropped[d] = true;
  }
  SizeArray sizes;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (!dropped[d] || self.sizes()[d] != 1) sizes[sizes.rank++] = self.sizes()[d];
  }
  reshape_to(context, self, sizes, out);
}

}  // namespace

// squeeze_copy.dim_out(Tensor self, int dim, *, out)
void squeeze_copy_dim_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor out = args.out(2);
  if (args.ok()) squeeze(context, self, Span<const int64_t>(&dim, 1), out);
}

// squeeze_copy.dims_out(Tensor self, int[] dim, *, out)
void squeeze_copy_dims_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> dims = args.int_list(1);
  const Tensor out = args.out(2);
  if (args.ok()) squeeze(context, self, dims, out);
}

// unsqueeze_copy.out(Tensor self, int dim, *, out)
void unsqueeze_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor out = args.out(2);
  size_t place = 0;
  if (!args.ok() || !normalize_dim(context, dim, self.dim() + 1, &place) ||
      !check(context, self.sizes().size() < kTensorDimensionLimit, "rank is above 16")) {
    return;
  }
  SizeArray sizes;
  for (size_t d = 0; d <= self.sizes().size(); ++d) {
    sizes[sizes.rank++] = d == place ? 1 : self.sizes()[d < place ? d : d - 1];
  }
  reshape_to(context, self, sizes, out);
}

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
  copy_all(context, self, part(self, d, range.start, range.length, step), out);
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
  copy_all(context, self, part(self, d, start, length, 1), out);
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
  View view(self);
  view.offset = index * view.strides[d];
  for (size_t i = d; i + 1 < view.sizes.rank; ++i) {
    view.sizes[i] = view.sizes[i + 1];
    view.strides[i] = view.strides[i + 1];
  }
  --view.sizes.rank;
  copy_all(context, self, view, out);
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
  if (!check(context, source.dim() == self.dim(), "the source has another rank") ||
      !copy_all(context, self, View(self), out)) {
    return;
  }
  const View target = part(out, d, range.start, range.length, step);
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
  const View target = part(out, d, index, 1, 1);
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
    copy_view(t, View(t), out, part(out, d, start, t.sizes()[d], 1));
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
    sizes[sizes.rank++] = i == d ? static_cast<SizesType>(tensors.size())
                                 : tensors[0].sizes()[i < d ? i : i - 1];
  }
  for (const Tensor& t : tensors) {
    if (!check_same_type(context, t, out) ||
        !check(context, equal(t.sizes(), tensors[0].sizes()), "sizes differ")) {
      return;
    }
  }
  if (!resize_out(context, out, sizes.span())) return;
  for (size_t n = 0; n < tensors.size(); ++n) {
    View target = part(out, d, static_cast<int64_t>(n), 1, 1);
    for (size_t i = d; i + 1 < target.sizes.rank; ++i) {
      target.sizes[i] = target.sizes[i + 1];
      target.strides[i] = target.strides[i + 1];
    }
    --target.sizes.rank;
    copy_view(tensors[n], View(tensors[n]), out, target);
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
        !copy_all(context, self, part(self, d, start, lengths[n], 1), out[n])) {
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
    if (!copy_all(context, self, part(self, d, start, now, 1), piece)) return;
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
    View view = part(self, d, static_cast<int64_t>(n), 1, 1);
    for (size_t i = d; i + 1 < view.sizes.rank; ++i) {
      view.sizes[i] = view.sizes[i + 1];
      view.strides[i] = view.strides[i + 1];
    }
    --view.sizes.rank;
    if (!copy_all(context, self, view, out[n])) return;
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
  if (!resize_out(context, out, sizes.span()) || out.numel() == 0) return;
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
             "channels are no multiple of the squared factor")) {
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
