// SPDX-License-Identifier: Apache-2.0
#include "extension/tensor/tensor_ptr.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "extension/tensor/filled.h"
#include "extension/tensor/numbers.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"

namespace petrel::extension {

using runtime::Scalar;
using runtime::ScalarType;
using runtime::Span;
using runtime::Tensor;
using runtime::TensorImpl;
using runtime::TensorShapeDynamism;

namespace {

// Everything a tensor refers to, in one place.
struct Storage {
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() {
    if (deleter) deleter(deleted);
  }

  std::vector<SizesType> sizes;
  std::vector<DimOrderType> dim_order;
  std::vector<StridesType> strides;
  std::vector<uint64_t> memory;  // aligned for every element type
  DataDeleter deleter;
  void* deleted = nullptr;
  TensorImpl impl;
  Tensor tensor{&impl};
};

// How a tensor lies in memory, as far as it is given.
struct Layout {
  std::vector<DimOrderType> dim_order;
  std::vector<StridesType> strides;
};

// The dims from the outermost to the innermost; equal strides in the order of the dims.
std::vector<DimOrderType> order_of(const std::vector<StridesType>& strides) {
  std::vector<DimOrderType> order(strides.size());
  std::iota(order.begin(), order.end(), DimOrderType{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](DimOrderType a, DimOrderType b) { return strides[a] > strides[b]; });
  return order;
}

// Completes dim order and strides; false if they are not those of a dense tensor.
bool lay_out(Storage* storage, const Layout& layout) {
  const size_t rank = storage->sizes.size();
  storage->dim_order = layout.dim_order;
  if (storage->dim_order.empty()) {
    storage->dim_order = layout.strides.size() == rank
                             ? order_of(layout.strides)
                             : order_of(std::vector<StridesType>(rank, 0));
  }
  if (storage->dim_order.size() != rank ||
      !runtime::is_permutation(Span<const DimOrderType>(storage->dim_order))) {
    PETREL_LOG(Error, "a dim order is no permutation of %zu dims", rank);
    return false;
  }
  storage->strides.resize(rank);
  runtime::compute_strides(Span<const SizesType>(storage->sizes),
                           Span<const DimOrderType>(storage->dim_order), storage->strides.data());
  if (layout.strides.empty()) return true;
  for (size_t d = 0; d < rank; ++d) {
    // The stride of a single element is never used.
    const bool is_used = storage->sizes[d] != 1;
    if (layout.strides.size() != rank || (is_used && layout.strides[d] != storage->strides[d])) {
      PETREL_LOG(Error, "the strides of a tensor are not those of dense elements");
      return false;
    }
  }
  return true;
}

// A tensor without data; null when the sizes cannot be.
std::shared_ptr<Storage> make_storage(std::vector<SizesType> sizes, const Layout& layout,
                                      ScalarType type, TensorShapeDynamism dynamism) {
  size_t numel = 0, nbytes = 0;
  if (sizes.size() > runtime::kTensorDimensionLimit || !runtime::is_valid(type) ||
      !runtime::checked_numel(Span<const SizesType>(sizes), &numel) ||
      !runtime::checked_mul(numel, runtime::element_size(type), &nbytes)) {
    PETREL_LOG(Error, "a tensor has a negative size, too many dims or too many elements");
    return nullptr;
  }
  auto storage = std::make_shared<Storage>();
  storage->sizes = std::move(sizes);
  if (!lay_out(storage.get(), layout)) return nullptr;
  storage->impl =
      TensorImpl(type, static_cast<ssize_t>(storage->sizes.size()), storage->sizes.data(), nullptr,
                 storage->dim_order.data(), storage->strides.data(), dynamism);
  return storage;
}

TensorPtr finish(std::shared_ptr<Storage> storage, void* data, size_t capacity) {
  if (storage->impl.set_data(data, capacity) != runtime::Error::Ok) return nullptr;
  Tensor* tensor = &storage->tensor;
  return TensorPtr(std::move(storage), tensor);
}

TensorPtr make_zeros(std::vector<SizesType> sizes, const Layout& layout, ScalarType type,
                     TensorShapeDynamism dynamism) {
  auto storage = make_storage(std::move(sizes), layout, type, dynamism);
  if (storage == nullptr) return nullptr;
  storage->memory.resize(storage->impl.nbytes() / sizeof(uint64_t) + 1);
  void* data = storage->memory.data();
  const size_t capacity = storage->memory.size() * sizeof(uint64_t);
  return finish(std::move(storage), data, capacity);
}

}  // namespace

TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, void* data,
                          std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
                          ScalarType type, TensorShapeDynamism dynamism, DataDeleter deleter) {
  auto storage =
      make_storage(std::move(sizes), {std::move(dim_order), std::move(strides)}, type, dynamism);
  if (storage == nullptr) {
    if (deleter) deleter(data);
    return nullptr;
  }
  storage->deleter = std::move(deleter);
  storage->deleted = data;
  const size_t nbytes = storage->impl.nbytes();
  return finish(std::move(storage), data, nbytes);
}

TensorPtr tensor_of_bytes(std::vector<SizesType> sizes, const void* data, size_t nbytes,
                          ScalarType type, std::vector<DimOrderType> dim_order,
                          std::vector<StridesType> strides, TensorShapeDynamism dynamism) {
  TensorPtr tensor =
      make_zeros(std::move(sizes), {std::move(dim_order), std::move(strides)}, type, dynamism);
  if (tensor == nullptr) return nullptr;
  if (tensor->nbytes() != nbytes) {
    PETREL_LOG(Error, "%zu bytes are given for a tensor of %zu", nbytes, tensor->nbytes());
    return nullptr;
  }
  if (nbytes > 0) std::memcpy(tensor->mutable_data_ptr(), data, nbytes);
  return tensor;
}

TensorPtr clone_tensor_ptr(const Tensor& from, ScalarType type) {
  if (!from.impl()->is_consistent()) {
    PETREL_LOG(Error, "a tensor of %zu elements has impossible sizes, or those of another one",
               from.numel());
    return nullptr;
  }
  const Span<const DimOrderType> order = from.dim_order();
  TensorPtr tensor = make_zeros({from.sizes().begin(), from.sizes().end()},
                                {{order.begin(), order.end()}, {}}, type, from.shape_dynamism());
  if (tensor == nullptr) return nullptr;
  if (from.nbytes() > 0 && from.const_data_ptr() == nullptr) {
    PETREL_LOG(Error, "a tensor without data cannot be copied");
    return nullptr;
  }
  if (type == from.scalar_type()) {
    return runtime::copy_bytes(from, *tensor) == runtime::Error::Ok ? tensor : nullptr;
  }
  return convert_numbers(from, *tensor) ? tensor : nullptr;
}

TensorPtr zeros(std::vector<SizesType> sizes, ScalarType type, TensorShapeDynamism dynamism) {
  return make_zeros(std::move(sizes), {}, type, dynamism);
}

TensorPtr full(std::vector<SizesType> sizes, Scalar number, ScalarType type,
               TensorShapeDynamism dynamism) {
  TensorPtr tensor = zeros(std::move(sizes), type, dynamism);
  if (tensor == nullptr || !fill_numbers(number, *tensor)) return nullptr;
  return tensor;
}

}  // namespace petrel::extension
