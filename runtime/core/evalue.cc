// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/evalue.h"

#include <limits>
#include <new>

namespace petrel::runtime {

int64_t Scalar::to_int() const {
  if (kind_ != Kind::Double) return int_;
  // Both bounds are exact as doubles: -2^63 and 2^63.
  constexpr double kLimit = 9223372036854775808.0;
  if (double_ != double_) return 0;
  if (double_ >= kLimit) return std::numeric_limits<int64_t>::max();
  if (double_ < -kLimit) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(double_);
}

EValue::EValue(Scalar value) {
  switch (value.kind()) {
    case Scalar::Kind::Int:
      tag = Tag::Int;
      payload_.as_int = value.to_int();
      break;
    case Scalar::Kind::Double:
      tag = Tag::Double;
      payload_.as_double = value.to_double();
      break;
    case Scalar::Kind::Bool:
      tag = Tag::Bool;
      payload_.as_bool = value.to_bool();
      break;
  }
}

Result<int64_t> EValue::tryToInt() const {
  if (!isInt()) return Error::InvalidType;
  return payload_.as_int;
}

Result<double> EValue::tryToDouble() const {
  if (!isDouble()) return Error::InvalidType;
  return payload_.as_double;
}

Result<bool> EValue::tryToBool() const {
  if (!isBool()) return Error::InvalidType;
  return payload_.as_bool;
}

Result<Scalar> EValue::tryToScalar() const {
  if (isInt()) return Scalar(payload_.as_int);
  if (isDouble()) return Scalar(payload_.as_double);
  if (isBool()) return Scalar(payload_.as_bool);
  return Error::InvalidType;
}

Result<Tensor> EValue::tryToTensor() const {
  if (!isTensor()) return Error::InvalidType;
  return payload_.as_tensor;
}

Result<std::string_view> EValue::tryToString() const {
  if (!isString()) return Error::InvalidType;
  return std::string_view(static_cast<const char*>(payload_.as_array.data), payload_.as_array.size);
}

Result<Span<const int64_t>> EValue::tryToIntList() const {
  if (!isIntList()) return Error::InvalidType;
  const auto* box = static_cast<const BoxedIntList*>(payload_.as_array.data);
  for (size_t i = 0; i < box->items.size(); ++i) {
    const EValue* item = box->items[i];
    if (item == nullptr || !item->isInt()) return Error::InvalidType;
    box->unboxed[i] = item->payload_.as_int;
  }
  return Span<const int64_t>(box->unboxed, box->items.size());
}

Result<Span<const bool>> EValue::tryToBoolList() const {
  if (!isBoolList()) return Error::InvalidType;
  return Span<const bool>(static_cast<const bool*>(payload_.as_array.data), payload_.as_array.size);
}

Result<Span<const double>> EValue::tryToDoubleList() const {
  if (!isDoubleList()) return Error::InvalidType;
  return Span<const double>(static_cast<const double*>(payload_.as_array.data),
                            payload_.as_array.size);
}

Result<Span<const Tensor>> EValue::tryToTensorList() const {
  if (!isTensorList()) return Error::InvalidType;
  const auto* box = static_cast<const BoxedTensorList*>(payload_.as_array.data);
  for (size_t i = 0; i < box->items.size(); ++i) {
    const EValue* item = box->items[i];
    if (item == nullptr || !item->isTensor()) return Error::InvalidType;
    new (&box->unboxed[i]) Tensor(item->payload_.as_tensor);
  }
  return Span<const Tensor>(box->unboxed, box->items.size());
}

Result<Span<const std::optional<Tensor>>> EValue::tryToListOptionalTensor() const {
  if (!isListOptionalTensor()) return Error::InvalidType;
  const auto* box = static_cast<const BoxedOptionalTensorList*>(payload_.as_array.data);
  for (size_t i = 0; i < box->items.size(); ++i) {
    const EValue* item = box->items[i];
    if (item == nullptr || item->isNone()) {
      new (&box->unboxed[i]) std::optional<Tensor>();
    } else if (item->isTensor()) {
      new (&box->unboxed[i]) std::optional<Tensor>(item->payload_.as_tensor);
    } else {
      return Error::InvalidType;
    }
  }
  return Span<const std::optional<Tensor>>(box->unboxed, box->items.size());
}

}  // namespace petrel::runtime
