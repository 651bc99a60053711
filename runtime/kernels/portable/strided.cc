// SPDX-License-Identifier: Apache-2.0
//
// Kernels that read a tensor with other strides or a shift.
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"

namespace petrel::runtime::portable {

// as_strided_copy.out(Tensor self, SymInt[] size, SymInt[] stride,
//   SymInt? storage_offset, *, out): places are counted in the memory of self.
void as_strided_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> size = args.int_list(1);
  const Span<const int64_t> stride = args.int_list(2);
  const std::optional<int64_t> offset = args.optional_integer(3);
  const Tensor out = args.out(4);
  if (!args.ok() || !check_contiguous(context, self) ||
      !check(context, size.size() == stride.size() && size.size() <= kTensorDimensionLimit,
             "sizes and strides must be equally many, at most 16")) {
    return;
  }
  View view;
  view.offset = offset.value_or(0);
  view.sizes.rank = size.size();
  bool empty = false;
  int64_t last = view.offset;  // the largest place that is read
  for (size_t d = 0; d < size.size(); ++d) {
    int64_t reach = 0;
    if (!narrow_size(context, size[d], &view.sizes[d]) ||
        !check(context, stride[d] >= 0, "a stride is negative")) {
      return;
    }
    view.strides[d] = stride[d];
    empty = empty || size[d] == 0;
    if (size[d] > 0 &&
        !check(context,
               checked_mul(size[d] - 1, stride[d], &reach) && checked_add(last, reach, &last),
               "the strides reach too far")) {
      return;
    }
  }
  // Steps of an empty view lead nowhere, and may be too large to add up.
  for (size_t d = 0; empty && d < size.size(); ++d) view.strides[d] = 0;
  if (empty) view.offset = 0;
  if (!empty && !check(context, view.offset >= 0 && last < static_cast<int64_t>(self.numel()),
                       "the strides reach outside the input")) {
    return;
  }
  copy_all(context, self, view, out);
}

// diagonal_copy.out(Tensor self, int offset, int dim1, int dim2, *, out)
void diagonal_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t offset = args.integer(1);
  const int64_t dim1 = args.integer(2);
  const int64_t dim2 = args.integer(3);
  const Tensor out = args.out(4);
  size_t a = 0, b = 0;
  if (!args.ok() || !normalize_dim(context, dim1, self.dim(), &a) ||
      !normalize_dim(context, dim2, self.dim(), &b) ||
      !check(context, self.dim() >= 2 && a != b, "the diagonal needs two dims")) {
    return;
  }
  const int64_t rows = self.sizes()[a], columns = self.sizes()[b];
  // Outside (-rows, columns) the diagonal is empty, wherever exactly.
  const int64_t shift = offset < -rows ? -rows : offset > columns ? columns : offset;
  const int64_t length =
      std::min(shift < 0 ? rows + shift : rows, shift > 0 ? columns - shift : columns);
  View view;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (d == a || d == b) continue;
    view.sizes[view.sizes.rank] = self.sizes()[d];
    view.strides[view.sizes.rank++] = self.strides()[d];
  }
  view.sizes[view.sizes.rank] = static_cast<SizesType>(length);
  // Of one element or none the sum could be too large for a number.
  view.strides[view.sizes.rank++] = length > 1 ? self.strides()[a] + self.strides()[b] : 0;
  if (length > 0) {
    view.offset = shift < 0 ? -shift * self.strides()[a] : shift * self.strides()[b];
  }
  copy_all(context, self, view, out);
}

// unfold_copy.out(Tensor self, int dimension, int size, int step, *, out): windows
// along one dimension; the last dimension of the result runs inside them.
void unfold_copy_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const int64_t size = args.integer(2);
  const int64_t step = args.integer(3);
  const Tensor out = args.out(4);
  size_t d = 0;
  if (!args.ok() || !normalize_dim(context, dim, self.dim(), &d) ||
      !check(context, self.dim() > 0 && self.sizes().size() < kTensorDimensionLimit,
             "rank must be in [1, 16)") ||
      !check(context, size >= 0 && size <= self.sizes()[d] && step >= 1 && step <= INT32_MAX,
             "the window does not fit the dim")) {
    return;
  }
  View view = View(self).part(d, 0, (self.sizes()[d] - size) / step + 1, step);
  view.sizes[view.sizes.rank] = static_cast<SizesType>(size);
  view.strides[view.sizes.rank++] = self.strides()[d];
  copy_all(context, self, view, out);
}

