// SPDX-License-Identifier: Apache-2.0
//
// The checks that kernels share. Each fails the context with a message that
// names the kernel, and returns false.
//
//   if (!check_arithmetic(context, self) || !resize_out(context, out, sizes)) return;
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_CHECK_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_CHECK_H_

#include <cstdint>
#include <initializer_list>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/core/tensor.h"
#include "runtime/kernel/kernel_args.h"
#include "runtime/kernel/kernel_runtime_context.h"
#include "runtime/kernels/portable/element.h"
#include "runtime/kernels/portable/strided_loop.h"

namespace petrel::runtime::portable {

// Fails with InvalidArgument and `problem`, a sentence part.
bool fail(KernelRuntimeContext& context, const char* problem);

// `condition`, failing with `problem` when it does not hold.
inline bool check(KernelRuntimeContext& context, bool condition, const char* problem) {
  return condition || fail(context, problem);
}

// The element type is one that kernels compute with.
bool check_arithmetic(KernelRuntimeContext& context, const Tensor& tensor);
bool check_floating(KernelRuntimeContext& context, const Tensor& tensor);
bool check_same_type(KernelRuntimeContext& context, const Tensor& a, const Tensor& b);
bool check_rank(KernelRuntimeContext& context, const Tensor& tensor, ssize_t rank);
// Elements in logical order: strides as of a contiguous tensor.
bool check_contiguous(KernelRuntimeContext& context, const Tensor& tensor);

// No byte belongs to two of the tensors. For kernels that read again what they
// have written.
bool check_apart(KernelRuntimeContext& context, std::initializer_list<Tensor> tensors);

// An output in the memory of an operand is written element by element as that is read,
// so the operand must not be one that broadcasts.
bool check_in_place(KernelRuntimeContext& context, const Tensor& out, const Tensor& operand);

// Gives `out` its sizes. Also false when it has no elements then: nothing is left
// to do, and loops over rows of nothing may have 2^62 turns.
bool resize_out(KernelRuntimeContext& context, const Tensor& out, Span<const SizesType> sizes);

// The same for one of several results, of which others may have elements: false
// only when the call has failed.
bool resize_one_out(KernelRuntimeContext& context, const Tensor& out, Span<const SizesType> sizes);

// Pays for `each` operations for every element of `out`.
inline bool charge_each(KernelRuntimeContext& context, const Tensor& out, int64_t each) {
  return context.charge(out.numel(), static_cast<uint64_t>(each));
}
// The same for a product, each element of which sums over the last dim of `a`.
inline bool charge_product(KernelRuntimeContext& context, const Tensor& out, const Tensor& a) {
  return charge_each(context, out, a.size(a.dim() - 1));
}

// The same for the first `k` in order: every element may sink through a heap of k.
inline bool charge_order(KernelRuntimeContext& context, const Tensor& self, int64_t k) {
  uint64_t depth = 1;
  while (depth < 32 && k >> depth != 0) ++depth;
  return context.charge(self.numel(), depth);
}

// Where an operator indexes along a dim, a tensor without dims counts as a list of one element.
inline ssize_t rank_as_list(const Tensor& tensor) { return tensor.dim() == 0 ? 1 : tensor.dim(); }
struct Along {
  int64_t size = 1, stride = 0;
  Along(const Tensor& tensor, size_t d) {
    if (d >= tensor.sizes().size()) return;
    size = tensor.sizes()[d];
    stride = tensor.strides()[d];
  }
};

// A dimension in [-rank, rank) as one in [0, rank); rank 0 counts as 1.
bool normalize_dim(KernelRuntimeContext& context, int64_t dim, ssize_t rank, size_t* out_dim);

// An index in [-size, size), which is data, as a place in [0, size).
bool place_of(KernelRuntimeContext& context, int64_t index, int64_t size, int64_t* out_place);

// An index, which is data, is in [0, size): for operators that do not count from the end.
bool fail_index(KernelRuntimeContext& context, int64_t index, int64_t size);
inline bool check_index(KernelRuntimeContext& context, int64_t index, int64_t size) {
  return static_cast<uint64_t>(index) < static_cast<uint64_t>(size) ||
         fail_index(context, index, size);
}

// True when dims are in default order, sizes of 0 or 1 not counted.
bool is_contiguous(const Tensor& tensor);

// Product of sizes[begin, end).
size_t product(Span<const SizesType> sizes, size_t begin, size_t end);

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_CHECK_H_
