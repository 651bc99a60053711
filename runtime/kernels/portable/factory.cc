// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose result does not depend on the elements of an input.
#include <cmath>
#include <cstring>

#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"

namespace petrel::runtime::portable {
namespace {

bool read_sizes(KernelRuntimeContext& context, Span<const int64_t> list, SizeArray* out) {
  if (!check(context, list.size() <= kTensorDimensionLimit, "rank is above 16")) return false;
  out->rank = list.size();
  for (size_t d = 0; d < list.size(); ++d) {
    if (!check(context, list[d] >= 0 && list[d] <= INT32_MAX, "a size is not in [0, 2^31)")) {
      return false;
    }
    (*out)[d] = static_cast<SizesType>(list[d]);
  }
  return true;
}

// All elements of `out`, of which there are some: one, then copies of what is there already.
void fill(KernelRuntimeContext& context, const Tensor& out, const Scalar& value) {
  if (!check_arithmetic(context, out)) return;
  char* data = static_cast<char*>(out.mutable_data_ptr());
  if (is_floating(out.scalar_type())) {
    storer<double>(out.scalar_type())(data, 0, value.to_double());
  } else {
    // Of bool all but 0 is true, 0.5 too.
    const bool is_true = out.scalar_type() == ScalarType::Bool && value.to_double() != 0.0;
    storer<int64_t>(out.scalar_type())(data, 0, is_true ? 1 : value.to_int());
  }
  const size_t bytes = out.numel() * out.element_size();
  for (size_t done = out.element_size(); done < bytes;) {
    const size_t next = done < bytes - done ? done : bytes - done;
    std::memcpy(data + done, data, next);
    done += next;
  }
}

void filled(KernelRuntimeContext& context, Span<EValue*> raw, int64_t value) {
  KernelArgs args(context, raw, 2);
  const Span<const int64_t> list = args.int_list(0);
  const Tensor out = args.out(1);
  SizeArray sizes;
  if (args.ok() && read_sizes(context, list, &sizes) && resize_out(context, out, sizes.span())) {
    fill(context, out, Scalar(value));
  }
}

void arange(KernelRuntimeContext& context, const Scalar& start, const Scalar& end,
            const Scalar& step, const Tensor& out) {
  const double first = start.to_double(), last = end.to_double(), by = step.to_double();
  if (!check_arithmetic(context, out) ||
      !check(context, by != 0.0 && std::isfinite(first) && std::isfinite(last) && std::isfinite(by),
             "step is 0 or a bound is not finite")) {
    return;
  }
  const double count = std::ceil((last - first) / by);
  if (!check(context, count >= 0.0 && count <= INT32_MAX, "the range has a wrong length")) return;
  const SizesType sizes[] = {static_cast<SizesType>(count)};
  if (!resize_out(context, out, sizes)) return;
  if (is_floating(out.scalar_type())) {
    const auto store = storer<double>(out.scalar_type());
    for (SizesType i = 0; i < sizes[0]; ++i) {
      store(out.mutable_data_ptr(), static_cast<size_t>(i), first + i * by);
    }
  } else {
    const auto store = storer<uint64_t>(out.scalar_type());
    const uint64_t whole = static_cast<uint64_t>(start.to_int());
    const uint64_t whole_step = static_cast<uint64_t>(step.to_int());
    for (SizesType i = 0; i < sizes[0]; ++i) {
      store(out.mutable_data_ptr(), static_cast<size_t>(i),
            whole + static_cast<uint64_t>(i) * whole_step);
    }
  }
}

}  // namespace

// full.out(SymInt[] size, Scalar fill_value, *, out)
void full_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Span<const int64_t> list = args.int_list(0);
  const Scalar value = args.scalar(1);
  const Tensor out = args.out(2);
  SizeArray sizes;
  if (args.ok() && read_sizes(context, list, &sizes) && resize_out(context, out, sizes.span())) {
    fill(context, out, value);
  }
}

