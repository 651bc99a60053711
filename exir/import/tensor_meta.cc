// SPDX-License-Identifier: Apache-2.0
#include "exir/import/tensor_meta.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "exir/import/symbolic_expression.h"
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

constexpr int64_t kStridedLayout = 7;

// Sizes are 32-bit in a program.
constexpr int64_t kLargestSize = std::numeric_limits<int32_t>::max();

// Points between `low` and `high`, in `count` strata of them; `which` decides
// where in a stratum and in what order, so that no two symbols go together.
int64_t point_between(int64_t low, int64_t high, size_t k, size_t count, size_t which) {
  const auto width = static_cast<uint64_t>(high - low + 1);
  const uint64_t stratum = (k * (1 + 2 * (which % 2)) + which) % count;
  const uint64_t begin = width * stratum / count;
  const uint64_t end = std::max(width * (stratum + 1) / count, begin + 1);
  // Odd steps of a golden-ratio sequence: fixed, and without a pattern.
  const uint64_t hash = (k + 1 + 31 * (which + 1)) * uint64_t{0x9E3779B97F4A7C15} >> 33;
  return low + static_cast<int64_t>(begin + hash % (end - begin));
}

std::vector<int64_t> sample_points(int64_t low, int64_t high, size_t which) {
  // Exporters assume that a size is neither 0 nor 1 unless it is always, so
  // nothing may be concluded from those; they are tried last.
  low = std::min(std::max<int64_t>(low, 1), high);
  const int64_t general = std::min(std::max<int64_t>(low, 2), high);
  std::vector<int64_t> points = {high, low};
  const size_t count = kSamples - kFirstGeneralSample;
  for (size_t k = 0; k < count; ++k) {
    points.push_back(point_between(general, high, k, count, which));
  }
  return points;
}

}  // namespace

absl::StatusOr<ScalarType> read_scalar_type(const Json& code) {
  PETREL_ASSIGN_OR_RETURN(int64_t number, code.integer());
  for (const DtypeCode& row : kDtypeCodes) {
    if (row.code != number) continue;
    if (row.type) return *row.type;
    return absl::UnimplementedError(
        absl::StrCat(code.place(), ": dtype ", row.name, " is not supported"));
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
      return code.error(absl::StrCat("is ", number, ", which is no memory format"));
  }
}

absl::Status check_layout(const Json& code) {
  PETREL_ASSIGN_OR_RETURN(int64_t number, code.integer());
  if (number == kStridedLayout) return absl::OkStatus();
  return code.error(
      absl::StrCat("is layout ", number, ", only ", kStridedLayout, " (strided) is supported"));
}

bool SymbolicInt::is_static() const {
  return std::all_of(samples.begin(), samples.end(),
                     [&](int64_t value) { return value == samples[0]; });
}

absl::StatusOr<Symbols> Symbols::read(const Json& range_constraints) {
  Symbols symbols;
  PETREL_ASSIGN_OR_RETURN(auto ranges, range_constraints.members());
  size_t which = 0;
  for (const auto& [name, range] : ranges) {
    // Ranges of whole expressions follow from those of their symbols.
    const bool is_symbol = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
    });
    if (!is_symbol) continue;
    Symbol symbol;
    const std::optional<Json> low = range.find("min_val");
    const std::optional<Json> high = range.find("max_val");
    if (low && !low->is_null()) {
      PETREL_ASSIGN_OR_RETURN(symbol.low, low->integer());
    }
    if (high && !high->is_null()) {
      PETREL_ASSIGN_OR_RETURN(const int64_t most, high->integer());
      if (most <= kLargestSize) {
        if (most < symbol.low) {
          return range.error(absl::StrCat("has max_val ", most, " below min_val ", symbol.low));
        }
        symbol.high = most;
        symbol.samples = sample_points(symbol.low, most, which++);
      }
    }
    symbols.symbols_.emplace(name, std::move(symbol));
  }
  return symbols;
}

