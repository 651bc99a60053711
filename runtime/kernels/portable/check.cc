// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/check.h"

namespace petrel::runtime::portable {

bool fail(KernelRuntimeContext& context, const char* problem) {
  PETREL_LOG(Error, "%s: %s", context.kernel_name(), problem);
  context.fail(Error::InvalidArgument);
  return false;
}

bool check_arithmetic(KernelRuntimeContext& context, const Tensor& tensor) {
  if (is_arithmetic(tensor.scalar_type())) return true;
  PETREL_LOG(Error, "%s: elements of type %s have no arithmetic", context.kernel_name(),
             to_string(tensor.scalar_type()));
  context.fail(Error::NotSupported);
  return false;
}

bool check_floating(KernelRuntimeContext& context, const Tensor& tensor) {
  if (is_floating(tensor.scalar_type())) return true;
  PETREL_LOG(Error, "%s: element type is %s, must be a floating type", context.kernel_name(),
             to_string(tensor.scalar_type()));
  context.fail(Error::InvalidArgument);
  return false;
}

bool check_same_type(KernelRuntimeContext& context, const Tensor& a, const Tensor& b) {
  if (a.scalar_type() == b.scalar_type()) return true;
  PETREL_LOG(Error, "%s: element types %s and %s must be equal", context.kernel_name(),
             to_string(a.scalar_type()), to_string(b.scalar_type()));
  context.fail(Error::InvalidArgument);
  return false;
}

bool check_rank(KernelRuntimeContext& context, const Tensor& tensor, ssize_t rank) {
  if (tensor.dim() == rank) return true;
  PETREL_LOG(Error, "%s: a tensor has rank %zd, must have %zd", context.kernel_name(), tensor.dim(),
             rank);
  context.fail(Error::InvalidArgument);
  return false;
}

bool is_contiguous(const Tensor& tensor) {
  int64_t expected = 1;
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  if (tensor.numel() == 0) return true;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

bool check_contiguous(KernelRuntimeContext& context, const Tensor& tensor) {
  return check(context, is_contiguous(tensor), "a tensor is not contiguous");
}

bool check_apart(KernelRuntimeContext& context, std::initializer_list<Tensor> tensors) {
  for (const Tensor& a : tensors) {
    for (const Tensor& b : tensors) {
      const auto begin = reinterpret_cast<uintptr_t>(a.const_data_ptr());
      const auto other = reinterpret_cast<uintptr_t>(b.const_data_ptr());
      if (&a == &b || a.nbytes() == 0 || b.nbytes() == 0) continue;
      if (!check(context, begin + a.nbytes() <= other || other + b.nbytes() <= begin,
                 "two of its tensors lie in the same memory, which is not supported")) {
        return false;
      }
    }
  }
  return true;
}

bool check_in_place(KernelRuntimeContext& context, const Tensor& out, const Tensor& operand) {
  return check(context,
               out.const_data_ptr() != operand.const_data_ptr() || out.numel() == operand.numel(),
               "its output lies in the memory of an operand that has fewer elements");
}

bool resize_one_out(KernelRuntimeContext& context, const Tensor& out, Span<const SizesType> sizes) {
  const Error error = resize_tensor(out, sizes);
  if (error == Error::Ok) return true;
  PETREL_LOG(Error, "%s: the output cannot take the sizes of the result", context.kernel_name());
  context.fail(error);
  return false;
}

bool resize_out(KernelRuntimeContext& context, const Tensor& out, Span<const SizesType> sizes) {
  return resize_one_out(context, out, sizes) && out.numel() != 0;
}

bool normalize_dim(KernelRuntimeContext& context, int64_t dim, ssize_t rank, size_t* out_dim) {
  const int64_t limit = rank == 0 ? 1 : rank;
  if (dim < -limit || dim >= limit) {
    PETREL_LOG(Error, "%s: dim is %lld, must be in [%lld, %lld)", context.kernel_name(),
               static_cast<long long>(dim), static_cast<long long>(-limit),
               static_cast<long long>(limit));
    context.fail(Error::InvalidArgument);
    return false;
  }
  *out_dim = static_cast<size_t>(dim < 0 ? dim + limit : dim);
  return true;
}

bool place_of(KernelRuntimeContext& context, int64_t index, int64_t size, int64_t* out_place) {
  if (index >= -size && index < size) {
    *out_place = index < 0 ? index + size : index;
    return true;
  }
  PETREL_LOG(Error, "%s: index %lld is outside a dim of size %lld", context.kernel_name(),
             static_cast<long long>(index), static_cast<long long>(size));
  context.fail(Error::InvalidArgument);
  return false;
}

bool fail_index(KernelRuntimeContext& context, int64_t index, int64_t size) {
  PETREL_LOG(Error, "%s: index %lld must be in [0, %lld)", context.kernel_name(),
             static_cast<long long>(index), static_cast<long long>(size));
  context.fail(Error::InvalidArgument);
  return false;
}

size_t product(Span<const SizesType> sizes, size_t begin, size_t end) {
  size_t n = 1;
  for (size_t d = begin; d < end; ++d) n *= static_cast<size_t>(sizes[d]);
  return n;
}

}  // namespace petrel::runtime::portable
