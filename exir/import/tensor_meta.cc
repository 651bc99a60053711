// SPDX-License-Identifier: Apache-2.0
#include "exir/import/tensor_meta.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "exir/annotate.h"
#include "exir/import/symbolic_expression.h"
#include "exir/ir/size_expression.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

struct DtypeCode {
  int64_t code;
  const char* name;
  std::optional<ScalarType> type;
};

constexpr DtypeCode kDtypeCodes[] = {
    {1, "uint8", ScalarType::kByte},         {2, "int8", ScalarType::kChar},
    {3, "int16", ScalarType::kShort},        {4, "int32", ScalarType::kInt},
    {5, "int64", ScalarType::kLong},         {6, "float16", ScalarType::kHalf},
    {7, "float32", ScalarType::kFloat},      {8, "float64", ScalarType::kDouble},
    {9, "complex32", std::nullopt},          {10, "complex64", std::nullopt},
    {11, "complex128", std::nullopt},        {12, "bool", ScalarType::kBool},
    {13, "bfloat16", ScalarType::kBFloat16}, {28, "uint16", ScalarType::kUInt16},
    {29, "float8_e4m3fn", std::nullopt},     {30, "float8_e5m2", std::nullopt},
    {31, "float8_e4m3fnuz", std::nullopt},   {32, "float8_e5m2fnuz", std::nullopt},
    {33, "float8_e8m0fnu", std::nullopt},    {34, "uint32", ScalarType::kUInt32},
    {35, "uint64", ScalarType::kUInt64},
};

constexpr int64_t kComplex64 = 10;
constexpr int64_t kComplex128 = 11;

constexpr int64_t kStridedLayout = 7;

// Sizes are 32-bit in a program.
constexpr int64_t kLargestSize = std::numeric_limits<int32_t>::max();

// Characters of an expression: some hundred symbols.
constexpr size_t kMaxExpression = size_t{1} << 16;

bool is_symbol(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

// The symbol of `8*s24` or `8*s24 + 1` and what the expression is where that is 1.
struct ValueAtOne {
  std::string symbol;
  int64_t value = 0;
};

std::optional<ValueAtOne> value_at_one(absl::string_view expression) {
  ValueAtOne result;
  for (const absl::string_view term : absl::StrSplit(expression, " + ")) {
    const std::vector<absl::string_view> factors = absl::StrSplit(term, '*');
    int64_t number = 0;
    const bool has_number = absl::SimpleAtoi(factors[0], &number);
    if (!has_number) number = 1;
    if (number < 1 || number > kLargestSize || factors.size() > (has_number ? 2 : 1)) {
      return std::nullopt;
    }
    result.value += number;
    if (has_number && factors.size() == 1) continue;
    if (!result.symbol.empty() || !is_symbol(factors.back())) return std::nullopt;
    result.symbol = std::string(factors.back());
  }
  return result;
}

// torch takes what it derives sizes from, as the s of 8*s, for 2 and more. The range of the
// whole says which sizes calls may have: those for an s of 1, too.
std::set<std::string> symbols_that_may_be_1(
    const std::vector<std::pair<std::string, Json>>& ranges) {
  std::set<std::string> names;
  for (const auto& [name, range] : ranges) {
    const std::optional<ValueAtOne> at_one = is_symbol(name) ? std::nullopt : value_at_one(name);
    const std::optional<Json> low = range.find("min_val");
    if (!at_one || !low || low->is_null()) continue;
    const absl::StatusOr<int64_t> least = low->integer();
    if (least.ok() && *least <= at_one->value) names.insert(at_one->symbol);
  }
  return names;
}

// What torch calls u0, u1 ...
bool is_found_in_data(const std::string& symbol) { return symbol[0] == 'u'; }

}  // namespace

absl::StatusOr<ScalarType> read_scalar_type(const Json& code) {
  PETREL_ASSIGN_OR_RETURN(int64_t number, code.integer());
  for (const DtypeCode& row : kDtypeCodes) {
    if (row.code != number) continue;
    if (row.type) return *row.type;
    return absl::UnimplementedError(
        absl::StrCat(code.place(), ": dtype ", row.name, " is not supported"));
  }
  return code.error(absl::StrCat("is ", number, ", which is not a dtype"));
}

