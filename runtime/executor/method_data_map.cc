// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/method_data_map.h"

#include <cstring>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"

namespace petrel::runtime {

Result<FreeableBuffer> MethodDataMap::get_data(std::string_view key) const {
  Result<FreeableBuffer> first = first_.get_data(key);
  if (!first.ok() && first.error() != Error::NotFound) return first;
  if (first.ok() && precedence_ != DataPrecedence::RefuseDifferent) return first;
  Result<FreeableBuffer> second = second_.get_data(key);
  if (!first.ok()) return second;
  if (!second.ok()) {
    if (second.error() == Error::NotFound) return first;
    return second;
  }
  if (first->size() != second->size() ||
      (first->size() != 0 && std::memcmp(first->data(), second->data(), first->size()) != 0)) {
    PETREL_LOG(Error,
               "data \"%.*s\" is %zu bytes in the data map and %zu other bytes in the program",
               static_cast<int>(key.size()), key.data(), first->size(), second->size());
    return Error::InvalidExternalData;
  }
  return first;
}

Result<uint32_t> MethodDataMap::get_num_keys() const {
  PETREL_ASSIGN_OR_RETURN(const uint32_t external, external_.get_num_keys());
  PETREL_ASSIGN_OR_RETURN(const uint32_t program, program_.get_num_keys());
  uint32_t sum = 0;
  if (!checked_add(external, program, &sum)) return Error::NotSupported;
  return sum;
}

Result<const char*> MethodDataMap::get_key(uint32_t index) const {
  PETREL_ASSIGN_OR_RETURN(const uint32_t external, external_.get_num_keys());
  return index < external ? external_.get_key(index) : program_.get_key(index - external);
}

Result<const TensorLayout> MethodDataMap::get_tensor_layout(std::string_view key) const {
  Result<const TensorLayout> layout = first_.get_tensor_layout(key);
  if (layout.ok() || layout.error() != Error::NotFound) return layout;
  return second_.get_tensor_layout(key);
}

Result<BytePlace> MethodDataMap::find_place(std::string_view key, size_t size) const {
  if constexpr (!kKnowsPlaces) return Error::NotSupported;
  const Result<BytePlace> first = first_.find_place(key, size);
  if (first.error() == Error::NotFound) return second_.find_place(key, size);
  if (!first.ok()) return first.error();
  // What both have must be loaded to be compared.
  const bool is_compared = precedence_ == DataPrecedence::RefuseDifferent &&
                           second_.find_place(key, size).error() != Error::NotFound;
  if (is_compared) return Error::NotSupported;
  return *first;
}

// Where both have the key, the bytes of the first count.
Result<bool> MethodDataMap::is_in_place(std::string_view key) const {
  Result<bool> first = first_.is_in_place(key);
  if (first.error() == Error::NotFound) return second_.is_in_place(key);
  return first;
}

}  // namespace petrel::runtime
