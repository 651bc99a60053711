// SPDX-License-Identifier: Apache-2.0
#include "exir/import/symbolic_expression.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Real expressions nest a few levels.
constexpr int kMaxDepth = 64;
constexpr long double kLargest = 4611686018427387904.0L;  // 2^62

absl::Status refuse(const std::string& what) { return absl::InvalidArgumentError(what); }

}  // namespace

// A recursive-descent reader: function "(" arguments ")", numbers, 'text'.
class SymbolicParser {
 public:
  explicit SymbolicParser(const std::string& text) : text_(text) {}

  absl::StatusOr<SymbolicExpression> parse() {
    PETREL_ASSIGN_OR_RETURN(SymbolicExpression whole, expression(0));
    skip_space();
    if (place_ != text_.size()) return error("text behind the expression");
    return whole;
  }

 private:
  using Kind = SymbolicExpression::Kind;

  absl::Status error(const std::string& what) const {
    return refuse(
        absl::StrCat("expression '", text_.substr(0, 200), "', column ", place_ + 1, ": ", what));
  }

  void skip_space() {
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
  }

  bool accept(char c) {
    skip_space();
    if (place_ >= text_.size() || text_[place_] != c) return false;
    ++place_;
    return true;
  }

  std::string word() {
    skip_space();
    const size_t begin = place_;
    while (place_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[place_])) != 0 ||
                                     text_[place_] == '_' || text_[place_] == '.')) {
      ++place_;
    }
    return text_.substr(begin, place_ - begin);
  }

  absl::StatusOr<std::string> quoted() {
    if (!accept('\'')) return error("expected a quoted text");
    const size_t end = text_.find('\'', place_);
    if (end == std::string::npos) return error("the quote does not end");
    std::string found = text_.substr(place_, end - place_);
    place_ = end + 1;
    return found;
  }

  absl::StatusOr<long double> number() {
    skip_space();
    const char* begin = text_.c_str() + place_;
    char* end = nullptr;
    const long double value = std::strtold(begin, &end);
    if (end == begin || !std::isfinite(value)) return error("expected a number");
    place_ += static_cast<size_t>(end - begin);
    return value;
  }

  // `, positive=True, integer=True)`
  absl::Status skip_options() {
    while (accept(',')) {
      if (word().empty() || !accept('=') || word().empty()) {
        return error("expected NAME=VALUE");
      }
    }
    if (accept(')')) return absl::OkStatus();
    return error("expected ')'");
  }

  absl::StatusOr<SymbolicExpression> expression(int depth) {
    if (depth > kMaxDepth) {
      return error(absl::StrCat("nests deeper than ", kMaxDepth));
    }
    SymbolicExpression made;
    skip_space();
    if (place_ < text_.size() &&
        (text_[place_] == '-' || std::isdigit(static_cast<unsigned char>(text_[place_])) != 0)) {
      PETREL_ASSIGN_OR_RETURN(made.number_, number());
      return made;
    }
    std::string function = word();
    const size_t dot = function.rfind('.');
    if (dot != std::string::npos) function = function.substr(dot + 1);
    if (!accept('(')) {
      // S.One and its kin stand without brackets.
      constexpr std::pair<const char*, long double> kNames[] = {
          {"One", 1}, {"Zero", 0}, {"NegativeOne", -1}, {"Half", 0.5L}};
      for (const auto& [name, value] : kNames) {
        if (function != name) continue;
        made.number_ = value;
        return made;
      }
      return error("expected '('");
    }
    if (function == "Integer") {
      PETREL_ASSIGN_OR_RETURN(made.number_, number());
      PETREL_RETURN_IF_ERROR(skip_options());
      return made;
    }
    if (function == "Float") {
      PETREL_ASSIGN_OR_RETURN(const std::string digits, quoted());
      made.number_ = std::strtold(digits.c_str(), nullptr);
      PETREL_RETURN_IF_ERROR(skip_options());
      return made;
    }
    if (function == "Rational") {
      PETREL_ASSIGN_OR_RETURN(const long double above, number());
      if (!accept(',')) return error("expected ','");
      PETREL_ASSIGN_OR_RETURN(const long double below, number());
      if (below == 0) return error("divides by zero");
      made.number_ = above / below;
      PETREL_RETURN_IF_ERROR(skip_options());
      return made;
    }
    if (function == "Symbol") {
      made.kind_ = Kind::kSymbol;
      PETREL_ASSIGN_OR_RETURN(made.symbol_, quoted());
      PETREL_RETURN_IF_ERROR(skip_options());
      return made;
    }
    PETREL_ASSIGN_OR_RETURN(made.kind_, SymbolicExpression::kind_of(function));
    do {
      PETREL_ASSIGN_OR_RETURN(SymbolicExpression part, expression(depth + 1));
      made.parts_.push_back(std::move(part));
    } while (accept(','));
    if (!accept(')')) return error("expected ')'");
    const bool is_unary = made.kind_ >= Kind::kFloor;
    const bool is_list = made.kind_ == Kind::kAdd || made.kind_ == Kind::kMultiply ||
                         made.kind_ == Kind::kMin || made.kind_ == Kind::kMax;
    const size_t wanted = is_unary ? 1 : 2;
    if (!is_list && made.parts_.size() != wanted) {
      return error(
          absl::StrCat(function, " has ", made.parts_.size(), " arguments, must have ", wanted));
    }
    return made;
  }

  const std::string& text_;
  size_t place_ = 0;
};