absl::StatusOr<ScalarType> read_part_type(const Json& code) {
  PETREL_ASSIGN_OR_RETURN(int64_t number, code.integer());
  if (number == kComplex64) return ScalarType::kFloat;
  if (number == kComplex128) return ScalarType::kDouble;
  return read_scalar_type(code);
}

bool is_complex(const Json& meta) {
  const std::optional<Json> dtype = meta.find("dtype");
  if (!dtype) return false;
  const absl::StatusOr<int64_t> number = dtype->integer();
  return number.ok() && (*number == kComplex64 || *number == kComplex128);
}

const Float8* float8_of(const Json& meta) {
  const std::optional<Json> dtype = meta.find("dtype");
  if (!dtype) return nullptr;
  const absl::StatusOr<int64_t> number = dtype->integer();
  return number.ok() ? find_float8(*number) : nullptr;
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
      return code.error(absl::StrCat("is ", number, ", which is no memory format"));
  }
}

absl::Status check_layout(const Json& code) {
  PETREL_ASSIGN_OR_RETURN(int64_t number, code.integer());
  if (number == kStridedLayout) return absl::OkStatus();
  return code.error(
      absl::StrCat("is layout ", number, ", only ", kStridedLayout, " (strided) is supported"));
}

absl::StatusOr<Symbols> Symbols::read(const Json& range_constraints) {
  Symbols symbols;
  PETREL_ASSIGN_OR_RETURN(auto ranges, range_constraints.members());
  const std::set<std::string> may_be_1 = symbols_that_may_be_1(ranges);
  for (const auto& [name, range] : ranges) {
    if (!is_symbol(name)) continue;
    const std::optional<Json> low = range.find("min_val");
    const std::optional<Json> high = range.find("max_val");
    SizeRange sizes{0, kLargestSize + 1};
    if (low && !low->is_null()) {
      PETREL_ASSIGN_OR_RETURN(sizes.low, low->integer());
      if (sizes.low == 2 && may_be_1.count(name) != 0) sizes.low = 1;
    }
    if (high && !high->is_null()) {
      PETREL_ASSIGN_OR_RETURN(sizes.high, high->integer());
    }
    if (sizes.high > kLargestSize) {
      const bool has_low = low && !low->is_null();
      symbols.unbounded_.emplace(name, has_low ? sizes.low : -kLargestSize);
      continue;
    }
    if (sizes.is_empty()) {
      return range.error(absl::StrCat("has max_val ", sizes.high, " below min_val ", sizes.low));
    }
    symbols.bounded_.emplace(name, SizeExpression(name, sizes));
  }
  return symbols;
}

absl::Status Symbols::limit(const SizeLimits& limits) {
  for (const auto& [name, least] : unbounded_) {
    if (is_found_in_data(name) && !limits.is_of_none()) continue;
    const std::optional<int64_t> most = limits.find(name, least);
    if (!most) continue;
    const SizeRange sizes{std::max<int64_t>(least, 0), *most};
    if (sizes.is_empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("max-size ", name, "=", *most, ": it is at least ", sizes.low));
    }
    bounded_.emplace(name, SizeExpression(name, sizes));
  }
  return absl::OkStatus();
}

absl::StatusOr<SizeExpression> Symbols::resolve(const Json& size) const {
  PETREL_ASSIGN_OR_RETURN(auto tagged, size.tagged());
  const auto& [tag, payload] = tagged;
  if (tag == "as_int") {
    PETREL_ASSIGN_OR_RETURN(const int64_t number, payload.integer());
    return SizeExpression(number);
  }
  if (tag != "as_expr") {
    return size.error(absl::StrCat("has the unknown member '", tag, "'"));
  }
  PETREL_ASSIGN_OR_RETURN(Json text_json, payload.at("expr_str"));
  PETREL_ASSIGN_OR_RETURN(const std::string_view text, text_json.text_view());
  if (text.size() > kMaxExpression) {
    return text_json.error(
        absl::StrCat("has ", text.size(), " characters, the limit is ", kMaxExpression));
  }
  const auto known = resolved_.find(text);
  if (known != resolved_.end()) return known->second;
  std::string copy(text);
  absl::StatusOr<SizeExpression> made = read_expression(copy);
  return resolved_.emplace(std::move(copy), std::move(made)).first->second;
}

