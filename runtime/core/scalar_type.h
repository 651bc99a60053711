// SPDX-License-Identifier: Apache-2.0
//
// Element types of tensors, with PyTorch's numbers.

#ifndef PETREL_RUNTIME_CORE_SCALAR_TYPE_H_
#define PETREL_RUNTIME_CORE_SCALAR_TYPE_H_

#include <cstddef>
#include <cstdint>

namespace petrel::runtime {

// Any int8_t may be cast to a ScalarType (the underlying type is fixed); use
// is_valid() on numbers from a file.
enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  Bool = 11,
  QInt8 = 12,
  QUInt8 = 13,
  QInt32 = 14,
  BFloat16 = 15,
  QUInt4x2 = 16,
  QUInt2x4 = 17,
  // No element has it; for variables that have no type yet.
  Undefined = 21,
  Bits16 = 22,
  Float8_e5m2 = 23,
  Float8_e4m3fn = 24,
  Float8_e5m2fnuz = 25,
  Float8_e4m3fnuz = 26,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
};

// Bytes of one element, 0 for a number that is no ScalarType. The packed types
// QUInt4x2 and QUInt2x4 count one byte per (packed) element.
constexpr size_t element_size(ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Bool:
    case ScalarType::QInt8:
    case ScalarType::QUInt8:
    case ScalarType::QUInt4x2:
    case ScalarType::QUInt2x4:
    case ScalarType::Float8_e5m2:
    case ScalarType::Float8_e4m3fn:
    case ScalarType::Float8_e5m2fnuz:
    case ScalarType::Float8_e4m3fnuz:
      return 1;
    case ScalarType::Short:
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Bits16:
    case ScalarType::UInt16:
      return 2;
    case ScalarType::Int:
    case ScalarType::Float:
    case ScalarType::QInt32:
    case ScalarType::UInt32:
      return 4;
    case ScalarType::Long:
    case ScalarType::Double:
    case ScalarType::UInt64:
      return 8;
    case ScalarType::Undefined:
      return 0;
  }
  return 0;
}

constexpr bool is_valid(ScalarType type) { return element_size(type) != 0; }

// "float32", "int64", ...: NumPy's words, for messages.
const char* to_string(ScalarType type);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_SCALAR_TYPE_H_