// roll.out(Tensor self, SymInt[] shifts, int[] dims, *, out): without dims the
// elements are rolled in order.
void roll_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> shifts = args.int_list(1);
  const Span<const int64_t> dims = args.int_list(2);
  const Tensor out = args.out(3);
  if (!args.ok() || !check_same_type(context, self, out) || !check_contiguous(context, self) ||
      !resize_out(context, out, self.sizes()) || !check_contiguous(context, out)) {
    return;
  }
  const bool flat = dims.empty();
  if (!check(context, shifts.size() == (flat ? 1 : dims.size()), "shifts and dims differ")) {
    return;
  }
  SizeArray sizes(self.sizes());
  int64_t shift[kTensorDimensionLimit] = {};
  if (flat) {
    if (!check(context, self.numel() <= INT32_MAX, "too many elements to roll in order")) return;
    sizes.rank = 1;
    sizes[0] = static_cast<SizesType>(self.numel());
    shift[0] = shifts[0] % sizes[0];
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    size_t d = 0;
    if (!normalize_dim(context, dims[i], self.dim(), &d)) return;
    if (self.dim() == 0) continue;
    shift[d] = (shift[d] + shifts[i] % sizes[d]) % sizes[d];
  }
  for (size_t d = 0; d < sizes.rank; ++d) {
    if (shift[d] < 0) shift[d] += sizes[d];
  }
  // What lies behind the last dim that is rolled stays together; of that dim the
  // end goes to the front, and the rest behind it.
  size_t rolled = sizes.rank;
  while (rolled > 0 && shift[rolled - 1] == 0) --rolled;
  const char* from = static_cast<const char*>(self.const_data_ptr());
  char* to = static_cast<char*>(out.mutable_data_ptr());
  if (rolled == 0) {
    std::memmove(to, from, self.nbytes());
    return;
  }
  const size_t last = rolled - 1;
  size_t piece = out.element_size();
  for (size_t d = rolled; d < sizes.rank; ++d) piece *= static_cast<size_t>(sizes[d]);
  const size_t row = piece * static_cast<size_t>(sizes[last]);
  const size_t front = piece * static_cast<size_t>(shift[last]);
  SizesType index[kTensorDimensionLimit] = {};
  for (size_t n = self.nbytes() / row; n > 0; --n, from += row) {
    size_t target = 0;
    for (size_t d = 0; d < last; ++d) {
      const int64_t place = (index[d] + shift[d]) % sizes[d];
      target = target * static_cast<size_t>(sizes[d]) + static_cast<size_t>(place);
    }
    std::memmove(to + target * row + front, from, row - front);
    std::memmove(to + target * row, from + row - front, front);
    for (size_t d = last; d-- > 0;) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
  }
}

// pixel_unshuffle.out(Tensor self, int downscale_factor, *, out):
// [N, C, H r, W r] -> [N, C r r, H, W]
void pixel_unshuffle_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const int64_t r = args.integer(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_same_type(context, self, out) || !check_rank(context, self, 4) ||
      !check(context, r >= 1 && r <= 32767 && self.size(2) % r == 0 && self.size(3) % r == 0,
             "height or width is not a multiple of the factor")) {
    return;
  }
  SizeArray sizes(self.sizes());
  sizes[2] = static_cast<SizesType>(self.size(2) / r);
  sizes[3] = static_cast<SizesType>(self.size(3) / r);
  if (!narrow_size(context, self.size(1) * r * r, &sizes[1]) ||
      !resize_out(context, out, sizes.span())) {
    return;
  }
  for (int64_t i = 0; i < r; ++i) {
    for (int64_t j = 0; j < r; ++j) {
      const View from = View(self).part(2, i, sizes[2], r).part(3, j, sizes[3], r);
      copy_view(self, from, out, View(out).part(1, i * r + j, self.size(1), r * r));
    }
  }
}

}  // namespace petrel::runtime::portable