absl::StatusOr<SizeExpression> Symbols::read_expression(const std::string& text) const {
  PETREL_ASSIGN_OR_RETURN(const SymbolicExpression expression, SymbolicExpression::parse(text));
  std::set<std::string> names;
  expression.collect_symbols(&names);
  for (const std::string& name : names) {
    if (bounded_.count(name) != 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "symbol ", name, " has no upper bound; ",
        is_found_in_data(name)
            ? "say one in the model, as in torch._check(n <= N) for n = x.item() or n = x.shape[0]"
            : absl::StrCat("say one with max-size ", name,
                           "=N, or in the model, as in dynamic_shapes={...: {DIM: Dim(\"", name,
                           "\", max=N)}}")));
  }
  return expression.size(bounded_);
}

absl::StatusOr<Sizes> read_sizes(const Json& sizes, const Symbols& symbols) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, sizes.items());
  Sizes result;
  for (size_t i = 0; i < items.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(const SizeExpression size, symbols.resolve(items[i]));
    if (!size.is_constant()) {
      return absl::InvalidArgumentError(absl::StrCat("dim ", i, " varies, must be fixed"));
    }
    result.push_back(size.constant());
  }
  return result;
}

absl::Status check_row_major(const Json& meta, const Symbols& symbols, bool from_start) {
  PETREL_ASSIGN_OR_RETURN(Json size_list, meta.at("sizes"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> sizes, size_list.items());
  PETREL_ASSIGN_OR_RETURN(Json stride_list, meta.at("strides"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> strides, stride_list.items());
  if (strides.size() != sizes.size()) {
    return stride_list.error(
        absl::StrCat("has ", strides.size(), " items, must have ", sizes.size()));
  }
  MaybeSize expected = SizeExpression(1);
  for (size_t i = sizes.size(); i-- > 0 && expected;) {
    PETREL_ASSIGN_OR_RETURN(const SizeExpression size, symbols.resolve(sizes[i]));
    PETREL_ASSIGN_OR_RETURN(const SizeExpression stride, symbols.resolve(strides[i]));
    if (size != SizeExpression(1) && stride != *expected) expected = std::nullopt;
    if (expected) expected = multiply(*expected, size);
  }
  if (!expected) return absl::UnimplementedError("its elements are not in the order of its sizes");
  if (!from_start) return absl::OkStatus();
  PETREL_ASSIGN_OR_RETURN(Json offset, meta.at("storage_offset"));
  PETREL_ASSIGN_OR_RETURN(const SizeExpression start, symbols.resolve(offset));
  if (start == SizeExpression(0)) return absl::OkStatus();
  return absl::UnimplementedError("its elements do not begin where its storage does");
}

namespace {

absl::StatusOr<TensorType> tensor_type(const Json& meta, const Symbols& symbols,
                                       absl::StatusOr<ScalarType> (*read_type)(const Json&)) {
  PETREL_ASSIGN_OR_RETURN(Json dtype_code, meta.at("dtype"));
  PETREL_ASSIGN_OR_RETURN(ScalarType dtype, read_type(dtype_code));
  if (const std::optional<Json> layout = meta.find("layout")) {
    PETREL_RETURN_IF_ERROR(check_layout(*layout));
  }
  PETREL_ASSIGN_OR_RETURN(Json size_list, meta.at("sizes"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, size_list.items());
  std::vector<SizeExpression> sizes;
  for (size_t i = 0; i < items.size(); ++i) {
    absl::StatusOr<SizeExpression> size = symbols.resolve(items[i]);
    if (!size.ok()) return annotate(size.status(), absl::StrCat("dim ", i));
    sizes.push_back(*std::move(size));
  }
  TensorType type = TensorType::dynamic(dtype, std::move(sizes));
  PETREL_RETURN_IF_ERROR(check_tensor_type(type));
  return type;
}

}  // namespace

absl::StatusOr<TensorType> read_tensor_type(const Json& meta, const Symbols& symbols) {
  return tensor_type(meta, symbols, read_scalar_type);
}

absl::StatusOr<TensorType> read_part_tensor_type(const Json& meta, const Symbols& symbols) {
  return tensor_type(meta, symbols, [](const Json& code) -> absl::StatusOr<ScalarType> {
    PETREL_ASSIGN_OR_RETURN(const int64_t number, code.integer());
    if (find_float8(number) != nullptr) return ScalarType::kFloat;
    return read_part_type(code);
  });
}

}  // namespace petrel::exir
