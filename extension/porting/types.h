// SPDX-License-Identifier: Apache-2.0
//
// What ExecuTorch's apps ask of element types and of tags:
//
//   std::printf("%s\n", executorch::runtime::toString(tensor.scalar_type()));   // "Float"
//   if (executorch::runtime::isFloatingType(tensor.scalar_type())) ...
//   constexpr ScalarType type = executorch::runtime::CppTypeToScalarType<int64_t>::value;
//   std::printf("%s\n", executorch::runtime::tag_to_string(value.tag));         // "Tensor"
//
// toString() has PyTorch's words there, and Petrel's to_string() NumPy's.
#ifndef PETREL_EXTENSION_PORTING_TYPES_H_
#define PETREL_EXTENSION_PORTING_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "extension/porting/half.h"
#include "runtime/core/scalar_type.h"
#include "runtime/core/tag.h"

namespace petrel::porting::runtime {

using ::petrel::runtime::ScalarType;
using error_code_t = uint32_t;

template <ScalarType kType>
struct ScalarTypeToCppType;
template <typename T>
struct CppTypeToScalarType;

#define PETREL_PORTING_TYPE(cpp, name)           \
  template <>                                    \
  struct ScalarTypeToCppType<ScalarType::name> { \
    using type = cpp;                            \
  };                                             \
  template <>                                    \
  struct CppTypeToScalarType<cpp> : std::integral_constant<ScalarType, ScalarType::name> {};
PETREL_PORTING_TYPE(uint8_t, Byte)
PETREL_PORTING_TYPE(int8_t, Char)
PETREL_PORTING_TYPE(int16_t, Short)
PETREL_PORTING_TYPE(int32_t, Int)
PETREL_PORTING_TYPE(int64_t, Long)
PETREL_PORTING_TYPE(aten::Half, Half)
PETREL_PORTING_TYPE(float, Float)
PETREL_PORTING_TYPE(double, Double)
PETREL_PORTING_TYPE(bool, Bool)
PETREL_PORTING_TYPE(aten::BFloat16, BFloat16)
PETREL_PORTING_TYPE(uint16_t, UInt16)
PETREL_PORTING_TYPE(uint32_t, UInt32)
PETREL_PORTING_TYPE(uint64_t, UInt64)
#undef PETREL_PORTING_TYPE

const char* toString(ScalarType type);

constexpr size_t elementSize(ScalarType type) { return ::petrel::runtime::element_size(type); }
constexpr bool isValid(ScalarType type) { return ::petrel::runtime::is_valid(type); }

constexpr bool isIntegralType(ScalarType type, bool include_bool) {
  return type == ScalarType::Byte || type == ScalarType::Char || type == ScalarType::Short ||
         type == ScalarType::Int || type == ScalarType::Long ||
         (include_bool && type == ScalarType::Bool);
}
constexpr bool isFloatingType(ScalarType type) {
  return type == ScalarType::Float || type == ScalarType::Double || type == ScalarType::Half ||
         type == ScalarType::BFloat16;
}
constexpr bool isRealType(ScalarType type) {
  return isIntegralType(type, false) || type == ScalarType::Float || type == ScalarType::Double;
}

// Room for every name, the NUL included.
inline constexpr size_t kTagNameBufferSize = 19;
constexpr const char* tag_to_string(::petrel::runtime::Tag tag) {
  return ::petrel::runtime::to_string(tag);
}
// The name, cut where the buffer ends; how long it is.
inline size_t tag_to_string(::petrel::runtime::Tag tag, char* buffer, size_t size) {
  return static_cast<size_t>(std::snprintf(buffer, size, "%s", tag_to_string(tag)));
}

}  // namespace petrel::porting::runtime

#endif  // PETREL_EXTENSION_PORTING_TYPES_H_
