// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/constant_data.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/pass/framework/strides.h"
#include "exir/status_macros.h"
#include "runtime/kernels/narrow/narrow_float.h"

namespace petrel::exir {
namespace {

template <typename T>
double read_as(const uint8_t* in) {
  T value;
  std::memcpy(&value, in, sizeof(T));
  return static_cast<double>(value);
}

template <typename T>
void write_as(double value, uint8_t* out) {
  const T typed = static_cast<T>(value);
  std::memcpy(out, &typed, sizeof(T));
}

// Whether the truncated value is representable; bool takes anything.
bool fits(double value, ScalarType dtype) {
  if (!is_integral(dtype)) return true;
  const double bits = static_cast<double>(8 * item_size(dtype));
  const bool is_signed = dtype == ScalarType::kChar || dtype == ScalarType::kShort ||
                         dtype == ScalarType::kInt || dtype == ScalarType::kLong;
  const double high = std::exp2(is_signed ? bits - 1 : bits);
  const double low = is_signed ? -high : 0;
  return value >= low && value < high;
}

}  // namespace

double decode_element(const uint8_t* in, ScalarType dtype) {
  uint16_t half = 0;
  switch (dtype) {
    case ScalarType::kByte:
    case ScalarType::kBool:
      return read_as<uint8_t>(in);
    case ScalarType::kChar:
      return read_as<int8_t>(in);
    case ScalarType::kShort:
      return read_as<int16_t>(in);
    case ScalarType::kInt:
      return read_as<int32_t>(in);
    case ScalarType::kLong:
      return read_as<int64_t>(in);
    case ScalarType::kHalf:
      std::memcpy(&half, in, sizeof(half));
      return static_cast<double>(runtime::half_value(half));
    case ScalarType::kBFloat16:
      std::memcpy(&half, in, sizeof(half));
      return static_cast<double>(runtime::bfloat16_value(half));
    case ScalarType::kFloat:
      return read_as<float>(in);
    case ScalarType::kDouble:
      return read_as<double>(in);
    case ScalarType::kUInt16:
      return read_as<uint16_t>(in);
    case ScalarType::kUInt32:
      return read_as<uint32_t>(in);
    case ScalarType::kUInt64:
      return read_as<uint64_t>(in);
  }
  return 0;
}

void encode_element(double value, ScalarType dtype, uint8_t* out) {
  uint16_t half = 0;
  switch (dtype) {
    case ScalarType::kByte:
      return write_as<uint8_t>(value, out);
    case ScalarType::kBool:
      return write_as<uint8_t>(value != 0 ? 1 : 0, out);
    case ScalarType::kChar:
      return write_as<int8_t>(value, out);
    case ScalarType::kShort:
      return write_as<int16_t>(value, out);
    case ScalarType::kInt:
      return write_as<int32_t>(value, out);
    case ScalarType::kLong:
      return write_as<int64_t>(value, out);
    case ScalarType::kHalf:
      half = runtime::half_bits(static_cast<float>(value));
      std::memcpy(out, &half, sizeof(half));
      return;
    case ScalarType::kBFloat16:
      half = runtime::bfloat16_bits(static_cast<float>(value));
      std::memcpy(out, &half, sizeof(half));
      return;
    case ScalarType::kFloat:
      return write_as<float>(value, out);
    case ScalarType::kDouble:
      return write_as<double>(value, out);
    case ScalarType::kUInt16:
      return write_as<uint16_t>(value, out);
    case ScalarType::kUInt32:
      return write_as<uint32_t>(value, out);
    case ScalarType::kUInt64:
      return write_as<uint64_t>(value, out);
  }
}

absl::StatusOr<std::vector<double>> decode_constant(const Constant& constant) {
  const TensorType& type = constant.type;
  const Blob::Bytes bytes = constant.data.bytes();
  const size_t size = item_size(type.dtype);
  const size_t count = static_cast<size_t>(type.numel());
  if (bytes.size() != count * size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "constant '", constant.fqn, "' has ", bytes.size(), " bytes, its type ", count * size));
  }
  std::vector<double> values(count);
  const Strides strides = dense_strides(type);
  Sizes index(type.rank(), 0);
  int64_t place = 0;
  for (size_t n = 0; n < count; ++n) {
    values[n] = decode_element(bytes.data() + static_cast<size_t>(place) * size, type.dtype);
    for (size_t i = type.rank(); i-- > 0;) {
      place += strides[i];
      if (++index[i] < type.sizes[i]) break;
      place -= strides[i] * type.sizes[i];
      index[i] = 0;
    }
  }
  return values;
}

absl::StatusOr<Blob> encode_constant(const std::vector<double>& values, ScalarType dtype) {
  const size_t size = item_size(dtype);
  std::vector<uint8_t> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!fits(values[i], dtype)) {
      return absl::InvalidArgumentError(absl::StrCat("value ", values[i], " does not fit ",
                                                     std::string(scalar_type_name(dtype))));
    }
    encode_element(values[i], dtype, bytes.data() + i * size);
  }
  return Blob::owned(std::move(bytes));
}

Blob in_row_major_order(const Blob& data, const TensorType& type) {
  return Blob::produced(data.size(), [data, type](absl::Span<uint8_t> out) {
    const Blob::Bytes in = data.bytes();
    const size_t item = item_size(type.dtype);
    const Strides strides = dense_strides(type);
    Sizes index(type.rank(), 0);
    int64_t place = 0;
    for (size_t at = 0; at + item <= out.size(); at += item) {
      std::memcpy(out.data() + at, in.data() + static_cast<size_t>(place) * item, item);
      for (size_t i = type.rank(); i-- > 0;) {
        place += strides[i];
        if (++index[i] < type.sizes[i]) break;
        place -= strides[i] * type.sizes[i];
        index[i] = 0;
      }
    }
  });
}

}  // namespace petrel::exir
