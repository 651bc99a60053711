// SPDX-License-Identifier: Apache-2.0
//
// Kernels that write elements to places that other elements name. The output
// starts as a copy of self; an index outside its dimension fails the call.
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"
#include "runtime/kernels/portable/index_walk.h"
#include "runtime/kernels/portable/loop_charge.h"

namespace petrel::runtime::portable {
namespace {

// fn(place in out, place in the index's walk of source) for each index; source
// is walked with the sizes of the index.
template <typename Fn>
void for_each_target(KernelRuntimeContext& context, const Tensor& out, size_t d,
                     const Tensor& index, const Tensor& source, Fn fn) {
  int64_t strides[kTensorDimensionLimit], beside[kTensorDimensionLimit];
  const size_t rank = index.sizes().size();
  const Along along(out, d);
  for (size_t i = 0; i < rank; ++i) {
    strides[i] = i == d ? 0 : out.strides()[i];
    beside[i] = Along(source, i).stride;
  }
  StridedLoop<3> loop(index.sizes());
  loop.operand(0, index);
  loop.strides_of(1, index.sizes(), {strides, rank});
  loop.strides_of(2, index.sizes(), {beside, rank});
  const auto load = loader<int64_t>(index.scalar_type());
  loop.run([&](const int64_t* at) {
    if (context.failure_state() != Error::Ok) return;
    const int64_t i = load(index.const_data_ptr(), static_cast<size_t>(at[0]));
    if (!check_index(context, i, along.size)) return;
    fn(static_cast<size_t>(at[1] + i * along.stride), static_cast<size_t>(at[2]));
  });
}

bool prepare(KernelRuntimeContext& context, const Tensor& self, int64_t dim, const Tensor& index,
             const Tensor& source, const Tensor& out, size_t* out_dim) {
  if (!check_arithmetic(context, self) ||
      !check(
          context,
          rank_as_list(self) == rank_as_list(index) && rank_as_list(self) == rank_as_list(source),
          "ranks differ") ||
      !normalize_dim(context, dim, rank_as_list(self), out_dim) ||
      !check(context, index.scalar_type() == ScalarType::Long, "indices must be int64")) {
    return false;
  }
  // Without dims there is one element, which the source need not have.
  for (size_t i = 0; i < static_cast<size_t>(rank_as_list(index)); ++i) {
    const auto size = Along(index, i).size;
    if (!check(context,
               size <= Along(source, i).size && (i == *out_dim || size <= Along(self, i).size),
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

// `out` takes the elements of self, unless it lies on them already.
bool start_from(KernelRuntimeContext& context, const Tensor& self, const Tensor& out) {
  if (!resize_one_out(context, out, self.sizes())) return false;
  const auto own = out.strides(), other = self.strides();
  bool is_same = out.const_data_ptr() == self.const_data_ptr();
  for (size_t d = 0; d < own.size(); ++d) is_same = is_same && own[d] == other[d];
  if (!is_same && out.numel() != 0) copy_view(self, View(self), out, View(out));
  return true;
}

// index_put: values broadcast to self[indices]. `out` may be `self`: then only
// the named places are touched.
void put(KernelRuntimeContext& context, KernelArgs& args, const Tensor& self,
         Span<const std::optional<Tensor>> indices, const Tensor& values, bool accumulate,
         const Tensor& out) {
  IndexWalk walk;
  if (!args.ok() || !check_arithmetic(context, self) || !check_same_type(context, self, values) ||
      !check_same_type(context, self, out) || !walk.prepare(context, self.sizes(), indices) ||
      !check(context, broadcasts_to(values.sizes(), walk.sizes().span()),
             "the values do not broadcast") ||
      !charge_loop(context, walk.sizes()) || !start_from(context, self, out) ||
      product(walk.sizes().span(), 0, walk.sizes().rank) == 0) {
    return;
  }
  // The strides of values for each dim of self[indices].
  int64_t strides[kTensorDimensionLimit] = {};
  const size_t shift = walk.sizes().rank - values.sizes().size();
  for (size_t d = 0; d < values.sizes().size(); ++d) {
    strides[shift + d] = values.sizes()[d] == 1 ? 0 : values.strides()[d];
  }
  const View to = walk.rest_of(out), from = walk.rest_of(strides);
  StridedLoop<2> rest(to.sizes.span());
  rest.strides_of(0, to.sizes.span(), to.strides_span());
  rest.strides_of(1, from.sizes.span(), from.strides_span());
  with_arithmetic(out, [&](auto zero) {
    using C = decltype(zero);
    const auto load = loader<C>(out.scalar_type());
    const auto store = storer<C>(out.scalar_type());
    walk.for_each_block(context, out, strides, [&](int64_t place, int64_t source) {
      rest.run([&](const int64_t* at) {
        const size_t target = static_cast<size_t>(place + at[0]);
        C value = load(values.const_data_ptr(), static_cast<size_t>(source + at[1]));
        if (accumulate) value += load(out.const_data_ptr(), target);
        store(out.mutable_data_ptr(), target, value);
      });
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
