// SPDX-License-Identifier: Apache-2.0
//
// Element types of tensors in the IR. The numbers are those of the `.pte`
// format, so the emitter stores them as they are; the `.pt2` reader maps its
// own numbering onto them.
//
//   item_size(ScalarType::kFloat)      -> 4
//   scalar_type_name(ScalarType::kLong) -> "i64"
#ifndef PETREL_EXIR_IR_SCALAR_TYPE_H_
#define PETREL_EXIR_IR_SCALAR_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace petrel::exir {

enum class ScalarType : int8_t {
  kByte = 0,
  kChar = 1,
  kShort = 2,
  kInt = 3,
  kLong = 4,
  kHalf = 5,
  kFloat = 6,
  kDouble = 7,
  kBool = 11,
  kBFloat16 = 15,
  kUInt16 = 27,
  kUInt32 = 28,
  kUInt64 = 29,
};

// Bytes of one element.
size_t item_size(ScalarType type);

// Short name used in the text form: u8 i8 i16 i32 i64 f16 f32 f64 bool bf16
// u16 u32 u64.
std::string_view scalar_type_name(ScalarType type);

// The inverse of scalar_type_name; nullopt for any other text.
std::optional<ScalarType> parse_scalar_type(std::string_view name);

bool is_floating_point(ScalarType type);

// Integer types; bool is not one of them.
bool is_integral(ScalarType type);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_SCALAR_TYPE_H_
