// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <cstring>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/kernel/kernel_args.h"
#include "runtime/executor/prim_ops.h"

namespace petrel::runtime {
namespace {

// Writes the sizes of a view of `numel` elements; the one that is -1 becomes
// what is left.
bool resolve_view_sizes(Span<const int64_t> requested, size_t numel, int32_t* out_sizes) {
  if (requested.size() > kTensorDimensionLimit) return false;
  size_t known = 1;
  size_t inferred = requested.size();
  for (size_t i = 0; i < requested.size(); ++i) {
    if (requested[i] == -1 && inferred == requested.size()) {
      inferred = i;
    } else if (requested[i] < 0 || !checked_cast(requested[i], &out_sizes[i]) ||
               !checked_mul(known, static_cast<size_t>(requested[i]), &known)) {
      return false;
    }
  }
  if (inferred == requested.size()) return known == numel;
  return known != 0 && numel % known == 0 && checked_cast(numel / known, &out_sizes[inferred]);
}

}  // namespace

void prim_view(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const Span<const int64_t> size = args.int_list(1);
  if (!args.ok()) return;
  // `out` has no memory of its own, so it is not read like other outputs.
  const Result<Tensor> out = raw[2]->tryToTensor();
  if (!out.ok() || out->scalar_type() != self.scalar_type()) {
    PETREL_LOG(Error, "%s: argument 2 must be a tensor of the type of argument 0",
               context.kernel_name());
    return context.fail(Error::InvalidProgram);
  }
  int32_t sizes[kTensorDimensionLimit];
  if (!resolve_view_sizes(size, self.numel(), sizes)) {
    PETREL_LOG(Error, "%s: a tensor of %zu elements has no view of the sizes asked for",
               context.kernel_name(), self.numel());
    return context.fail(Error::InvalidProgram);
  }
  TensorImpl* const view = out->impl();
  if (view == self.impl()) return;
  const Error error = view->rebind(Span<const int32_t>(sizes, size.size()), self.mutable_data_ptr(),
                                   self.impl()->capacity());
  if (error != Error::Ok) return context.fail(error);
  view->set_constant(self.is_constant());
}

void prim_copy_index(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor to = args.out(0);
  const Tensor from = args.tensor(1);
  const int64_t index = args.integer(2);
  if (!args.ok()) return;
  int32_t rows = 0;
  bool fits = to.scalar_type() == from.scalar_type() && to.dim() == from.dim() + 1 &&
              is_contiguous_dim_order(to.dim_order()) &&
              is_contiguous_dim_order(from.dim_order()) && index >= 0 &&
              checked_add(index, 1, &rows);
  for (ssize_t i = 0; fits && i < from.dim(); ++i) fits = to.size(i + 1) == from.size(i);
  if (!fits) {
    PETREL_LOG(Error, "%s: argument 1 is not a row %" PRId64 " of argument 0",
               context.kernel_name(), index);
    return context.fail(Error::InvalidProgram);
  }
  const bool begins = index == 0 && to.shape_dynamism() != TensorShapeDynamism::STATIC;
  if (to.size(0) < rows || begins) {
    int32_t sizes[kTensorDimensionLimit];
    sizes[0] = rows;
    for (ssize_t i = 1; i < to.dim(); ++i) sizes[i] = to.sizes()[static_cast<size_t>(i)];
    const Error error =
        resize_tensor(to, Span<const int32_t>(sizes, static_cast<size_t>(to.dim())));
    if (error != Error::Ok) return context.fail(error);
  }
  const size_t bytes = from.nbytes();
  if (bytes == 0) return;
  // Within `to`: it has more than `index` rows of that size.
  std::memmove(to.mutable_data_ptr<uint8_t>() + static_cast<size_t>(index) * bytes,
               from.const_data_ptr(), bytes);
}

}  // namespace petrel::runtime
