// SPDX-License-Identifier: Apache-2.0
//
// Elements that a mask or a count names. The size of some results depends on
// data; it must fit what was planned for the output.
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"
#include "runtime/kernels/portable/loop_charge.h"
#include "runtime/kernels/portable/mask_places.h"

namespace petrel::runtime::portable {
namespace {

void move_element(const Tensor& to, size_t at, const Tensor& from, size_t place) {
  const size_t size = to.element_size();
  std::memmove(static_cast<char*>(to.mutable_data_ptr()) + at * size,
               static_cast<const char*>(from.const_data_ptr()) + place * size, size);
}

bool check_mask(KernelRuntimeContext& context, const Tensor& mask) {
  return check(context, is_mask(mask), "the mask must be bool");
}

// fn(place in `self`, place in `mask`) for every place of both, broadcast, that
// the mask names, in logical order.
template <typename Fn>
void for_each_masked(const SizeArray& sizes, const Tensor& self, const Tensor& mask, Fn fn) {
  const uint8_t* set = static_cast<const uint8_t*>(mask.const_data_ptr());
  StridedLoop<2> loop(sizes.span());
  loop.operand(0, self);
  loop.operand(1, mask);
  loop.run([&](const int64_t* at) {
    if (set[at[1]] != 0) fn(static_cast<size_t>(at[0]));
  });
}

}  // namespace

// masked_select.out(Tensor self, Tensor mask, *, out)
void masked_select_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Tensor mask = args.tensor(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_same_type(context, self, out) || !check_mask(context, mask)) return;
  SizeArray sizes(self.sizes());
  if (!check(context, broadcast_sizes(&sizes, mask.sizes()), "the mask does not broadcast") ||
      !charge_loop(context, sizes)) {
    return;
  }
  size_t count = 0;
  for_each_masked(sizes, self, mask, [&](size_t) { ++count; });
  if (!check(context, count <= INT32_MAX, "there are 2^31 elements or more")) return;
  const SizesType found[] = {static_cast<SizesType>(count)};
  if (!resize_out(context, out, found)) return;
  size_t next = 0;
  for_each_masked(sizes, self, mask, [&](size_t at) {
    // The mask is read again, and may have changed if it shares memory.
    if (next < count) move_element(out, next++, self, at);
  });
}

// masked_scatter.out(Tensor self, Tensor mask, Tensor source, *, out): the
// places that the mask names take the elements of source, one after another.
void masked_scatter_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const Tensor mask = args.tensor(1);
  const Tensor source = args.tensor(2);
  const Tensor out = args.out(3);
  if (!args.ok() || !check_same_type(context, self, source) ||
      !check_same_type(context, self, out) || !check_mask(context, mask) ||
      !check_contiguous(context, source)) {
    return;
  }
  SizeArray sizes(self.sizes());
  if (!check(context, broadcast_sizes(&sizes, mask.sizes()), "the mask does not broadcast") ||
      !resize_out(context, out, sizes.span())) {
    return;
  }
  copy_view(self, View(self), out, View(out));
  size_t next = 0;
  bool missing = false;
  for_each_masked(sizes, out, mask, [&](size_t at) {
    if (next == source.numel()) {
      missing = true;
    } else {
      move_element(out, at, source, next++);
    }
  });
  check(context, !missing, "the source has fewer elements than the mask names");
}

// nonzero.out(Tensor self, *, out): [count, rank], the index of each element
// that is not zero.
void nonzero_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(1);
  if (!args.ok() || !check_arithmetic(context, self) ||
      !check(context, out.scalar_type() == ScalarType::Long, "the output must be int64")) {
    return;
  }
  const auto load = loader<double>(self.scalar_type());
  const size_t rank = self.sizes().size();
  StridedLoop<1> loop(self.sizes());
  loop.operand(0, self);
  size_t count = 0;
  loop.run([&](const int64_t* at) {
    count += load(self.const_data_ptr(), static_cast<size_t>(at[0])) != 0.0;
  });
  if (!check(context, count <= INT32_MAX, "there are 2^31 elements or more")) return;
  const SizesType sizes[] = {static_cast<SizesType>(count), static_cast<SizesType>(rank)};
  if (!resize_out(context, out, sizes)) return;
  int64_t* to = out.mutable_data_ptr<int64_t>();
  // Programs of the wheel plan it column by column.
  const int64_t of_row = out.strides()[0], of_dim = out.strides()[1];
  int64_t index[kTensorDimensionLimit] = {};
  size_t next = 0;
  loop.run([&](const int64_t* at) {
    if (load(self.const_data_ptr(), static_cast<size_t>(at[0])) != 0.0 && next < count) {
      for (size_t d = 0; d < rank; ++d) {
        to[static_cast<int64_t>(next) * of_row + static_cast<int64_t>(d) * of_dim] = index[d];
      }
      ++next;
    }
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < self.sizes()[d]) break;
      index[d] = 0;
    }
  });
}

// repeat_interleave.Tensor_out(Tensor repeats, *, SymInt? output_size, out):
// 0 repeats[0] times, then 1 repeats[1] times, ...
void repeat_interleave_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor repeats = args.tensor(0);
  const std::optional<int64_t> output_size = args.optional_integer(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_rank(context, repeats, 1) || !check_same_type(context, repeats, out) ||
      !check(context,
             repeats.scalar_type() == ScalarType::Long || repeats.scalar_type() == ScalarType::Int,
             "repeats must be int64 or int32")) {
    return;
  }
  const auto load = loader<int64_t>(repeats.scalar_type());
  int64_t total = 0;
  for (size_t i = 0; i < repeats.numel(); ++i) {
    const int64_t times = load(repeats.const_data_ptr(), i);
    if (!check(context, times >= 0 && times <= INT32_MAX - total,
               "a repetition is negative, or their sum is 2^31 or more")) {
      return;
    }
    total += times;
  }
  if (!check(context, !output_size || *output_size == total,
             "output_size is not the sum of the repetitions")) {
    return;
  }
  const SizesType sizes[] = {static_cast<SizesType>(total)};
  if (!resize_out(context, out, sizes)) return;
  const auto store = storer<int64_t>(out.scalar_type());
  int64_t next = 0;
  for (size_t i = 0; i < repeats.numel(); ++i) {
    const int64_t times = load(repeats.const_data_ptr(), i);
    for (int64_t k = 0; k < times && next < total; ++k) {
      store(out.mutable_data_ptr(), static_cast<size_t>(next++), static_cast<int64_t>(i));
    }
  }
}

}  // namespace petrel::runtime::portable
