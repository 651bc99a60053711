// SPDX-License-Identifier: Apache-2.0
#include "extension/c_api/values.h"

#include <cinttypes>
#include <string_view>

#include "extension/c_api/guard.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"

namespace petrel::extension::c_api {

using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::ScalarType;
using runtime::Span;
using runtime::Tag;
using runtime::Tensor;
using runtime::TensorImpl;
using runtime::TensorInfo;

namespace {

static_assert(PETREL_MAX_RANK == runtime::kTensorDimensionLimit);

int32_t kind_of(Tag tag) {
  switch (tag) {
    case Tag::None:
      return PETREL_KIND_NONE;
    case Tag::Tensor:
      return PETREL_KIND_TENSOR;
    case Tag::String:
      return PETREL_KIND_STRING;
    case Tag::Double:
      return PETREL_KIND_DOUBLE;
    case Tag::Int:
      return PETREL_KIND_INT;
    case Tag::Bool:
      return PETREL_KIND_BOOL;
    default:
      return PETREL_KIND_OTHER;
  }
}

void describe(Span<const int32_t> sizes, Span<const uint8_t> dim_order, ScalarType dtype,
              petrel_value* value) {
  value->dtype = static_cast<int32_t>(dtype);
  value->rank = static_cast<uint32_t>(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    value->sizes[d] = sizes[d];
    value->dim_order[d] = dim_order.empty() ? static_cast<uint8_t>(d) : dim_order[d];
  }
}

Error check_tensor(const petrel_value& value, size_t index) {
  const size_t item = petrel_dtype_size(value.dtype);
  if (item == 0) {
    PETREL_LOG(Error, "input %zu: dtype is %" PRId32 ", which is not an element type", index,
               value.dtype);
    return Error::InvalidArgument;
  }
  if (value.rank > PETREL_MAX_RANK) {
    PETREL_LOG(Error, "input %zu: rank is %" PRIu32 ", must be at most %d", index, value.rank,
               PETREL_MAX_RANK);
    return Error::InvalidArgument;
  }
  size_t bytes = item;
  for (uint32_t d = 0; d < value.rank; ++d) {
    if (value.sizes[d] < 0 || value.sizes[d] > INT32_MAX) {
      PETREL_LOG(Error, "input %zu: dim %" PRIu32 " is %" PRId64 ", must be in [0, 2^31)", index, d,
                 value.sizes[d]);
      return Error::InvalidArgument;
    }
    if (!runtime::checked_mul(bytes, static_cast<size_t>(value.sizes[d]), &bytes)) {
      PETREL_LOG(Error, "input %zu: its sizes need more bytes than there are addresses", index);
      return Error::InvalidArgument;
    }
  }
  if (!runtime::is_permutation({value.dim_order, value.rank})) {
    PETREL_LOG(Error, "input %zu: dim_order is not a permutation of %" PRIu32 " dimensions", index,
               value.rank);
    return Error::InvalidArgument;
  }
  if (value.nbytes != bytes) {
    PETREL_LOG(Error, "input %zu: nbytes is %zu, its sizes need %zu", index, value.nbytes, bytes);
    return Error::InvalidArgument;
  }
  if (bytes > 0 && value.data == nullptr) {
    PETREL_LOG(Error, "input %zu: data is NULL, must not be", index);
    return Error::InvalidArgument;
  }
  return Error::Ok;
}

}  // namespace

Result<petrel_value> info_of(Tag tag, const Result<TensorInfo>& tensor) {
  petrel_value value;
  PETREL_VALUE_INIT(&value);
  value.kind = kind_of(tag);
  if (tag != Tag::Tensor) return value;
  if (!tensor.ok()) return tensor.error();
  describe(tensor->sizes(), tensor->dim_order(), tensor->scalar_type(), &value);
  value.nbytes = tensor->nbytes();
  value.is_dynamic = tensor->shape_dynamism() != runtime::TensorShapeDynamism::STATIC;
  return value;
}

Error check_input(const petrel_value& value, size_t index) {
  switch (value.kind) {
    case PETREL_KIND_TENSOR:
      return check_tensor(value, index);
    case PETREL_KIND_STRING:
      return value.string_size > 0 ? require(value.string, "value->string") : Error::Ok;
    case PETREL_KIND_BOOL:
      if (value.int_value == 0 || value.int_value == 1) return Error::Ok;
      PETREL_LOG(Error, "input %zu: int_value of a bool is %" PRId64 ", must be 0 or 1", index,
                 value.int_value);
      return Error::InvalidArgument;
    case PETREL_KIND_NONE:
    case PETREL_KIND_DOUBLE:
    case PETREL_KIND_INT:
      return Error::Ok;
    default:
      PETREL_LOG(Error, "input %zu: kind is %" PRId32 ", must be in [0, %d]", index, value.kind,
                 PETREL_KIND_BOOL);
      return Error::InvalidArgument;
  }
}

EValue to_evalue(const petrel_value& value, InputTensor* place) {
  switch (value.kind) {
    case PETREL_KIND_TENSOR:
      for (uint32_t d = 0; d < value.rank; ++d) {
        place->sizes[d] = static_cast<int32_t>(value.sizes[d]);
        place->dim_order[d] = value.dim_order[d];
      }
      place->impl =
          TensorImpl(static_cast<ScalarType>(value.dtype), static_cast<ssize_t>(value.rank),
                     place->sizes, value.data, place->dim_order);
      return EValue(Tensor(&place->impl));
    case PETREL_KIND_STRING:
      return EValue(std::string_view(value.string, value.string_size));
    case PETREL_KIND_DOUBLE:
      return EValue(value.double_value);
    case PETREL_KIND_INT:
      return EValue(value.int_value);
    case PETREL_KIND_BOOL:
      return EValue(value.int_value != 0);
    default:
      return EValue();
  }
}

petrel_value from_evalue(const EValue& from) {
  petrel_value value;
  PETREL_VALUE_INIT(&value);
  value.kind = kind_of(from.tag);
  if (from.isTensor()) {
    const Tensor tensor = from.toTensor();
    describe(tensor.sizes(), tensor.dim_order(), tensor.scalar_type(), &value);
    value.data = tensor.mutable_data_ptr();
    value.nbytes = tensor.nbytes();
  } else if (from.isString()) {
    value.string = from.toString().data();
    value.string_size = from.toString().size();
  } else if (from.isDouble()) {
    value.double_value = from.toDouble();
  } else if (from.isInt()) {
    value.int_value = from.toInt();
  } else if (from.isBool()) {
    value.int_value = from.toBool();
  }
  return value;
}

}  // namespace petrel::extension::c_api
