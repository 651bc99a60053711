// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/array_literal.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"
#include "runtime/kernels/narrow/narrow_float.h"

namespace petrel::extension {
namespace {

using nlohmann::json;
using runtime::ScalarType;

constexpr size_t kMaxDims = 16;

// The types that can be written, as runtime::to_string() spells them.
constexpr ScalarType kTypes[] = {ScalarType::Bool,    ScalarType::Byte,   ScalarType::Char,
                                 ScalarType::Short,   ScalarType::Int,    ScalarType::Long,
                                 ScalarType::UInt16,  ScalarType::UInt32, ScalarType::UInt64,
                                 ScalarType::Half,    ScalarType::Float,  ScalarType::Double,
                                 ScalarType::BFloat16};

struct Halves {
  std::string values;
  std::string dtype;  // "" when the text names none
};

Halves split(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

template <typename T>
void append(T value, std::vector<uint8_t>* out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  out->insert(out->end(), bytes, bytes + sizeof(value));
}

// False when the type cannot hold the number.
template <typename T>
bool append_integer(const json& element, std::vector<uint8_t>* out) {
  if (element.is_number_unsigned()) {
    const auto value = element.get<uint64_t>();
    if (value > static_cast<uint64_t>(std::numeric_limits<T>::max())) return false;
    append(static_cast<T>(value), out);
    return true;
  }
  if (!element.is_number_integer() || std::is_unsigned_v<T>) return false;
  const auto value = element.get<int64_t>();
  if (value < static_cast<int64_t>(std::numeric_limits<T>::min())) return false;
  append(static_cast<T>(value), out);
  return true;
}

bool append_element(const json& element, ScalarType type, std::vector<uint8_t>* out) {
  if (type == ScalarType::Bool) {
    if (!element.is_boolean()) return false;
    out->push_back(element.get<bool>() ? 1 : 0);
    return true;
  }
  if (!element.is_number()) return false;
  const auto number = element.get<double>();
  switch (type) {
    case ScalarType::Byte:
      return append_integer<uint8_t>(element, out);
    case ScalarType::Char:
      return append_integer<int8_t>(element, out);
    case ScalarType::Short:
      return append_integer<int16_t>(element, out);
    case ScalarType::Int:
      return append_integer<int32_t>(element, out);
    case ScalarType::Long:
      return append_integer<int64_t>(element, out);
    case ScalarType::UInt16:
      return append_integer<uint16_t>(element, out);
    case ScalarType::UInt32:
      return append_integer<uint32_t>(element, out);
    case ScalarType::UInt64:
      return append_integer<uint64_t>(element, out);
    case ScalarType::Double:
      append(number, out);
      return true;
    case ScalarType::Float:
      append(static_cast<float>(number), out);
      return true;
    case ScalarType::Half:
      append(runtime::half_bits(static_cast<float>(number)), out);
      return true;
    case ScalarType::BFloat16:
      append(runtime::bfloat16_bits(static_cast<float>(number)), out);
      return true;
    default:
      return false;
  }
}

// What is not an array, for messages. Objects and what lies in them is not printed: they may be
// deep, and each level would be a call within the other.
std::string text_of(const json& value) { return value.is_object() ? "an object" : value.dump(); }

// Appends the elements of `values`, whose dims from `dim` on are checked against
// the shape, or become it where they are the first.
absl::Status collect(const json& values, size_t dim, NpyArray* array, bool is_first) {
  if (!values.is_array()) {
    if (dim != array->shape.size()) {
      return absl::InvalidArgumentError(absl::StrCat("has ", text_of(values), " beside rows"));
    }
    if (append_element(values, array->type, &array->data)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("has ", text_of(values), ", which is not a ",
                                                   runtime::to_string(array->type)));
  }
  if (dim == kMaxDims) {
    return absl::InvalidArgumentError(absl::StrCat("has more than ", kMaxDims, " dims"));
  }
  const auto size = static_cast<int64_t>(values.size());
  if (is_first) array->shape.push_back(size);
  if (dim >= array->shape.size() || array->shape[dim] != size) {
    return absl::InvalidArgumentError("has rows of different lengths");
  }
  for (const json& value : values) {
    PETREL_RETURN_IF_ERROR(collect(value, dim + 1, array, is_first));
    is_first = false;
  }
  return absl::OkStatus();
}

}  // namespace

bool is_array_literal(const std::string& text) {
  if (!text.empty() && text[0] == '[') return true;
  const json value = json::parse(split(text).values, nullptr, /*allow_exceptions=*/false);
  return value.is_number() || value.is_boolean();
}

absl::StatusOr<NpyArray> parse_array_literal(const std::string& text, ScalarType type) {
  const Halves halves = split(text);
  NpyArray array;
  array.type = type;
  if (!halves.dtype.empty()) {
    std::optional<ScalarType> named;
    for (const ScalarType known : kTypes) {
      if (halves.dtype == runtime::to_string(known)) named = known;
    }
    if (!named) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", text, "' has dtype '", halves.dtype, "', which is not known"));
    }
    array.type = *named;
  }
  const json values = json::parse(halves.values, nullptr, /*allow_exceptions=*/false);
  if (values.is_discarded()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not an array, such as [1,2,3]:int64"));
  }
  const absl::Status collected = collect(values, 0, &array, /*is_first=*/true);
  if (!collected.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' ", collected.message()));
  }
  return array;
}

}  // namespace petrel::extension