// fill.Tensor_out(Tensor self, Tensor value, *, out): value has one element.
void fill_tensor_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Tensor value = args.tensor(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_arithmetic(context, value) || !check_same_type(context, self, out) ||
      !check(context, value.numel() == 1, "the value must be one element") ||
      !resize_out(context, out, self.sizes())) {
    return;
  }
  if (is_floating(value.scalar_type())) {
    fill(context, out, Scalar(loader<double>(value.scalar_type())(value.const_data_ptr(), 0)));
  } else {
    fill(context, out, Scalar(loader<int64_t>(value.scalar_type())(value.const_data_ptr(), 0)));
  }
}

// full_like.out(Tensor self, Scalar fill_value, *, MemoryFormat?, out)
void full_like_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const Scalar value = args.scalar(1);
  const Tensor out = args.out(3);
  if (args.ok() && resize_out(context, out, self.sizes())) fill(context, out, value);
}

// fill.Scalar_out(Tensor self, Scalar value, *, out)
void fill_scalar_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Scalar value = args.scalar(1);
  const Tensor out = args.out(2);
  if (args.ok() && resize_out(context, out, self.sizes())) fill(context, out, value);
}

void zeros_out(KernelRuntimeContext& context, Span<EValue*> args) { filled(context, args, 0); }
void ones_out(KernelRuntimeContext& context, Span<EValue*> args) { filled(context, args, 1); }

// empty.out(SymInt[] size, *, MemoryFormat?, out): elements are what was there.
void empty_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Span<const int64_t> list = args.int_list(0);
  const Tensor out = args.out(2);
  SizeArray sizes;
  if (args.ok() && read_sizes(context, list, &sizes)) resize_out(context, out, sizes.span());
}

// scalar_tensor.out(Scalar s, *, out)
void scalar_tensor_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Scalar value = args.scalar(0);
  const Tensor out = args.out(1);
  if (args.ok() && resize_out(context, out, {})) fill(context, out, value);
}

// arange.out(Scalar end, *, out)
void arange_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 2);
  const Scalar end = args.scalar(0);
  const Tensor out = args.out(1);
  if (args.ok()) arange(context, Scalar(int64_t{0}), end, Scalar(int64_t{1}), out);
}

// arange.start_out(Scalar start, Scalar end, Scalar step, *, out)
void arange_start_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Scalar start = args.scalar(0);
  const Scalar end = args.scalar(1);
  const Scalar step = args.scalar(2);
  const Tensor out = args.out(3);
  if (args.ok()) arange(context, start, end, step, out);
}

// tril.out(Tensor self, int diagonal, *, out): zero above the diagonal.
void tril_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const int64_t diagonal = args.integer(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_same_type(context, self, out) ||
      !check(context, self.dim() >= 2, "input must have rank 2 or more") ||
      !check_contiguous(context, self) || !resize_out(context, out, self.sizes()) ||
      !check_contiguous(context, out)) {
    return;
  }
  const size_t columns = static_cast<size_t>(self.size(self.dim() - 1));
  const size_t rows = static_cast<size_t>(self.size(self.dim() - 2));
  const size_t size = self.element_size();
  const char* from = static_cast<const char*>(self.const_data_ptr());
  char* to = static_cast<char*>(out.mutable_data_ptr());
  // j > i + diagonal, without overflow for any diagonal.
  const int64_t limit = diagonal < -(int64_t{1} << 32)  ? -(int64_t{1} << 32)
                        : diagonal > (int64_t{1} << 32) ? (int64_t{1} << 32)
                                                        : diagonal;
  for (size_t row = 0; row < self.numel() / columns;
       ++row, from += columns * size, to += columns * size) {
    const int64_t end = static_cast<int64_t>(row % rows) + limit + 1;
    const size_t kept = end < 0                               ? 0
                        : end > static_cast<int64_t>(columns) ? columns
                                                              : static_cast<size_t>(end);
    std::memmove(to, from, kept * size);
    std::memset(to + kept * size, 0, (columns - kept) * size);
  }
}

}  // namespace petrel::runtime::portable
