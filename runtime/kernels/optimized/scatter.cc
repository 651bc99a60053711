// SPDX-License-Identifier: Apache-2.0
//
// gather and the scatters of contiguous tensors, a row of the index at a time.
//
//   dim last:  out[base + index[i]]                scatter, and gather the other
//   others:    out[base + index[i] * stride + i]   way round
//
// Indices are looked at before anything is written; where one is negative or too
// large the portable kernel decides.
#include <cstring>

#include "runtime/kernels/optimized/by_size.h"
#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/portable/strided_loop.h"

namespace petrel::runtime::optimized {
namespace {

// `at` has the dim along which `index` counts; `beside` is walked like the index.
struct Walk {
  const Tensor& at;
  const Tensor& index;
  const Tensor& beside;
  size_t dim = 0;

  bool prepare(int64_t signed_dim) {
    const int64_t rank = index.dim();
    const int64_t d = signed_dim < 0 ? signed_dim + rank : signed_dim;
    if (rank < 1 || at.dim() != rank || beside.dim() != rank || d < 0 || d >= rank ||
        index.scalar_type() != ScalarType::Long || !is_contiguous(index) || !is_contiguous(at) ||
        !is_contiguous(beside)) {
      return false;
    }
    dim = static_cast<size_t>(d);
    for (size_t i = 0; i < index.sizes().size(); ++i) {
      const auto size = index.sizes()[i];
      if (size > beside.sizes()[i] || (i != dim && size > at.sizes()[i])) return false;
    }
    // The largest as a number without a sign, of which negative ones are large.
    const uint64_t* data = static_cast<const uint64_t*>(index.const_data_ptr());
    uint64_t largest = 0;
    for (size_t i = 0; i < index.numel(); ++i) largest = data[i] > largest ? data[i] : largest;
    return index.numel() == 0 || largest < static_cast<uint64_t>(at.sizes()[dim]);
  }

  // fn(indices, n, base in `at`, base in `beside`, step, along): element i of the
  // row is at base + indices[i] * step + i * along of `at`.
  template <typename Fn>
  void for_each_row(const Fn& fn) const {
    walk(
        [](const void* own, const int64_t* indices, size_t n, int64_t base, int64_t place,
           int64_t step,
           int64_t along) { (*static_cast<const Fn*>(own))(indices, n, base, place, step, along); },
        &fn);
  }