absl::StatusOr<SymbolicInt> Symbols::resolve(const Json& size) const {
  PETREL_ASSIGN_OR_RETURN(auto tagged, size.tagged());
  const auto& [tag, payload] = tagged;
  SymbolicInt result;
  if (tag == "as_int") {
    PETREL_ASSIGN_OR_RETURN(result.bound, payload.integer());
    result.samples.assign(kSamples, result.bound);
    return result;
  }
  if (tag != "as_expr") {
    return size.error(absl::StrCat("has the unknown member '", tag, "'"));
  }
  PETREL_ASSIGN_OR_RETURN(Json text_json, payload.at("expr_str"));
  PETREL_ASSIGN_OR_RETURN(std::string text, text_json.text());
  PETREL_ASSIGN_OR_RETURN(const SymbolicExpression expression, SymbolicExpression::parse(text));
  std::set<std::string> names;
  expression.collect_symbols(&names);
  std::map<std::string, SymbolicExpression::Range> ranges;
  for (const std::string& name : names) {
    const auto found = symbols_.find(name);
    if (found == symbols_.end() || found->second.high < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("symbol ", name,
                       ", which has no upper bound; export the model with "
                       "one, as in dynamic_shapes={...: {DIM: Dim(\"",
                       name, "\", max=N)}}"));
    }
    ranges[name] = {static_cast<long double>(found->second.low),
                    static_cast<long double>(found->second.high)};
  }
  for (size_t k = 0; k < kSamples; ++k) {
    std::map<std::string, int64_t> values;
    for (const std::string& name : names) {
      values[name] = symbols_.at(name).samples[k];
    }
    PETREL_ASSIGN_OR_RETURN(const int64_t value, expression.evaluate(values));
    result.samples.push_back(value);
  }
  result.bound = *std::max_element(result.samples.begin(), result.samples.end());
  if (!result.is_static()) {
    PETREL_ASSIGN_OR_RETURN(const SymbolicExpression::Range range, expression.range(ranges));
    const long double most = std::floor(range.high);
    if (most > static_cast<long double>(result.bound) &&
        most <= static_cast<long double>(kLargestSize)) {
      result.bound = static_cast<int64_t>(most);
    }
  }
  return result;
}

absl::StatusOr<Sizes> read_sizes(const Json& sizes, const Symbols& symbols) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, sizes.items());
  Sizes result;
  for (size_t i = 0; i < items.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(const SymbolicInt size, symbols.resolve(items[i]));
    if (!size.is_static()) {
      return absl::InvalidArgumentError(absl::StrCat("dim ", i, " varies, must be fixed"));
    }
    result.push_back(size.bound);
  }
  return result;
}

absl::StatusOr<TensorType> read_tensor_type(const Json& meta, const Symbols& symbols) {
  PETREL_ASSIGN_OR_RETURN(Json dtype_code, meta.at("dtype"));
  PETREL_ASSIGN_OR_RETURN(ScalarType dtype, read_scalar_type(dtype_code));
  if (const std::optional<Json> layout = meta.find("layout")) {
    PETREL_RETURN_IF_ERROR(check_layout(*layout));
  }
  PETREL_ASSIGN_OR_RETURN(Json size_list, meta.at("sizes"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, size_list.items());
  Sizes bounds;
  std::vector<Sizes> samples(kSamples);
  for (size_t i = 0; i < items.size(); ++i) {
    const absl::StatusOr<SymbolicInt> size = symbols.resolve(items[i]);
    if (!size.ok()) {
      return absl::Status(size.status().code(),
                          absl::StrCat("dim ", i, " is ", size.status().message()));
    }
    bounds.push_back(size->bound);
    for (size_t k = 0; k < kSamples; ++k) {
      samples[k].push_back(size->samples[k]);
    }
  }
  TensorType type = TensorType::dynamic(dtype, std::move(bounds), std::move(samples));
  PETREL_RETURN_IF_ERROR(check_tensor_type(type));
  return type;
}

}  // namespace petrel::exir
