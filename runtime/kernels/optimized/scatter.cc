// SPDX-License-Identifier: Apache-2.0
//
// gather and the scatters of contiguous tensors, a piece of a row of the index at
// a time.
//
//   dim last:  out[base + index[i]]                scatter, and gather the other
//   others:    out[base + index[i] * stride + i]   way round
//
// The indices of a piece become offsets in memory of the call, checked as they
// are read: writing elements changes no offset, whatever memory they share.
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
    if (at.dim() != rank || beside.dim() != rank || d < 0 || d >= rank ||
        index.scalar_type() != ScalarType::Long || !is_contiguous(index) || !is_contiguous(at) ||
        !is_contiguous(beside)) {
      return false;
    }
    dim = static_cast<size_t>(d);
    for (size_t i = 0; i < index.sizes().size(); ++i) {
      const auto size = index.sizes()[i];
      if (size > beside.sizes()[i] || (i != dim && size > at.sizes()[i])) return false;
    }
    return true;
  }

  // fn(offsets, n, base in `at`, base in `beside`): element i of the piece is at
  // base + offsets[i] of `at`. An index outside its dim fails the context and
  // ends the walk.
  template <typename Fn>
  void for_each_piece(KernelRuntimeContext& context, const Fn& fn) const {
    walk(
        context,
        [](const void* own, const int64_t* offsets, size_t n, int64_t base, int64_t place) {
          (*static_cast<const Fn*>(own))(offsets, n, base, place);
        },
        &fn);
  }

  // The same once for all functions.
  using Piece = void (*)(const void* own, const int64_t* offsets, size_t n, int64_t base,
                         int64_t place);
  __attribute__((noinline)) void walk(KernelRuntimeContext& context, Piece piece,
                                      const void* own) const {
    const size_t rank = index.sizes().size(), last = rank - 1;
    const size_t n = static_cast<size_t>(index.sizes()[last]);
    if (n == 0) return;  // however many rows of nothing there are
    int64_t strides[kTensorDimensionLimit];
    for (size_t d = 0; d < last; ++d) strides[d] = d == dim ? 0 : at.strides()[d];
    const Span<const portable::SizesType> sizes(index.sizes().data(), last);
    portable::StridedLoop<2> rows(sizes);
    rows.strides_of(0, sizes, {strides, last});
    rows.strides_of(1, sizes, {beside.strides().data(), last});
    const int64_t* data = index.const_data_ptr<int64_t>();
    int64_t offsets[kPiece];
    rows.run([&](const int64_t* base) {
      for (size_t first = 0; first < n; first += kPiece) {
        const size_t count = n - first < kPiece ? n - first : kPiece;
        if (!find(context, data + first, first, count, offsets)) return;
        piece(own, offsets, count, base[0], base[1] + static_cast<int64_t>(first));
      }
      data += n;
    });
  }

  static constexpr size_t kPiece = 128;

  // Offsets of `n` elements of a row, from place `first` of it on.
  bool find(KernelRuntimeContext& context, const int64_t* indices, size_t first, size_t n,
            int64_t* offsets) const {
    if (context.failure_state() != Error::Ok) return false;
    const int64_t size = at.sizes()[dim];
    const bool is_last = dim + 1 == index.sizes().size();
    const int64_t step = is_last ? 1 : at.strides()[dim];
    const auto along = static_cast<int64_t>(is_last ? 0 : 1);
    for (size_t i = 0; i < n; ++i) {
      const int64_t place = indices[i];
      if (!portable::check_index(context, place, size)) return false;
      offsets[i] = place * step + static_cast<int64_t>(first + i) * along;
    }
    return true;
  }
};

bool gather(KernelRuntimeContext& context, const Tensor& self, int64_t dim, const Tensor& index,
            const Tensor& out) {
  if (self.scalar_type() != out.scalar_type() || resize_tensor(out, index.sizes()) != Error::Ok) {
    return false;
  }
  Walk walk{self, index, out};
  if (!walk.prepare(dim)) return false;
  return with_size(out.element_size(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    walk.for_each_piece(context,
                        [&](const int64_t* offsets, size_t n, int64_t base, int64_t place) {
                          const T* row = from + base;
                          T* result = to + place;
                          for (size_t i = 0; i < n; ++i) result[i] = row[offsets[i]];
                        });
  });
}

template <typename T, typename Place>
void place_rows(KernelRuntimeContext& context, const Walk& walk, const T* from, bool source_moves,
                const Tensor& out, const Place& place) {
  T* to = static_cast<T*>(out.mutable_data_ptr());
  walk.for_each_piece(context, [&](const int64_t* offsets, size_t n, int64_t base, int64_t source) {
    const T* row = source_moves ? from + source : from;
    T* result = to + base;
    for (size_t i = 0; i < n; ++i) place(&result[offsets[i]], row[source_moves ? i : 0]);
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
    place_rows(context, walk, static_cast<const T*>(source.const_data_ptr()), true, out, place);
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
    place_rows(context, walk, static_cast<const T*>(&element), false, out,
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
  if (!args.ok() || gather(context, self, dim, index, out)) return;
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
