// SPDX-License-Identifier: Apache-2.0
//
// Padding. The list holds (before, after) pairs, last dimension first; negative
// numbers crop.
//
//   self [2, 3], pad {1, 0, 0, 2}:  columns 1 + 3 + 0, rows 0 + 2 + 2
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"

namespace petrel::runtime::portable {
namespace {

struct Padding {
  int64_t before[kTensorDimensionLimit] = {};
  SizeArray sizes;  // of the result
};

bool read_padding(KernelRuntimeContext& context, const Tensor& self, Span<const int64_t> pad,
                  Padding* out) {
  if (!check(context, pad.size() % 2 == 0, "the padding list has an odd length") ||
      !check(context, pad.size() / 2 <= self.sizes().size(), "the padding list is too long")) {
    return false;
  }
  out->sizes = SizeArray(self.sizes());
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t d = self.sizes().size() - 1 - i;
    const int64_t before = pad[2 * i], after = pad[2 * i + 1];
    const auto sane = [](int64_t v) { return v > -(int64_t{1} << 31) && v < (int64_t{1} << 31); };
    const int64_t size = sane(before) && sane(after) ? self.sizes()[d] + before + after : -1;
    if (!check(context, size >= 0 && size <= INT32_MAX, "a padded size is not in [0, 2^31)")) {
      return false;
    }
    out->before[d] = before;
    out->sizes[d] = static_cast<SizesType>(size);
  }
  return true;
}

// Padding of the last `dims` dimensions by values of the input: `source` gives
// the place along a dimension of `size` that stands for place i.
void pad_by(KernelRuntimeContext& context, Span<EValue*> raw, size_t dims, bool needs_room,
            int64_t (*source)(int64_t i, int64_t size)) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> pad = args.int_list(1);
  const Tensor out = args.out(2);
  Padding padding;
  if (!args.ok() || !check_same_type(context, self, out) ||
      !check(context, pad.size() == 2 * dims, "the padding list has the wrong length") ||
      !read_padding(context, self, pad, &padding)) {
    return;
  }
  for (size_t i = 0; i < dims; ++i) {
    const int64_t size = self.sizes()[self.sizes().size() - 1 - i];
    const int64_t limit = needs_room ? size - 1 : INT32_MAX;
    if (!check(context, size > 0 && pad[2 * i] <= limit && pad[2 * i + 1] <= limit,
               "padding must be less than the input")) {
      return;
    }
  }
  if (!resize_out(context, out, padding.sizes.span())) return;
  const size_t last = padding.sizes.rank - 1;
  const int64_t length = padding.sizes[last], input = self.sizes()[last];
  const int64_t step = self.strides()[last], out_step = out.strides()[last];
  const int64_t before = padding.before[last];
  // The part of a row that is the input's own, at once where both are together.
  const bool is_together = step == 1 && out_step == 1;
  const int64_t begin = before > 0 ? before : 0;
  const int64_t end = before + input < length ? before + input : length;
  const int64_t size = static_cast<int64_t>(out.element_size());
  const char* from = static_cast<const char*>(self.const_data_ptr());
  char* to = static_cast<char*>(out.mutable_data_ptr());
  SizesType index[kTensorDimensionLimit] = {};
  const size_t rows = length == 0 ? 0 : out.numel() / static_cast<size_t>(length);
  for (size_t n = rows; n > 0; --n) {
    int64_t at = 0, target = 0;
    for (size_t d = 0; d < last; ++d) {
      at += source(index[d] - padding.before[d], self.sizes()[d]) * self.strides()[d];
      target += index[d] * out.strides()[d];
    }
    for (int64_t j = 0; j < length; ++j) {
      if (j == begin && is_together && begin < end) {
        std::memmove(to + (target + begin) * size, from + (at + begin - before) * size,
                     static_cast<size_t>((end - begin) * size));
        j = end - 1;
        continue;
      }
      std::memmove(to + (target + j * out_step) * size,
                   from + (at + source(j - before, input) * step) * size,
                   static_cast<size_t>(size));
    }
    for (size_t d = last; d-- > 0;) {
      if (++index[d] < padding.sizes[d]) break;
      index[d] = 0;
    }
  }
}

int64_t reflected(int64_t i, int64_t size) {
  if (i < 0) i = -i;
  return i < size ? i : 2 * (size - 1) - i;
}
int64_t replicated(int64_t i, int64_t size) { return i < 0 ? 0 : i < size ? i : size - 1; }

}  // namespace

// constant_pad_nd.out(Tensor self, SymInt[] pad, Scalar value, *, out)
void constant_pad_nd_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> pad = args.int_list(1);
  const Scalar value = args.scalar(2);
  const Tensor out = args.out(3);
  Padding padding;
  if (!args.ok() || !check_same_type(context, self, out) || !check_arithmetic(context, out) ||
      !read_padding(context, self, pad, &padding) ||
      !resize_out(context, out, padding.sizes.span())) {
    return;
  }
  if (out.numel() == 0) return;
  if (is_floating(out.scalar_type())) {
    storer<double>(out.scalar_type())(out.mutable_data_ptr(), 0, value.to_double());
  } else {
    storer<int64_t>(out.scalar_type())(out.mutable_data_ptr(), 0, value.to_int());
  }
  // The first element to all others, twice as many each time.
  char* filled = static_cast<char*>(out.mutable_data_ptr());
  for (size_t n = out.element_size(); n < out.nbytes();) {
    const size_t more = n < out.nbytes() - n ? n : out.nbytes() - n;
    std::memcpy(filled + n, filled, more);
    n += more;
  }
  // The part of the input that is not cropped, and its place in the output.
  View from(self), to(out);
  for (size_t d = 0; d < from.sizes.rank; ++d) {
    const int64_t skip = padding.before[d] < 0 ? -padding.before[d] : 0;
    const int64_t place = padding.before[d] > 0 ? padding.before[d] : 0;
    const int64_t room = padding.sizes[d] - place;
    const int64_t rest = self.sizes()[d] - skip;
    const int64_t length = rest < room ? rest : room;
    if (length <= 0) return;
    from.offset += skip * from.strides[d];
    to.offset += place * to.strides[d];
    from.sizes[d] = to.sizes[d] = static_cast<SizesType>(length);
  }
  copy_view(self, from, out, to);
}

void reflection_pad1d_out(KernelRuntimeContext& context, Span<EValue*> args) {
  pad_by(context, args, 1, true, reflected);
}
void reflection_pad2d_out(KernelRuntimeContext& context, Span<EValue*> args) {
  pad_by(context, args, 2, true, reflected);
}
void replication_pad1d_out(KernelRuntimeContext& context, Span<EValue*> args) {
  pad_by(context, args, 1, false, replicated);
}
void replication_pad2d_out(KernelRuntimeContext& context, Span<EValue*> args) {
  pad_by(context, args, 2, false, replicated);
}
void reflection_pad3d_out(KernelRuntimeContext& context, Span<EValue*> args) {
  pad_by(context, args, 3, true, reflected);
}
void replication_pad3d_out(KernelRuntimeContext& context, Span<EValue*> args) {
  pad_by(context, args, 3, false, replicated);
}

}  // namespace petrel::runtime::portable