  // The same once for all functions.
  using Row = void (*)(const void* own, const int64_t* indices, size_t n, int64_t base,
                       int64_t place, int64_t step, int64_t along);
  __attribute__((noinline)) void walk(Row row, const void* own) const {
    const size_t rank = index.sizes().size(), last = rank - 1;
    const size_t n = static_cast<size_t>(index.sizes()[last]);
    int64_t strides[kTensorDimensionLimit];
    for (size_t d = 0; d < last; ++d) strides[d] = d == dim ? 0 : at.strides()[d];
    const Span<const portable::SizesType> sizes(index.sizes().data(), last);
    portable::StridedLoop<2> rows(sizes);
    rows.strides_of(0, sizes, {strides, last});
    rows.strides_of(1, sizes, {beside.strides().data(), last});
    const int64_t* data = index.const_data_ptr<int64_t>();
    const int64_t step = dim == last ? 1 : at.strides()[dim];
    rows.run([&](const int64_t* base) {
      row(own, data, n, base[0], base[1], step, dim == last ? int64_t{0} : int64_t{1});
      data += n;
    });
  }
};

bool gather(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  if (self.scalar_type() != out.scalar_type() || resize_tensor(out, index.sizes()) != Error::Ok) {
    return false;
  }
  Walk walk{self, index, out};
  if (!walk.prepare(dim)) return false;
  return with_size(out.element_size(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    walk.for_each_row([&](const int64_t* indices, size_t n, int64_t base, int64_t place,
                          int64_t step, int64_t along) {
      const T* row = from + base;
      T* result = to + place;
      for (size_t i = 0; i < n; ++i) {
        result[i] = row[indices[i] * step + static_cast<int64_t>(i) * along];
      }
    });
  });
}

template <typename T, typename Place>
void place_rows(const Walk& walk, const T* from, bool source_moves, const Tensor& out,
                const Place& place) {
  T* to = static_cast<T*>(out.mutable_data_ptr());
  walk.for_each_row([&](const int64_t* indices, size_t n, int64_t base, int64_t source,
                        int64_t step, int64_t along) {
    const T* row = source_moves ? from + source : from;
    T* result = to + base;
    for (size_t i = 0; i < n; ++i) {
      place(&result[indices[i] * step + static_cast<int64_t>(i) * along],
            row[source_moves ? i : 0]);
    }
  });
}

// Gives out the sizes of self; false where its type is not for these kernels.
bool start(const Tensor& self, const Tensor& out) {
  return self.scalar_type() == out.scalar_type() && portable::is_arithmetic(self.scalar_type()) &&
         self.scalar_type() != ScalarType::Bool && is_contiguous(self) &&
         resize_tensor(out, self.sizes()) == Error::Ok;
}

void copy(const Tensor& self, const Tensor& out) {
  if (self.nbytes() != 0) {
    std::memmove(out.mutable_data_ptr(), self.const_data_ptr(), self.nbytes());
  }
}

// scatter.src_out, scatter_add.out(Tensor self, int dim, Tensor index, Tensor
//   src, *, out)
bool scatter(KernelRuntimeContext& context, Span<EValue*> raw, bool accumulate) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor index = args.tensor(2);
  const Tensor source = args.tensor(3);
  const Tensor out = args.out(4);
  if (!args.ok()) return true;
  const ScalarType type = self.scalar_type();
  if (source.scalar_type() != type || !start(self, out)) return false;
  if (accumulate && type != ScalarType::Float && type != ScalarType::Double &&
      type != ScalarType::Long && type != ScalarType::Int) {
    return false;
  }
  Walk walk{out, index, source};
  if (!walk.prepare(dim)) return false;
  copy(self, out);
  const auto run = [&](auto zero, const auto& place) {
    using T = decltype(zero);
    place_rows(walk, static_cast<const T*>(source.const_data_ptr()), true, out, place);
  };
  if (!accumulate) {
    return with_size(out.element_size(),
                     [&](auto zero) { run(zero, [](auto* to, auto value) { *to = value; }); });
  }
  const auto add = [](auto* to, auto value) { *to += value; };
  switch (type) {
    case ScalarType::Float:
      run(0.0f, add);
      break;
    case ScalarType::Double:
      run(0.0, add);
      break;
    // Without a sign, so that overflow wraps.
    case ScalarType::Long:
      run(uint64_t{0}, add);
      break;
    default:
      run(uint32_t{0}, add);
      break;
  }
  return true;
}

// scatter.value_out(Tensor self, int dim, Tensor index, Scalar value, *, out)
bool scatter_value(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor index = args.tensor(2);
  const Scalar value = args.scalar(3);
  const Tensor out = args.out(4);
  if (!args.ok()) return true;
  if (!start(self, out)) return false;
  Walk walk{out, index, index};
  if (!walk.prepare(dim)) return false;
  copy(self, out);
  uint64_t filler = 0;
  if (portable::is_floating(out.scalar_type())) {
    portable::storer<double>(out.scalar_type())(&filler, 0, value.to_double());
  } else {
    portable::storer<int64_t>(out.scalar_type())(&filler, 0, value.to_int());
  }
  return with_size(out.element_size(), [&](auto zero) {
    using T = decltype(zero);
    T element;
    std::memcpy(&element, &filler, sizeof(element));
    place_rows(walk, static_cast<const T*>(&element), false, out,
               [](auto* to, auto v) { *to = v; });
  });
}

}  // namespace

// gather.out(Tensor self, int dim, Tensor index, *, bool sparse_grad, out)
void gather_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor index = args.tensor(2);
  const Tensor out = args.out(4);
  if (!args.ok() || gather(self, dim, index, out)) return;
  portable::gather_out(context, raw);
}

void scatter_src_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!scatter(context, raw, false)) portable::scatter_src_out(context, raw);
}

void scatter_add_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!scatter(context, raw, true)) portable::scatter_add_out(context, raw);
}

void scatter_value_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!scatter_value(context, raw)) portable::scatter_value_out(context, raw);
}

}  // namespace petrel::runtime::optimized
