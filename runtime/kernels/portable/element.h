// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing one element of any type.
//
// Reference kernels compute in double for floating types and in int64_t for
// integers and bool. Both are exact stand-ins: a double holds the exact sum and
// product of two floats before the single rounding on store (and, having more
// than twice the bits, gives the correctly rounded quotient and root as well),
// and integer arithmetic modulo 2^64 keeps the low bits that a narrower store
// takes.
// Halves and bfloat16 are rounded to float first, as narrow_float.h says.
//
//   const auto load = loader<double>(self.scalar_type());
//   const auto store = storer<double>(out.scalar_type());
//   store(out.mutable_data_ptr(), i, load(self.const_data_ptr(), i) + 1.0);
//
// loader() and storer() return null for types that have no arithmetic
// (quantised and 8-bit floating types); is_arithmetic() tells beforehand.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_ELEMENT_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_ELEMENT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/core/scalar_type.h"
#include "runtime/kernels/narrow/narrow_float.h"

namespace petrel::runtime::portable {

constexpr bool is_floating(ScalarType type) {
  return type == ScalarType::Float || type == ScalarType::Double || type == ScalarType::Half ||
         type == ScalarType::BFloat16;
}

constexpr bool is_integral(ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Short:
    case ScalarType::Int:
    case ScalarType::Long:
    case ScalarType::UInt16:
    case ScalarType::UInt32:
    case ScalarType::UInt64:
      return true;
    default:
      return false;
  }
}

constexpr bool is_arithmetic(ScalarType type) {
  return is_floating(type) || is_integral(type) || type == ScalarType::Bool;
}

// A double as an integer: towards zero, saturating, NaN gives 0. (A plain cast
// is undefined outside the range.)
inline int64_t to_integer(double value) {
  if (value != value) return 0;
  if (value >= 9223372036854775808.0) return std::numeric_limits<int64_t>::max();
  if (value < -9223372036854775808.0) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

template <typename C>
using Loader = C (*)(const void* data, size_t i);
template <typename C>
using Storer = void (*)(void* data, size_t i, C value);

namespace internal {

template <typename C, typename T>
C load(const void* data, size_t i) {
  const T value = static_cast<const T*>(data)[i];
  if constexpr (std::is_integral_v<C> && std::is_floating_point_v<T>) {
    return to_integer(static_cast<double>(value));
  } else {
    return static_cast<C>(value);
  }
}

template <typename C, typename T>
void store(void* data, size_t i, C value) {
  if constexpr (std::is_floating_point_v<C> && std::is_integral_v<T>) {
    // Through int64_t, so that narrowing wraps instead of being undefined.
    static_cast<T*>(data)[i] = static_cast<T>(to_integer(value));
  } else {
    static_cast<T*>(data)[i] = static_cast<T>(value);
  }
}

// A bool is a byte that need not be 0 or 1 when it comes from a file.
template <typename C>
C load_bool(const void* data, size_t i) {
  return static_cast<C>(static_cast<const uint8_t*>(data)[i] != 0);
}
template <typename C>
void store_bool(void* data, size_t i, C value) {
  static_cast<uint8_t*>(data)[i] = value != C{0} ? 1 : 0;
}

template <typename C, float (*kConvert)(uint16_t)>
C load_bits(const void* data, size_t i) {
  const float value = kConvert(static_cast<const uint16_t*>(data)[i]);
  if constexpr (std::is_integral_v<C>) return to_integer(static_cast<double>(value));
  return static_cast<C>(value);
}
template <typename C, uint16_t (*kConvert)(float)>
void store_bits(void* data, size_t i, C value) {
  static_cast<uint16_t*>(data)[i] = kConvert(static_cast<float>(value));
}

}  // namespace internal

template <typename C>
Loader<C> loader(ScalarType type) {
  using namespace internal;  // NOLINT: local
  switch (type) {
    case ScalarType::Byte:
      return load<C, uint8_t>;
    case ScalarType::Char:
      return load<C, int8_t>;
    case ScalarType::Short:
      return load<C, int16_t>;
    case ScalarType::Int:
      return load<C, int32_t>;
    case ScalarType::Long:
      return load<C, int64_t>;
    case ScalarType::UInt16:
      return load<C, uint16_t>;
    case ScalarType::UInt32:
      return load<C, uint32_t>;
    case ScalarType::UInt64:
      return load<C, uint64_t>;
    case ScalarType::Float:
      return load<C, float>;
    case ScalarType::Double:
      return load<C, double>;
    case ScalarType::Half:
      return load_bits<C, half_value>;
    case ScalarType::BFloat16:
      return load_bits<C, bfloat16_value>;
    case ScalarType::Bool:
      return load_bool<C>;
    default:
      return nullptr;
  }
}

template <typename C>
Storer<C> storer(ScalarType type) {
  using namespace internal;  // NOLINT: local
  switch (type) {
    case ScalarType::Byte:
      return store<C, uint8_t>;
    case ScalarType::Char:
      return store<C, int8_t>;
    case ScalarType::Short:
      return store<C, int16_t>;
    case ScalarType::Int:
      return store<C, int32_t>;
    case ScalarType::Long:
      return store<C, int64_t>;
    case ScalarType::UInt16:
      return store<C, uint16_t>;
    case ScalarType::UInt32:
      return store<C, uint32_t>;
    case ScalarType::UInt64:
      return store<C, uint64_t>;
    case ScalarType::Float:
      return store<C, float>;
    case ScalarType::Double:
      return store<C, double>;
    case ScalarType::Half:
      return store_bits<C, half_bits>;
    case ScalarType::BFloat16:
      return store_bits<C, bfloat16_bits>;
    case ScalarType::Bool:
      return store_bool<C>;
    default:
      return nullptr;
  }
}

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_ELEMENT_H_
