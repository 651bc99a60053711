// SPDX-License-Identifier: Apache-2.0
#include "extension/porting/filled.h"

#include <random>

#include "runtime/core/log.h"

namespace petrel::porting::extension {

using aten::Scalar;
using aten::ScalarType;
using aten::SizesType;
using aten::StridesType;
using aten::TensorShapeDynamism;

namespace {

// Draws elements of `Number`, whose type is `drawn`, and makes them elements of `type`.
template <typename Number, typename Distribution>
TensorPtr random_numbers(Distribution distribution, ScalarType drawn, std::vector<SizesType> sizes,
                         std::vector<StridesType> strides, ScalarType type,
                         TensorShapeDynamism dynamism) {
  TensorPtr tensor = full_strided(std::move(sizes), std::move(strides), 0, drawn, dynamism);
  if (tensor == nullptr) return nullptr;
  std::mt19937_64 bits(std::random_device{}());
  Number* numbers = tensor->mutable_data_ptr<Number>();
  for (size_t i = 0; i < tensor->numel(); ++i) numbers[i] = distribution(bits);
  return type == drawn ? tensor : clone_tensor_ptr(tensor, type);
}

ScalarType type_or(ScalarType type, const TensorPtr& other) {
  return type == ScalarType::Undefined ? other->scalar_type() : type;
}

std::vector<SizesType> sizes_of(const TensorPtr& tensor) {
  return {tensor->sizes().begin(), tensor->sizes().end()};
}

std::vector<StridesType> strides_of(const TensorPtr& tensor) {
  return {tensor->strides().begin(), tensor->strides().end()};
}

}  // namespace

TensorPtr full_strided(std::vector<SizesType> sizes, std::vector<StridesType> strides,
                       Scalar number, ScalarType type, TensorShapeDynamism dynamism) {
  // Zeros are there for types that C++ has no numbers of.
  const bool is_zero = number.isIntegral(true) && number.to_int() == 0;
  TensorPtr dense = is_zero ? zeros(sizes, type, dynamism) : full(sizes, number, type, dynamism);
  if (dense == nullptr || strides.empty()) return dense;
  return ::petrel::extension::tensor_of_bytes(std::move(sizes), dense->const_data_ptr(),
                                              dense->nbytes(), type, {}, std::move(strides),
                                              dynamism);
}

TensorPtr rand_strided(std::vector<SizesType> sizes, std::vector<StridesType> strides,
                       ScalarType type, TensorShapeDynamism dynamism) {
  // Drawn as float: a double next to 1 would be rounded to it.
  return random_numbers<float>(std::uniform_real_distribution<float>(0.0f, 1.0f), ScalarType::Float,
                               std::move(sizes), std::move(strides), type, dynamism);
}

TensorPtr randn_strided(std::vector<SizesType> sizes, std::vector<StridesType> strides,
                        ScalarType type, TensorShapeDynamism dynamism) {
  return random_numbers<double>(std::normal_distribution<double>(), ScalarType::Double,
                                std::move(sizes), std::move(strides), type, dynamism);
}

TensorPtr randint_strided(int64_t low, int64_t high, std::vector<SizesType> sizes,
                          std::vector<StridesType> strides, ScalarType type,
                          TensorShapeDynamism dynamism) {
  if (low >= high) {
    PETREL_LOG(Error, "random integers from %lld to below %lld: there are none",
               static_cast<long long>(low), static_cast<long long>(high));
    return nullptr;
  }
  return random_numbers<int64_t>(std::uniform_int_distribution<int64_t>(low, high - 1),
                                 ScalarType::Long, std::move(sizes), std::move(strides), type,
                                 dynamism);
}

TensorPtr full_like(const TensorPtr& other, Scalar number, ScalarType type,
                    TensorShapeDynamism dynamism) {
  return full_strided(sizes_of(other), strides_of(other), number, type_or(type, other), dynamism);
}

TensorPtr rand_like(const TensorPtr& other, ScalarType type, TensorShapeDynamism dynamism) {
  return rand_strided(sizes_of(other), strides_of(other), type_or(type, other), dynamism);
}

TensorPtr randn_like(const TensorPtr& other, ScalarType type, TensorShapeDynamism dynamism) {
  return randn_strided(sizes_of(other), strides_of(other), type_or(type, other), dynamism);
}

TensorPtr randint_like(const TensorPtr& other, int64_t low, int64_t high, ScalarType type,
                       TensorShapeDynamism dynamism) {
  return randint_strided(low, high, sizes_of(other), strides_of(other), type_or(type, other),
                         dynamism);
}

}  // namespace petrel::porting::extension
