// SPDX-License-Identifier: Apache-2.0
//
// Kernels that write elements to places that other elements name. The output
// starts as a copy of self; an index outside its dimension fails the call.
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"

namespace petrel::runtime::portable {
namespace {

// fn(place in out, place in the index's walk of source) for each index; source
// is walked with the sizes of the index.
template <typename Fn>
void for_each_target(KernelRuntimeContext& context, const Tensor& out, size_t d,
                     const Tensor& index, const Tensor& source, Fn fn) {
  int64_t strides[kTensorDimensionLimit];
  const size_t rank = out.sizes().size();
  for (size_t i = 0; i < rank; ++i) strides[i] = i == d ? 0 : out.strides()[i];
  StridedLoop<3> loop(index.sizes());
  loop.operand(0, index);
  loop.strides_of(1, index.sizes(), {strides, rank});
  loop.strides_of(2, index.sizes(), source.strides());
  const auto load = loader<int64_t>(index.scalar_type());
  loop.run([&](const int64_t* at) {
    int64_t i = 0;
    if (context.failure_state() != Error::Ok ||
        !place_of(context, load(index.const_data_ptr(), static_cast<size_t>(at[0])),
               out.sizes()[d], &i)) {
      return;
    }
    fn(static_cast<size_t>(at[1] + i * out.strides()[d]), static_cast<size_t>(at[2]));
  });
}

bool prepare(KernelRuntimeContext& context, const Tensor& self, int64_t dim, const Tensor& index,
             const Tensor& source, const Tensor& out, size_t* out_dim) {
  if (!check_arithmetic(context, self) || !check_same_type(context, self, out) ||
      !check(context, self.dim() > 0 && self.dim() == index.dim() && self.dim() == source.dim(),
             "ranks differ") ||
      !normalize_dim(context, dim, self.dim(), out_dim) ||
      !check(context, index.scalar_type() == ScalarType::Long, "indices must be int64")) {
    return false;
  }
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    const SizesType size = index.sizes()[i];
    if (!check(context, size <= source.sizes()[i] && (i == *out_dim || size <= self.sizes()[i]),
               "the index is larger than source or input")) {
      return false;
    }
  }
  return copy_all(context, self, View(self), out);
}

// Stores by the arithmetic of the output: `value` as a double or an integer.
template <typename Fn>
void with_arithmetic(const Tensor& out, Fn fn) {
  if (is_floating(out.scalar_type())) {
    fn(double{0});
  } else {
    fn(uint64_t{0});
  }
}

void scatter_tensor(KernelRuntimeContext& context, Span<EValue*> raw, bool add) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor index = args.tensor(2);
  const Tensor source = args.tensor(3);
  const Tensor out = args.out(4);
  size_t d = 0;
  if (!args.ok() || !check_same_type(context, self, source) ||
      !prepare(context, self, dim, index, source, out, &d)) {
    return;
  }
  with_arithmetic(out, [&](auto zero) {
    using C = decltype(zero);
    const auto load = loader<C>(out.scalar_type());
    const auto store = storer<C>(out.scalar_type());
    for_each_target(context, out, d, index, source, [&](size_t to, size_t from) {
      C value = load(source.const_data_ptr(), from);
      if (add) value += load(out.const_data_ptr(), to);
      store(out.mutable_data_ptr(), to, value);
    });
  });
}

