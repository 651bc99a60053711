// SPDX-License-Identifier: Apache-2.0
//
// Elements chosen by other elements: where, masks, gathers and table look-ups.
// An index outside its dimension fails the call; it is data, not structure.
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"
#include "runtime/kernels/portable/index_walk.h"

namespace petrel::runtime::portable {
namespace {

void copy_element(const Tensor& out, int64_t to, const Tensor& from, int64_t at) {
  const int64_t size = static_cast<int64_t>(out.element_size());
  std::memmove(static_cast<char*>(out.mutable_data_ptr()) + to * size,
               static_cast<const char*>(from.const_data_ptr()) + at * size,
               static_cast<size_t>(size));
}

}  // namespace

// where.self_out(Tensor condition, Tensor self, Tensor other, *, out)
void where_self_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor condition = args.tensor(0);
  const Tensor self = args.tensor(1);
  const Tensor other = args.tensor(2);
  const Tensor out = args.out(3);
  if (!args.ok() || !check_arithmetic(context, self) || !check_arithmetic(context, other) ||
      !check_arithmetic(context, out) || !check_arithmetic(context, condition)) {
    return;
  }
  SizeArray sizes(condition.sizes());
  if (!check(context,
             broadcast_sizes(&sizes, self.sizes()) && broadcast_sizes(&sizes, other.sizes()),
             "sizes of the operands do not broadcast") ||
      !resize_out(context, out, sizes.span())) {
    return;
  }
  StridedLoop<4> loop(out.sizes());
  loop.operand(0, out);
  loop.operand(1, condition);
  loop.operand(2, self);
  loop.operand(3, other);
  const auto test = loader<int64_t>(condition.scalar_type());
  const auto run = [&](auto zero) {
    using C = decltype(zero);
    const auto load_self = loader<C>(self.scalar_type());
    const auto load_other = loader<C>(other.scalar_type());
    const auto store = storer<C>(out.scalar_type());
    loop.run([&](const int64_t* at) {
      const bool yes = test(condition.const_data_ptr(), static_cast<size_t>(at[1])) != 0;
      store(out.mutable_data_ptr(), static_cast<size_t>(at[0]),
            yes ? load_self(self.const_data_ptr(), static_cast<size_t>(at[2]))
                : load_other(other.const_data_ptr(), static_cast<size_t>(at[3])));
    });
  };
  if (is_floating(out.scalar_type())) {
    run(double{0});
  } else {
    run(int64_t{0});
  }
}

// masked_fill.Scalar_out(Tensor self, Tensor mask, Scalar value, *, out)
void masked_fill_scalar_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const Tensor mask = args.tensor(1);
  const Scalar value = args.scalar(2);
  const Tensor out = args.out(3);
  if (!args.ok() || !check_arithmetic(context, self) || !check_same_type(context, self, out) ||
      !check(context, mask.scalar_type() == ScalarType::Bool, "the mask must be bool")) {
    return;
  }
  SizeArray sizes(self.sizes());
  if (!check(context, broadcast_sizes(&sizes, mask.sizes()), "the mask does not broadcast") ||
      !resize_out(context, out, sizes.span())) {
    return;
  }
  StridedLoop<3> loop(out.sizes());
  loop.operand(0, out);
  loop.operand(1, self);
  loop.operand(2, mask);
  const uint8_t* masked = mask.const_data_ptr<uint8_t>();
  const auto run = [&](auto filler) {
    using C = decltype(filler);
    const auto load = loader<C>(self.scalar_type());
    const auto store = storer<C>(out.scalar_type());
    loop.run([&](const int64_t* at) {
      store(out.mutable_data_ptr(), static_cast<size_t>(at[0]),
            masked[at[2]] != 0 ? filler : load(self.const_data_ptr(), static_cast<size_t>(at[1])));
    });
  };
  if (is_floating(out.scalar_type())) {
    run(value.to_double());
  } else {
    run(value.to_int());
  }
}

