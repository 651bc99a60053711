// SPDX-License-Identifier: Apache-2.0
//
// Kernels that give the same elements in another shape, order or type.
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
    copy_view(self, View(self), out, View::contiguous(self.sizes()));
    return true;
  }
  if (!check(context, is_contiguous(self), "input and output are both not contiguous")) {
    return false;
  }
  copy_view(self, View::contiguous(out.sizes()), out, View(out));
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
  if (!resize_one_out(context, out, sizes.span())) return;
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
void clone_out(KernelRuntimeContext& context, Span<EValue*> raw) { convert_args(context, raw, 3); }
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
  if (!args.ok() ||
      !check(context, broadcasts_to(source.sizes(), self.sizes()),
             "the source does not broadcast to the target") ||
      !check_in_place(context, self, source)) {
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

}  // namespace petrel::runtime::portable
