// SPDX-License-Identifier: Apache-2.0
//
// Tensors that own memory with one number or random numbers in it, as ExecuTorch's apps ask
// for them:
//
//   TensorPtr noise = randn({1, 16, 64});
//   TensorPtr tokens = randint(0, 32000, {1, 128}, ScalarType::Long);
//   TensorPtr mask = ones_like(noise, ScalarType::Bool);
//
// Those of extension/tensor/filled.h do not take strides, or another type than `other`. Null,
// with the reason in the log, for what these refuse. Random numbers differ from run to run and
// serve no cryptography.
#ifndef PETREL_EXTENSION_PORTING_FILLED_H_
#define PETREL_EXTENSION_PORTING_FILLED_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "extension/porting/names.h"

namespace petrel::porting::extension {

TensorPtr full_strided(
    std::vector<aten::SizesType> sizes, std::vector<aten::StridesType> strides, aten::Scalar number,
    aten::ScalarType type = aten::ScalarType::Float,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND);
// From [0, 1).
TensorPtr rand_strided(
    std::vector<aten::SizesType> sizes, std::vector<aten::StridesType> strides,
    aten::ScalarType type = aten::ScalarType::Float,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND);
// Of mean 0 and deviation 1.
TensorPtr randn_strided(
    std::vector<aten::SizesType> sizes, std::vector<aten::StridesType> strides,
    aten::ScalarType type = aten::ScalarType::Float,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND);
// From [low, high).
TensorPtr randint_strided(
    int64_t low, int64_t high, std::vector<aten::SizesType> sizes,
    std::vector<aten::StridesType> strides, aten::ScalarType type = aten::ScalarType::Int,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND);

inline TensorPtr empty_strided(
    std::vector<aten::SizesType> sizes, std::vector<aten::StridesType> strides,
    aten::ScalarType type = aten::ScalarType::Float,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return full_strided(std::move(sizes), std::move(strides), 0, type, dynamism);
}
inline TensorPtr rand(
    std::vector<aten::SizesType> sizes, aten::ScalarType type = aten::ScalarType::Float,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return rand_strided(std::move(sizes), {}, type, dynamism);
}
inline TensorPtr randn(
    std::vector<aten::SizesType> sizes, aten::ScalarType type = aten::ScalarType::Float,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return randn_strided(std::move(sizes), {}, type, dynamism);
}
inline TensorPtr randint(
    int64_t low, int64_t high, std::vector<aten::SizesType> sizes,
    aten::ScalarType type = aten::ScalarType::Int,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return randint_strided(low, high, std::move(sizes), {}, type, dynamism);
}

// As `other` lies, of its type if none is given.
TensorPtr full_like(const TensorPtr& other, aten::Scalar number,
                    aten::ScalarType type = aten::ScalarType::Undefined,
                    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr rand_like(const TensorPtr& other, aten::ScalarType type = aten::ScalarType::Undefined,
                    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr randn_like(const TensorPtr& other, aten::ScalarType type = aten::ScalarType::Undefined,
                     aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND);
TensorPtr randint_like(
    const TensorPtr& other, int64_t low, int64_t high,
    aten::ScalarType type = aten::ScalarType::Undefined,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND);
inline TensorPtr empty_like(
    const TensorPtr& other, aten::ScalarType type = aten::ScalarType::Undefined,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return full_like(other, 0, type, dynamism);
}
inline TensorPtr zeros_like(
    const TensorPtr& other, aten::ScalarType type = aten::ScalarType::Undefined,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return full_like(other, 0, type, dynamism);
}
inline TensorPtr ones_like(
    const TensorPtr& other, aten::ScalarType type = aten::ScalarType::Undefined,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return full_like(other, 1, type, dynamism);
}

}  // namespace petrel::porting::extension

#endif  // PETREL_EXTENSION_PORTING_FILLED_H_