// embedding.out(Tensor weight, Tensor indices, SymInt padding_idx,
//   bool scale_grad_by_freq, bool sparse, *, out)
void embedding_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 6);
  const Tensor weight = args.tensor(0);
  const Tensor indices = args.tensor(1);
  const Tensor out = args.out(5);
  if (!args.ok() || !check_same_type(context, weight, out) || !check_rank(context, weight, 2) ||
      !check_contiguous(context, weight) || !check_contiguous(context, indices) ||
      !check_index_type(context, indices) ||
      !check(context, indices.sizes().size() < kTensorDimensionLimit, "rank is above 16")) {
    return;
  }
  SizeArray sizes(indices.sizes());
  sizes[sizes.rank++] = weight.sizes()[1];
  if (!resize_out(context, out, sizes.span()) || !check_contiguous(context, out)) return;
  const size_t row = static_cast<size_t>(weight.size(1)) * weight.element_size();
  const auto load = loader<int64_t>(indices.scalar_type());
  for (size_t i = 0; i < indices.numel(); ++i) {
    const int64_t index = load(indices.const_data_ptr(), i);
    if (!check_index(context, index, weight.size(0))) return;
    std::memmove(
        static_cast<char*>(out.mutable_data_ptr()) + i * row,
        static_cast<const char*>(weight.const_data_ptr()) + static_cast<size_t>(index) * row, row);
  }
}

// index_select.out(Tensor self, int dim, Tensor index, *, out)
void index_select_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor index = args.tensor(2);
  const Tensor out = args.out(3);
  size_t d = 0;
  if (!args.ok() || !check_same_type(context, self, out) ||
      !check(context, index.dim() <= 1, "the index must be a list") ||
      !check(context, self.dim() > 0 || index.numel() == 1, "a scalar has one element") ||
      !normalize_dim(context, dim, rank_as_list(self), &d) || !check_index_type(context, index)) {
    return;
  }
  SizeArray sizes(self.sizes());
  if (self.dim() > 0) sizes[d] = static_cast<SizesType>(index.numel());
  if (!resize_out(context, out, sizes.span())) return;
  const auto load = loader<int64_t>(index.scalar_type());
  if (self.dim() == 0) {
    if (check_index(context, load(index.const_data_ptr(), 0), 1)) copy_element(out, 0, self, 0);
    return;
  }
  for (size_t i = 0; i < index.numel(); ++i) {
    const int64_t at = load(index.const_data_ptr(), i);
    if (!check_index(context, at, self.sizes()[d])) return;
    View from(self), to(out);
    from.offset = at * from.strides[d];
    to.offset = static_cast<int64_t>(i) * to.strides[d];
    from.sizes[d] = to.sizes[d] = 1;
    copy_view(self, from, out, to);
  }
}

// gather.out(Tensor self, int dim, Tensor index, *, bool sparse_grad, out)
void gather_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor index = args.tensor(2);
  const Tensor out = args.out(4);
  size_t d = 0;
  if (!args.ok() || !check_same_type(context, self, out) ||
      !check(context, rank_as_list(self) == rank_as_list(index), "ranks differ") ||
      !normalize_dim(context, dim, rank_as_list(self), &d) || !check_index_type(context, index)) {
    return;
  }
  const size_t rank = index.sizes().size();
  for (size_t i = 0; i < rank; ++i) {
    if (!check(context, i == d || index.sizes()[i] <= self.sizes()[i],
               "the index is larger than the input")) {
      return;
    }
  }
  if (!resize_out(context, out, index.sizes())) return;
  // self is walked with the index's sizes; along d the index decides.
  const Along along(self, d);
  int64_t strides[kTensorDimensionLimit];
  for (size_t i = 0; i < rank; ++i) strides[i] = i == d ? 0 : self.strides()[i];
  StridedLoop<3> loop(index.sizes());
  loop.operand(0, out);
  loop.operand(1, index);
  loop.strides_of(2, index.sizes(), {strides, rank});
  const auto load = loader<int64_t>(index.scalar_type());
  loop.run([&](const int64_t* at) {
    if (!args.ok()) return;
    const int64_t i = load(index.const_data_ptr(), static_cast<size_t>(at[1]));
    if (!check_index(context, i, along.size)) return;
    copy_element(out, at[0], self, at[2] + i * along.stride);
  });
}

// index.Tensor_out(Tensor self, Tensor?[] indices, *, out)
void index_tensor_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Span<const std::optional<Tensor>> indices = args.optional_tensor_list(1);
  const Tensor out = args.out(2);
  IndexWalk walk;
  if (!args.ok() || !check_same_type(context, self, out) ||
      !walk.prepare(context, self.sizes(), indices) ||
      !resize_out(context, out, walk.sizes().span())) {
    return;
  }
  const int64_t* strides = out.strides().data();
  View from = walk.rest_of(self), to = walk.rest_of(strides);
  const bool is_single = product(to.sizes.span(), 0, to.sizes.rank) == 1;
  walk.for_each_block(context, self, strides, [&](int64_t at, int64_t place) {
    if (is_single) return copy_element(out, place, self, at);
    from.offset = at;
    to.offset = place;
    copy_view(self, from, out, to);
  });
}

}  // namespace petrel::runtime::portable
