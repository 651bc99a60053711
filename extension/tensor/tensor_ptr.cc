// SPDX-License-Identifier: Apache-2.0
#include "extension/tensor/tensor_ptr.h"

#include <cstring>
#include <numeric>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"

namespace petrel::extension {

using runtime::ScalarType;
using runtime::Span;
using runtime::Tensor;
using runtime::TensorImpl;
using runtime::TensorShapeDynamism;

namespace {

// Everything a tensor refers to, in one place.
struct Storage {
  std::vector<SizesType> sizes;
  std::vector<uint8_t> dim_order;
  std::vector<int64_t> strides;
  std::vector<uint64_t> memory;  // aligned for every element type
  TensorImpl impl;
  Tensor tensor{&impl};
};

// A tensor without data; null when the sizes cannot be.
std::shared_ptr<Storage> make_storage(std::vector<SizesType> sizes, ScalarType type) {
  size_t numel = 0, nbytes = 0;
  if (sizes.size() > runtime::kTensorDimensionLimit ||
      !runtime::checked_numel(Span<const SizesType>(sizes), &numel) ||
      !runtime::checked_mul(numel, runtime::element_size(type), &nbytes)) {
    PETREL_LOG(Error, "a tensor has a negative size, too many dims or too many elements");
    return nullptr;
  }
  auto storage = std::make_shared<Storage>();
  storage->sizes = std::move(sizes);
  storage->dim_order.resize(storage->sizes.size());
  std::iota(storage->dim_order.begin(), storage->dim_order.end(), uint8_t{0});
  storage->strides.resize(storage->sizes.size());
  runtime::compute_strides(Span<const SizesType>(storage->sizes),
                           Span<const uint8_t>(storage->dim_order), storage->strides.data());
  storage->impl = TensorImpl(type, static_cast<ssize_t>(storage->sizes.size()),
                             storage->sizes.data(), nullptr, storage->dim_order.data(),
                             storage->strides.data(), TensorShapeDynamism::DYNAMIC_BOUND);
  return storage;
}

TensorPtr finish(std::shared_ptr<Storage> storage, void* data, size_t capacity) {
  if (storage->impl.set_data(data, capacity) != runtime::Error::Ok) return nullptr;
  Tensor* tensor = &storage->tensor;
  return TensorPtr(std::move(storage), tensor);
}

}  // namespace

TensorPtr from_blob(void* data, std::vector<SizesType> sizes, ScalarType type) {
  auto storage = make_storage(std::move(sizes), type);
  if (storage == nullptr) return nullptr;
  const size_t nbytes = storage->impl.nbytes();
  return finish(std::move(storage), data, nbytes);
}

TensorPtr zeros(std::vector<SizesType> sizes, ScalarType type) {
  auto storage = make_storage(std::move(sizes), type);
  if (storage == nullptr) return nullptr;
  storage->memory.resize(storage->impl.nbytes() / sizeof(uint64_t) + 1);
  void* data = storage->memory.data();
  const size_t capacity = storage->memory.size() * sizeof(uint64_t);
  return finish(std::move(storage), data, capacity);
}

TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, const void* data, size_t nbytes,
                          ScalarType type) {
  TensorPtr tensor = zeros(std::move(sizes), type);
  if (tensor == nullptr) return nullptr;
  if (tensor->nbytes() != nbytes) {
    PETREL_LOG(Error, "%zu bytes are given for a tensor of %zu", nbytes, tensor->nbytes());
    return nullptr;
  }
  if (nbytes > 0) std::memcpy(tensor->mutable_data_ptr(), data, nbytes);
  return tensor;
}

}  // namespace petrel::extension
