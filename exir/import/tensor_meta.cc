// SPDX-License-Identifier: Apache-2.0
#include "exir/import/tensor_meta.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

struct DtypeCode {
  int64_t code;
  const char* name;
  std::optional<ScalarType> type;
};

constexpr DtypeCode kDtypeCodes[] = {
    {1, "uint8", ScalarType::kByte},
    {2, "int8", ScalarType::kChar},
    {3, "int16", ScalarType::kShort},
    {4, "int32", ScalarType::kInt},
    {5, "int64", ScalarType::kLong},
    {6, "float16", ScalarType::kHalf},
    {7, "float32", ScalarType::kFloat},
    {8, "float64", ScalarType::kDouble},
    {9, "complex32", std::nullopt},
    {10, "complex64", std::nullopt},
    {11, "complex128", std::nullopt},
    {12, "bool", ScalarType::kBool},
    {13, "bfloat16", ScalarType::kBFloat16},
    {28, "uint16", ScalarType::kUInt16},
    {29, "float8_e4m3fn", std::nullopt},
    {30, "float8_e5m2", std::nullopt},
    {31, "float8_e4m3fnuz", std::nullopt},
    {32, "float8_e5m2fnuz", std::nullopt},
    {33, "float8_e8m0fnu", std::nullopt},
    {34, "uint32", ScalarType::kUInt32},
    {35, "uint64", ScalarType::kUInt64},
};

constexpr int64_t kStridedLayout = 7;

// "s77" of Symbol('s77', positive=True, integer=True), "4" of Integer(4); ""
// for anything else.
std::string simple_expression(absl::string_view text) {
  if (absl::ConsumePrefix(&text, "Symbol('")) {
    const size_t quote = text.find('\'');
    if (quote == absl::string_view::npos) return "";
    const absl::string_view rest = text.substr(quote);
    // One call and nothing behind it.
    if (rest.find(')') + 1 != rest.size()) return "";
    return std::string(text.substr(0, quote));
  }
  if (absl::ConsumePrefix(&text, "Integer(") && absl::ConsumeSuffix(&text, ")")) {
    return std::string(text);
  }
  return "";
}

}  // namespace

absl::StatusOr<ScalarType> read_scalar_type(const Json& code) {
  PETREL_ASSIGN_OR_RETURN(int64_t number, code.integer());
  for (const DtypeCode& row : kDtypeCodes) {
    if (row.code != number) continue;
    if (row.type) return *row.type;
    return absl::UnimplementedError(absl::StrCat(
        code.place(), ": dtype ", row.name, " is not supported"));
  }
  return code.error(absl::StrCat("is ", number, ", which is no dtype"));
}

absl::StatusOr<MemoryFormat> read_memory_format(const Json& code) {
  PETREL_ASSIGN_OR_RETURN(int64_t number, code.integer());
  switch (number) {
    case 1:
      return MemoryFormat::kContiguous;
    case 2:
      return MemoryFormat::kChannelsLast;
    case 3:
      return MemoryFormat::kChannelsLast3d;
    case 4:
      return MemoryFormat::kPreserve;
    default:
      return code.error(absl::StrCat("is ", number,
                                     ", which is no memory format"));
  }
}

absl::Status check_layout(const Json& code) {
  PETREL_ASSIGN_OR_RETURN(int64_t number, code.integer());
  if (number == kStridedLayout) return absl::OkStatus();
  return code.error(absl::StrCat("is layout ", number, ", only ",
                                 kStridedLayout, " (strided) is supported"));
}

absl::StatusOr<Symbols> Symbols::read(const Json& range_constraints) {
  Symbols symbols;
  PETREL_ASSIGN_OR_RETURN(auto ranges, range_constraints.members());
  for (const auto& [name, range] : ranges) {
    const std::optional<Json> low = range.find("min_val");
    const std::optional<Json> high = range.find("max_val");
    if (!low || !high) continue;
    PETREL_ASSIGN_OR_RETURN(int64_t min, low->integer());
    PETREL_ASSIGN_OR_RETURN(int64_t max, high->integer());
    if (min == max) symbols.values_.emplace(name, min);
  }
  return symbols;
}

absl::StatusOr<int64_t> Symbols::resolve(const Json& size) const {
  PETREL_ASSIGN_OR_RETURN(auto tagged, size.tagged());
  const auto& [tag, payload] = tagged;
  if (tag == "as_int") return payload.integer();
  if (tag != "as_expr") {
    return size.error(absl::StrCat("has the unknown member '", tag, "'"));
  }
  PETREL_ASSIGN_OR_RETURN(Json expression, payload.at("expr_str"));
  PETREL_ASSIGN_OR_RETURN(std::string text, expression.text());
  const std::string simple = simple_expression(text);
  int64_t value = 0;
  if (!simple.empty() && absl::SimpleAtoi(simple, &value)) return value;
  const auto it = values_.find(simple);
  if (it != values_.end()) return it->second;
  return absl::UnimplementedError(absl::StrCat(
      "the symbolic size ", simple.empty() ? text : simple,
      "; export the model with static shapes"));
}

absl::StatusOr<Sizes> read_sizes(const Json& sizes, const Symbols& symbols) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, sizes.items());
  Sizes result;
  for (size_t i = 0; i < items.size(); ++i) {
    const absl::StatusOr<int64_t> size = symbols.resolve(items[i]);
    if (!size.ok()) {
      return absl::Status(size.status().code(),
                          absl::StrCat("dim ", i, " is ",
                                       size.status().message()));
    }
    result.push_back(*size);
  }
  return result;
}

absl::StatusOr<TensorType> read_tensor_type(const Json& meta,
                                            const Symbols& symbols) {
  PETREL_ASSIGN_OR_RETURN(Json dtype_code, meta.at("dtype"));
  PETREL_ASSIGN_OR_RETURN(ScalarType dtype, read_scalar_type(dtype_code));
  if (const std::optional<Json> layout = meta.find("layout")) {
    PETREL_RETURN_IF_ERROR(check_layout(*layout));
  }
  PETREL_ASSIGN_OR_RETURN(Json size_list, meta.at("sizes"));
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, read_sizes(size_list, symbols));
  TensorType type = TensorType::contiguous(dtype, std::move(sizes));
  PETREL_RETURN_IF_ERROR(check_tensor_type(type));
  return type;
}

}  // namespace petrel::exir
