// SPDX-License-Identifier: Apache-2.0
#include "extension/porting/tensors.h"

#include <algorithm>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"

namespace petrel::porting::extension {

using aten::DimOrderType;
using aten::ScalarType;
using aten::SizesType;
using aten::StridesType;
using aten::Tensor;
using aten::TensorShapeDynamism;
using ::petrel::runtime::Span;

TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, void* data,
                          std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
                          ScalarType type, aten::Device device, TensorShapeDynamism dynamism,
                          std::function<void(void*)> deleter) {
  if (!device.is_cpu()) {
    PETREL_LOG(Error, "a tensor is asked for on device type %d, but there is the CPU alone",
               static_cast<int>(device.type()));
    if (deleter) deleter(data);
    return nullptr;
  }
  return ::petrel::extension::make_tensor_ptr(std::move(sizes), data, std::move(dim_order),
                                              std::move(strides), type, dynamism,
                                              std::move(deleter));
}

TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, std::vector<uint8_t> data,
                          std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
                          ScalarType type, TensorShapeDynamism dynamism) {
  return ::petrel::extension::tensor_of_bytes(std::move(sizes), data.data(), data.size(), type,
                                              std::move(dim_order), std::move(strides), dynamism);
}

TensorPtr make_tensor_ptr(const Tensor& tensor, std::vector<SizesType> sizes,
                          std::vector<DimOrderType> dim_order, std::vector<StridesType> strides,
                          std::function<void(void*)> deleter) {
  void* data = tensor.mutable_data_ptr();
  if (sizes.empty()) sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  size_t numel = 0;
  if (!::petrel::runtime::checked_numel(Span<const SizesType>(sizes), &numel) ||
      numel > tensor.numel()) {
    PETREL_LOG(Error, "a tensor over another that has %zu elements has more, or a negative size",
               tensor.numel());
    if (deleter) deleter(data);
    return nullptr;
  }
  const bool is_rank_kept = sizes.size() == static_cast<size_t>(tensor.dim());
  if (dim_order.empty() && strides.empty() && is_rank_kept) {
    dim_order.assign(tensor.dim_order().begin(), tensor.dim_order().end());
  }
  return ::petrel::extension::make_tensor_ptr(std::move(sizes), data, std::move(dim_order),
                                              std::move(strides), tensor.scalar_type(),
                                              tensor.shape_dynamism(), std::move(deleter));
}

}  // namespace petrel::porting::extension
