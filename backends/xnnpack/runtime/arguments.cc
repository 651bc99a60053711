// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/arguments.h"

#include <xnnpack.h>

#include <algorithm>

#include "runtime/core/log.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;
using runtime::Tensor;

constexpr uint8_t kMaxShared = 127;  // of int8 and uint8

runtime::ScalarType argument_type(Datatype datatype) {
  switch (datatype) {
    case Datatype::QINT8:
      return runtime::ScalarType::Char;
    case Datatype::FP16:
      return runtime::ScalarType::Half;
    default:
      return runtime::ScalarType::Float;
  }
}

}  // namespace

uint8_t axis_at(const Tensor& tensor, size_t place) {
  const Span<const Tensor::DimOrderType> order = tensor.dim_order();
  return order.empty() ? static_cast<uint8_t>(place) : order[place];
}

Result<Tensor> tensor_argument(Span<EValue*> args, size_t index, const Value& value,
                               bool needs_data) {
  const size_t rank = value.dims.size();
  const runtime::ScalarType type = argument_type(value.datatype);
  Result<Tensor> argument = args[index]->tryToTensor();
  if (!argument.ok()) {
    PETREL_LOG(Error, "argument %zu is not a tensor", index);
    return argument.error();
  }
  const Tensor tensor = *argument;
  if (tensor.scalar_type() != type && !is_unsigned(tensor, value)) {
    PETREL_LOG(Error, "argument %zu has type %s, must be %s", index,
               to_string(tensor.scalar_type()), to_string(type));
    return Error::InvalidArgument;
  }
  const bool is_scalar = tensor.dim() == 0 && rank == 1;
  if (static_cast<size_t>(tensor.dim()) != rank && !is_scalar) {
    PETREL_LOG(Error, "argument %zu has rank %zd, must be %zu", index, tensor.dim(), rank);
    return Error::InvalidArgument;
  }
  if (!tensor.dim_order().empty() && !runtime::is_permutation(tensor.dim_order())) {
    PETREL_LOG(Error, "argument %zu has a damaged dim order", index);
    return Error::InvalidArgument;
  }
  if (needs_data && tensor.const_data_ptr() == nullptr) {
    PETREL_LOG(Error, "argument %zu has no data", index);
    return Error::InvalidArgument;
  }
  return tensor;
}

bool is_unsigned(const Tensor& tensor, const Value& value) {
  return value.datatype == Datatype::QINT8 && tensor.scalar_type() == runtime::ScalarType::Byte;
}

Error check_levels(const void* data, size_t nbytes, size_t index) {
  const auto* levels = static_cast<const uint8_t*>(data);
  const uint8_t* found =
      std::find_if(levels, levels + nbytes, [](uint8_t q) { return q > kMaxShared; });
  if (found == levels + nbytes) return Error::Ok;
  PETREL_LOG(Error, "argument %zu: element %td is %u of uint8, its payload has int8 up to %u",
             index, found - levels, unsigned{*found}, unsigned{kMaxShared});
  return Error::InvalidArgument;
}

void raise_levels(uint8_t* levels, size_t nbytes) {
  std::replace_if(
      levels, levels + nbytes, [](uint8_t q) { return q > kMaxShared; }, uint8_t{0});
}

bool may_over_read(const runtime::BackendExecutionContext& context, const void* data,
                   size_t nbytes) {
  return context.readable_bytes(data) >= nbytes + XNN_EXTRA_BYTES ||
         is_safe_to_over_read(data, nbytes);
}

Error resize_output(const Tensor& tensor, size_t index, const Dims& dims) {
  if (tensor.is_constant()) {
    PETREL_LOG(Error, "argument %zu is an output and a constant", index);
    return Error::InvalidArgument;
  }
  Tensor::SizesType sizes[kMaxValueRank];
  const auto rank = static_cast<size_t>(tensor.dim());
  for (size_t place = 0; place < rank; ++place) {
    sizes[axis_at(tensor, place)] = static_cast<Tensor::SizesType>(dims[place]);
  }
  const bool fits = rank == dims.size() || dims[0] == 1;
  const Error error = fits ? runtime::resize_tensor(tensor, {sizes, rank}) : Error::InvalidArgument;
  if (error != Error::Ok) {
    PETREL_LOG(Error, "argument %zu cannot take an output of %s", index, to_string(dims).c_str());
  }
  return error;
}

Error reserve_staging(const runtime::BackendExecutionContext& context, size_t argument,
                      size_t nbytes, PaddedBuffer* staging) {
  if (context.memory() != nullptr && nbytes > staging->size()) {
    PETREL_RETURN_IF_ERROR(
        context.memory()->take("a copy of an argument", nbytes - staging->size()));
  }
  if (staging->reserve(nbytes)) return Error::Ok;
  PETREL_LOG(Error, "no memory for a copy of argument %zu of %zu bytes", argument, nbytes);
  return Error::MemoryAllocationFailed;
}

}  // namespace petrel::backends::xnnpack