// index_put: indices name the leading dims; dims without one are taken whole.
// The dims of the indices stand where the first of them stood, or first when
// they are not next to each other, and values broadcast to the whole. `out` may
// be `self`: then only the named places are touched.
void put(KernelRuntimeContext& context, KernelArgs& args, const Tensor& self,
         Span<const std::optional<Tensor>> indices, const Tensor& values, bool accumulate,
         const Tensor& out) {
  if (!args.ok() || !check_arithmetic(context, self) || !check_same_type(context, self, values) ||
      !check_same_type(context, self, out) ||
      !check(context, indices.size() <= self.sizes().size(), "more indices than dims")) {
    return;
  }
  SizeArray block;
  size_t first = 0, last = 0, count = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d]) continue;
    if (!check(context, indices[d]->scalar_type() == ScalarType::Long,
               "indices must be int64") ||
        !check(context, broadcast_sizes(&block, indices[d]->sizes()),
               "the indices do not broadcast")) {
      return;
    }
    if (count++ == 0) first = d;
    last = d;
  }
  if (!check(context, count > 0, "there is no index") ||
      !check(context, self.sizes().size() - count + block.rank <= kTensorDimensionLimit,
             "rank is above 16")) {
    return;
  }
  const size_t at_dim = last - first + 1 == count ? first : 0;
  SizeArray sizes;
  int64_t strides[kTensorDimensionLimit] = {};
  size_t block_start = 0;
  bool placed = false;
  for (size_t d = 0; d <= self.sizes().size(); ++d) {
    if (!placed && d == at_dim) {
      block_start = sizes.rank;
      for (size_t i = 0; i < block.rank; ++i) sizes[sizes.rank++] = block[i];
      placed = true;
    }
    if (d == self.sizes().size() || (d < indices.size() && indices[d])) continue;
    sizes[sizes.rank] = self.sizes()[d];
    strides[sizes.rank++] = self.strides()[d];
  }
  if (!check(context, broadcasts_to(values.sizes(), sizes.span()), "the values do not broadcast") ||
      (out.const_data_ptr() != self.const_data_ptr() &&
       !copy_all(context, self, View(self), out))) {
    return;
  }
  // The strides of out, which may have another order than self.
  for (size_t d = 0, k = 0; k < sizes.rank; ++k) {
    if (k >= block_start && k < block_start + block.rank) continue;
    while (d < indices.size() && indices[d]) ++d;
    strides[k] = out.strides()[d++];
  }
  StridedLoop<1> loop(sizes.span());
  loop.operand(0, values);
  SizesType index[kTensorDimensionLimit] = {};
  with_arithmetic(out, [&](auto zero) {
    using C = decltype(zero);
    const auto load = loader<C>(out.scalar_type());
    const auto store = storer<C>(out.scalar_type());
    loop.run([&](const int64_t* at) {
      if (!args.ok()) return;
      int64_t to = 0;
      for (size_t k = 0; k < sizes.rank; ++k) to += index[k] * strides[k];
      for (size_t d = 0; d < indices.size(); ++d) {
        if (!indices[d]) continue;
        const Tensor& choice = *indices[d];
        const size_t shift = block.rank - choice.sizes().size();
        int64_t offset = 0;
        for (size_t i = 0; i < choice.sizes().size(); ++i) {
          if (choice.sizes()[i] != 1) {
            offset += index[block_start + shift + i] * choice.strides()[i];
          }
        }
        int64_t i = 0;
        if (!place_of(context, choice.const_data_ptr<int64_t>()[offset], out.sizes()[d], &i)) return;
        to += i * out.strides()[d];
      }
      C value = load(values.const_data_ptr(), static_cast<size_t>(at[0]));
      if (accumulate) value += load(out.const_data_ptr(), static_cast<size_t>(to));
      store(out.mutable_data_ptr(), static_cast<size_t>(to), value);
      for (size_t k = sizes.rank; k-- > 0;) {
        if (++index[k] < sizes[k]) break;
        index[k] = 0;
      }
    });
  });
}

}  // namespace

// scatter.src_out(Tensor self, int dim, Tensor index, Tensor src, *, out)
void scatter_src_out(KernelRuntimeContext& context, Span<EValue*> args) {
  scatter_tensor(context, args, false);
}

// scatter_add.out(Tensor self, int dim, Tensor index, Tensor src, *, out)
void scatter_add_out(KernelRuntimeContext& context, Span<EValue*> args) {
  scatter_tensor(context, args, true);
}

// scatter.value_out(Tensor self, int dim, Tensor index, Scalar value, *, out)
void scatter_value_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor index = args.tensor(2);
  const Scalar value = args.scalar(3);
  const Tensor out = args.out(4);
  size_t d = 0;
  if (!args.ok() || !prepare(context, self, dim, index, index, out, &d)) return;
  const auto store = storer<double>(out.scalar_type());
  const auto store_int = storer<int64_t>(out.scalar_type());
  for_each_target(context, out, d, index, index, [&](size_t to, size_t) {
    if (is_floating(out.scalar_type())) {
      store(out.mutable_data_ptr(), to, value.to_double());
    } else {
      store_int(out.mutable_data_ptr(), to, value.to_int());
    }
  });
}

// index_put.out(Tensor self, Tensor?[] indices, Tensor values, bool accumulate,
//   *, out)
void index_put_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const Span<const std::optional<Tensor>> indices = args.optional_tensor_list(1);
  const Tensor values = args.tensor(2);
  const bool accumulate = args.boolean(3);
  put(context, args, self, indices, values, accumulate, args.out(4));
}

// index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate)
void index_put_in_place(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.out(0);
  const Span<const std::optional<Tensor>> indices = args.optional_tensor_list(1);
  const Tensor values = args.tensor(2);
  const bool accumulate = args.boolean(3);
  put(context, args, self, indices, values, accumulate, self);
}

}  // namespace petrel::runtime::portable
