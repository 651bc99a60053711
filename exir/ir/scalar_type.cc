// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/scalar_type.h"

namespace petrel::exir {
namespace {

enum class Family { kFloating, kIntegral, kBoolean };

struct Row {
  ScalarType type;
  std::string_view name;
  size_t size;
  Family family;
};

constexpr Row kRows[] = {
    {ScalarType::kByte, "u8", 1, Family::kIntegral},
    {ScalarType::kChar, "i8", 1, Family::kIntegral},
    {ScalarType::kShort, "i16", 2, Family::kIntegral},
    {ScalarType::kInt, "i32", 4, Family::kIntegral},
    {ScalarType::kLong, "i64", 8, Family::kIntegral},
    {ScalarType::kHalf, "f16", 2, Family::kFloating},
    {ScalarType::kFloat, "f32", 4, Family::kFloating},
    {ScalarType::kDouble, "f64", 8, Family::kFloating},
    {ScalarType::kBool, "bool", 1, Family::kBoolean},
    {ScalarType::kBFloat16, "bf16", 2, Family::kFloating},
    {ScalarType::kUInt16, "u16", 2, Family::kIntegral},
    {ScalarType::kUInt32, "u32", 4, Family::kIntegral},
    {ScalarType::kUInt64, "u64", 8, Family::kIntegral},
};

const Row& row_of(ScalarType type) {
  for (const Row& row : kRows) {
    if (row.type == type) return row;
  }
  return kRows[0];
}

}  // namespace

size_t item_size(ScalarType type) { return row_of(type).size; }

std::string_view scalar_type_name(ScalarType type) { return row_of(type).name; }

std::optional<ScalarType> parse_scalar_type(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

bool is_floating_point(ScalarType type) { return row_of(type).family == Family::kFloating; }

bool is_integral(ScalarType type) { return row_of(type).family == Family::kIntegral; }

}  // namespace petrel::exir