absl::StatusOr<SymbolicExpression::Kind> SymbolicExpression::kind_of(const std::string& function) {
  struct Row {
    const char* name;
    Kind kind;
  };
  constexpr Row kRows[] = {
      {"Add", Kind::kAdd},
      {"Mul", Kind::kMultiply},
      {"Pow", Kind::kPower},
      {"PowByNatural", Kind::kPower},
      {"Min", Kind::kMin},
      {"Max", Kind::kMax},
      {"FloorDiv", Kind::kFloorDivide},
      {"CeilDiv", Kind::kCeilDivide},
      {"CleanDiv", Kind::kDivide},
      {"IntTrueDiv", Kind::kDivide},
      {"FloatTrueDiv", Kind::kDivide},
      {"Mod", Kind::kModulo},
      {"PythonMod", Kind::kModulo},
      {"floor", Kind::kFloor},
      {"FloorToInt", Kind::kFloor},
      {"ceiling", Kind::kCeil},
      {"CeilToInt", Kind::kCeil},
      {"TruncToInt", Kind::kTruncate},
      {"TruncToFloat", Kind::kTruncate},
      {"RoundToInt", Kind::kRound},
      {"ToFloat", Kind::kSame},
      {"Identity", Kind::kSame},
  };
  for (const Row& row : kRows) {
    if (function == row.name) return row.kind;
  }
  return absl::UnimplementedError(
      absl::StrCat("sizes computed with '", function, "' are not supported"));
}

absl::StatusOr<SymbolicExpression> SymbolicExpression::parse(const std::string& text) {
  return SymbolicParser(text).parse();
}

void SymbolicExpression::collect_symbols(std::set<std::string>* out_symbols) const {
  if (kind_ == Kind::kSymbol) out_symbols->insert(symbol_);
  for (const SymbolicExpression& part : parts_) {
    part.collect_symbols(out_symbols);
  }
}

absl::StatusOr<int64_t> SymbolicExpression::evaluate(
    const std::map<std::string, int64_t>& symbols) const {
  std::map<std::string, Range> points;
  for (const auto& [name, value] : symbols) {
    const auto at = static_cast<long double>(value);
    points[name] = {at, at};
  }
  PETREL_ASSIGN_OR_RETURN(const Range at, range(points));
  if (at.low != at.high || at.low != std::floor(at.low) || std::fabs(at.low) > kLargest) {
    return refuse("a size is no integer below 2^62");
  }
  return static_cast<int64_t>(at.low);
}

absl::StatusOr<SymbolicExpression::Range> SymbolicExpression::range(
    const std::map<std::string, Range>& symbols) const {
  if (kind_ == Kind::kNumber) return Range{number_, number_};
  if (kind_ == Kind::kSymbol) {
    const auto found = symbols.find(symbol_);
    if (found != symbols.end()) return found->second;
    return refuse(absl::StrCat("symbol ", symbol_, " has no range"));
  }
  std::vector<Range> parts;
  for (const SymbolicExpression& part : parts_) {
    PETREL_ASSIGN_OR_RETURN(const Range at, part.range(symbols));
    parts.push_back(at);
  }
  // The extremes of op(a, b) lie at corners where op is monotone in each.
  const auto corners = [](const Range& a, const Range& b, auto op) {
    const long double at[] = {op(a.low, b.low), op(a.low, b.high), op(a.high, b.low),
                              op(a.high, b.high)};
    Range all = {at[0], at[0]};
    for (long double value : at) {
      all.low = std::min(all.low, value);
      all.high = std::max(all.high, value);
    }
    return all;
  };
  const auto each = [&](auto op) { return Range{op(parts[0].low), op(parts[0].high)}; };
  const auto divides_by_zero = [](const Range& by) { return by.low <= 0 && by.high >= 0; };
  Range all = parts[0];
  switch (kind_) {
    case Kind::kAdd:
      for (size_t i = 1; i < parts.size(); ++i) {
        all = {all.low + parts[i].low, all.high + parts[i].high};
      }
      return all;
    case Kind::kMultiply:
      for (size_t i = 1; i < parts.size(); ++i) {
        all = corners(all, parts[i], [](long double a, long double b) { return a * b; });
      }
      return all;
    case Kind::kMin:
      for (const Range& part : parts) {
        all = {std::min(all.low, part.low), std::min(all.high, part.high)};
      }
      return all;
    case Kind::kMax:
      for (const Range& part : parts) {
        all = {std::max(all.low, part.low), std::max(all.high, part.high)};
      }
      return all;
    case Kind::kPower:
      if (parts[1].low != parts[1].high || (parts[1].low < 0 && divides_by_zero(parts[0]))) {
        return refuse("a size is a power of two numbers that vary");
      }
      return corners(parts[0], parts[1],
                     [](long double a, long double b) { return std::pow(a, b); });
    case Kind::kFloorDivide:
    case Kind::kCeilDivide:
    case Kind::kDivide: {
      if (divides_by_zero(parts[1])) {
        return refuse("a size is divided by what may be zero");
      }
      const Kind kind = kind_;
      return corners(parts[0], parts[1], [kind](long double a, long double b) {
        const long double quotient = a / b;
        return kind == Kind::kDivide        ? quotient
               : kind == Kind::kFloorDivide ? std::floor(quotient)
                                            : std::ceil(quotient);
      });
    }
    case Kind::kModulo: {
      const Range& by = parts[1];
      if (by.low <= 0) return refuse("a remainder of what may not be positive");
      if (all.low == all.high && by.low == by.high) {
        const long double rest = all.low - std::floor(all.low / by.low) * by.low;
        return Range{rest, rest};
      }
      return Range{0, by.high - 1};
    }
    case Kind::kFloor:
      return each([](long double a) { return std::floor(a); });
    case Kind::kCeil:
      return each([](long double a) { return std::ceil(a); });
    case Kind::kTruncate:
      return each([](long double a) { return std::trunc(a); });
    case Kind::kRound:
      return each([](long double a) { return std::nearbyint(a); });
    default:
      return all;
  }
}

}  // namespace petrel::exir
