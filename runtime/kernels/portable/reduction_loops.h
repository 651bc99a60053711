// SPDX-License-Identifier: Apache-2.0
//
// What reductions and softmax share: the dimensions that are reduced, and a
// loop over the kept ones around a loop over those.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_REDUCTION_LOOPS_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_REDUCTION_LOOPS_H_

#include "runtime/kernels/portable/check.h"

namespace petrel::runtime::portable {

struct Dims {
  bool reduced[kTensorDimensionLimit] = {};
};

// None or an empty list means all.
inline bool read_dims(KernelRuntimeContext& context, std::optional<Span<const int64_t>> list,
                      ssize_t rank, Dims* out) {
  if (!list || list->empty()) {
    for (ssize_t d = 0; d < rank; ++d) out->reduced[d] = true;
    return true;
  }
  for (const int64_t dim : *list) {
    size_t d = 0;
    if (!normalize_dim(context, dim, rank, &d)) return false;
    if (rank == 0) continue;
    if (!check(context, !out->reduced[d], "a dim is named twice")) return false;
    out->reduced[d] = true;
  }
  return true;
}

inline bool read_dim(KernelRuntimeContext& context, int64_t dim, ssize_t rank, Dims* out) {
  return read_dims(context, Span<const int64_t>(&dim, 1), rank, out);
}

inline bool resize_reduced(KernelRuntimeContext& context, const Tensor& self, const Dims& dims,
                           bool keepdim, const Tensor& out) {
  SizeArray sizes;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (!dims.reduced[d]) {
      sizes[sizes.rank++] = self.sizes()[d];
    } else if (keepdim) {
      sizes[sizes.rank++] = 1;
    }
  }
  return resize_one_out(context, out, sizes.span()) && check_contiguous(context, out);
}

// The two nested loops: `outer` walks the kept dimensions of self, `inner` the
// reduced ones.
struct Loops {
  SizeArray kept, reduced;
  int64_t kept_strides[kTensorDimensionLimit], reduced_strides[kTensorDimensionLimit];

  Loops(const Tensor& self, const Dims& dims) {
    for (size_t d = 0; d < self.sizes().size(); ++d) {
      SizeArray& sizes = dims.reduced[d] ? reduced : kept;
      (dims.reduced[d] ? reduced_strides : kept_strides)[sizes.rank] = self.strides()[d];
      sizes[sizes.rank++] = self.sizes()[d];
    }
  }

  size_t reduced_numel() const { return product(reduced.span(), 0, reduced.rank); }

  // fn(k, offset): element k of the output begins at `offset` of self.
  template <typename Fn>
  void outer(Fn fn) const {
    size_t k = 0;
    run(kept, kept_strides, [&](int64_t offset) { fn(k++, offset); });
  }
  // fn(offset) relative to the offset above, last dimension fastest.
  template <typename Fn>
  void inner(Fn fn) const {
    run(reduced, reduced_strides, fn);
  }

 private:
  template <typename Fn>
  static void run(const SizeArray& sizes, const int64_t* strides, Fn fn) {
    StridedLoop<1> loop(sizes.span());
    loop.strides_of(0, sizes.span(), {strides, sizes.rank});
    loop.run([&](const int64_t* at) { fn(at[0]); });
  }
};

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_REDUCTION_LOOPS_H_
