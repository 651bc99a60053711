// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/size_difference.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace petrel::exir {
namespace {

constexpr uint64_t kMaxPoints = 1024;
constexpr uint64_t kCorners = 16;

struct Search {
  std::optional<SymbolValues> found;
  bool tried_all = false;
};

// Tries values of symbols that are not below `least` where a symbol has others.
Search search(const SizeExpression& a, const SizeExpression& b, int64_t least) {
  Search result;
  if (a.has_unknown() || b.has_unknown()) return result;
  std::map<std::string, std::shared_ptr<const SizeSymbol>> symbols;
  a.collect_symbols(&symbols);
  b.collect_symbols(&symbols);
  uint64_t points = 1;
  std::vector<std::pair<const SizeSymbol*, uint64_t>> widths;
  for (const auto& [name, symbol] : symbols) {
    const SizeRange range = symbol->range;
    if (!range.has_low() || !range.has_high()) return result;
    const int64_t low = std::min(std::max<int64_t>(range.low, least), range.high);
    widths.emplace_back(symbol.get(), static_cast<uint64_t>(range.high - low) + 1);
    points = std::min(points * std::min(widths.back().second, kMaxPoints + 1), kMaxPoints + 1);
  }
  const bool few = points <= kMaxPoints;
  result.tried_all = few;
  uint64_t state = 1;
  for (uint64_t point = 0; point < std::min(points, kMaxPoints); ++point) {
    SymbolValues values;
    uint64_t rest = point;
    for (const auto& [symbol, width] : widths) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      // Of many: the ends of all ranges first, where minima and maxima decide.
      const uint64_t offset =
          few                ? rest % width
          : point < kCorners ? (point % 2 == 0 ? point / 2 % width : width - 1 - point / 2 % width)
                             : (state >> 24) % width;
      rest /= width;
      values[symbol->name] = symbol->range.high - static_cast<int64_t>(offset);
    }
    const auto value_of = [&values](const SizeSymbol& symbol) -> std::optional<int64_t> {
      return values.at(symbol.name);
    };
    const std::optional<int64_t> left = a.evaluate(value_of);
    const std::optional<int64_t> right = b.evaluate(value_of);
    if (left && right && *left != *right) {
      result.found = std::move(values);
      return result;
    }
    result.tried_all = result.tried_all && left && right;
  }
  return result;
}

}  // namespace

std::optional<SymbolValues> find_difference(const SizeExpression& a, const SizeExpression& b) {
  return a == b ? std::nullopt : search(a, b, 2).found;
}

bool are_equal(const SizeExpression& a, const SizeExpression& b) {
  if (a == b) return true;
  const Search all = search(a, b, 0);
  return all.tried_all && !all.found;
}

std::string to_string(const SymbolValues& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    absl::StrAppend(&text, text.empty() ? "" : " and ", name, " is ", value);
  }
  return text;
}

}  // namespace petrel::exir
