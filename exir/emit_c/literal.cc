// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/literal.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace petrel::exir::emit_c {
namespace {

template <typename T>
T read(const uint8_t* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

// The fewest digits that are read back as `value`.
template <typename T>
std::string shortest(T value, T (*parse)(const char*, char**)) {
  char text[40];
  for (int digits = std::numeric_limits<T>::digits10;
       digits <= std::numeric_limits<T>::max_digits10; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, static_cast<double>(value));
    if (parse(text, nullptr) == value) break;
  }
  std::string result = text;
  if (result.find_first_of(".e") == std::string::npos) result += ".0";
  return result;
}

std::string float_text(float value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
  return shortest<float>(value, std::strtof) + "f";
}

std::string double_text(double value) {
  if (std::isnan(value)) return "(double)NAN";
  if (std::isinf(value)) return value > 0 ? "(double)INFINITY" : "-(double)INFINITY";
  return shortest<double>(value, std::strtod);
}

// A plain int where it is one. The most negative number of 64 bits has no literal.
std::string integer_text(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) return "INT64_MIN";
  if (value > std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()) {
    return absl::StrCat(value);
  }
  return absl::StrCat(value < 0 ? "-" : "", "INT64_C(", value < 0 ? -value : value, ")");
}

}  // namespace

const char* c_type(ScalarType type) {
  switch (type) {
    case ScalarType::kByte:
      return "uint8_t";
    case ScalarType::kChar:
      return "int8_t";
    case ScalarType::kShort:
      return "int16_t";
    case ScalarType::kInt:
      return "int32_t";
    case ScalarType::kLong:
      return "int64_t";
    case ScalarType::kUInt16:
      return "uint16_t";
    case ScalarType::kUInt32:
      return "uint32_t";
    case ScalarType::kUInt64:
      return "uint64_t";
    case ScalarType::kFloat:
      return "float";
    case ScalarType::kDouble:
      return "double";
    case ScalarType::kBool:
      return "bool";
    case ScalarType::kHalf:
    case ScalarType::kBFloat16:
      return "uint16_t";
  }
  return nullptr;
}

std::string literal(ScalarType type, const uint8_t* element) {
  switch (type) {
    case ScalarType::kByte:
      return absl::StrCat(*element);
    case ScalarType::kChar:
      return absl::StrCat(read<int8_t>(element));
    case ScalarType::kShort:
      return absl::StrCat(read<int16_t>(element));
    case ScalarType::kInt:
      return integer_text(read<int32_t>(element));
    case ScalarType::kLong:
      return integer_text(read<int64_t>(element));
    case ScalarType::kUInt16:
      return absl::StrCat(read<uint16_t>(element));
    case ScalarType::kUInt32:
      return absl::StrCat(read<uint32_t>(element), "u");
    case ScalarType::kUInt64:
      return absl::StrCat("UINT64_C(", read<uint64_t>(element), ")");
    case ScalarType::kFloat:
      return float_text(read<float>(element));
    case ScalarType::kDouble:
      return double_text(read<double>(element));
    case ScalarType::kBool:
      return *element != 0 ? "true" : "false";
    case ScalarType::kHalf:
    case ScalarType::kBFloat16:
      return absl::StrCat("0x", absl::Hex(read<uint16_t>(element), absl::kZeroPad4), "u");
  }
  return "";
}

std::string quoted(absl::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\' || c == '?') {
      // Three octal digits end by themselves.
      absl::StrAppend(&result, "\\", byte >> 6, byte >> 3 & 7, byte & 7);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string number(double value) {
  const std::string text = double_text(value);
  return text[0] == '-' || text[0] == '(' ? absl::StrCat("(", text, ")") : text;
}

std::string number(int64_t value) {
  const std::string text = integer_text(value);
  return text[0] == '-' ? absl::StrCat("(", text, ")") : text;
}

std::string list(const std::vector<int64_t>& values) {
  if (values.empty()) return "{1}";
  return absl::StrCat("{", absl::StrJoin(values, ", "), "}");
}

}  // namespace petrel::exir::emit_c
