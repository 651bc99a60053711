// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/named_data_map.h"

#include <cstring>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/core/tensor.h"

namespace petrel::runtime {

Result<const TensorLayout> TensorLayout::create(Span<const int32_t> sizes,
                                                Span<const uint8_t> dim_order,
                                                ScalarType scalar_type) {
  if (!is_valid(scalar_type)) {
    PETREL_LOG(Error, "a tensor layout has type %d, which is unknown",
               static_cast<int>(scalar_type));
    return Error::InvalidArgument;
  }
  if (sizes.size() > kTensorDimensionLimit) {
    PETREL_LOG(Error, "a tensor layout has rank %zu, must be at most %zu", sizes.size(),
               kTensorDimensionLimit);
    return Error::InvalidArgument;
  }
  if (sizes.size() != dim_order.size() || !is_permutation(dim_order)) {
    PETREL_LOG(Error, "the dim order of a tensor layout is not a permutation of its %zu dimensions",
               sizes.size());
    return Error::InvalidArgument;
  }
  size_t numel = 0;
  size_t bytes = 0;
  if (!checked_numel(sizes, &numel) || !checked_nbytes(numel, element_size(scalar_type), &bytes)) {
    PETREL_LOG(Error, "the sizes of a tensor layout are negative or their product overflows");
    return Error::InvalidArgument;
  }
  return TensorLayout(sizes, dim_order, scalar_type, bytes);
}

Result<const TensorLayout> NamedDataMap::get_tensor_layout(std::string_view) const {
  return Error::NotImplemented;
}

Error NamedDataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  PETREL_ASSIGN_OR_RETURN(FreeableBuffer data, get_data(key));
  if (data.size() < size) {
    PETREL_LOG(Error, "data \"%.*s\" has %zu bytes, but %zu are needed",
               static_cast<int>(key.size()), key.data(), data.size(), size);
    return Error::InvalidArgument;
  }
  if (size != 0) std::memcpy(buffer, data.data(), size);
  return Error::Ok;
}

Result<BytePlace> NamedDataMap::find_place(std::string_view, size_t) const {
  return Error::NotImplemented;
}

Result<bool> NamedDataMap::is_in_place(std::string_view) const { return false; }

}  // namespace petrel::runtime
