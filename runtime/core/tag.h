// SPDX-License-Identifier: Apache-2.0
//
// The type of an EValue.

#ifndef PETREL_RUNTIME_CORE_TAG_H_
#define PETREL_RUNTIME_CORE_TAG_H_

#include <cstdint>

namespace petrel::runtime {

enum class Tag : uint32_t {
  None,
  Tensor,
  String,
  Double,
  Int,
  Bool,
  ListBool,
  ListDouble,
  ListInt,
  ListTensor,
  ListScalar,
  ListOptionalTensor,
};

constexpr const char* to_string(Tag tag) {
  switch (tag) {
    case Tag::None:
      return "None";
    case Tag::Tensor:
      return "Tensor";
    case Tag::String:
      return "String";
    case Tag::Double:
      return "Double";
    case Tag::Int:
      return "Int";
    case Tag::Bool:
      return "Bool";
    case Tag::ListBool:
      return "ListBool";
    case Tag::ListDouble:
      return "ListDouble";
    case Tag::ListInt:
      return "ListInt";
    case Tag::ListTensor:
      return "ListTensor";
    case Tag::ListScalar:
      return "ListScalar";
    case Tag::ListOptionalTensor:
      return "ListOptionalTensor";
  }
  return "unknown tag";
}

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_TAG_H_
