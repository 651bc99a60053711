// SPDX-License-Identifier: Apache-2.0
//
// Reads sympy's text of its trees.
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "exir/import/symbolic_expression.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Real expressions nest a few levels.
constexpr int kMaxDepth = 64;

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

  static absl::StatusOr<Kind> kind_of(const std::string& function);

  absl::Status error(const std::string& what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("expression '", text_.substr(0, 200), "', column ", place_ + 1, ": ", what));
  }

  void skip_space() {
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
  }

  bool accept(char c) {
    skip_space();
    if (text_[place_] != c) return false;  // 0 at the end
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

  absl::StatusOr<SymbolicExpression> number() {
    skip_space();
    const char* begin = text_.c_str() + place_;
    char* end = nullptr;
    const long double value = std::strtold(begin, &end);
    if (end == begin || !std::isfinite(value)) return error("expected a number");
    place_ += static_cast<size_t>(end - begin);
    return constant(value, std::string(begin, static_cast<size_t>(end - begin)));
  }

  absl::StatusOr<SymbolicExpression> number_alone() {
    PETREL_ASSIGN_OR_RETURN(SymbolicExpression made, number());
    if (place_ != text_.size()) return error("text behind the number");
    return made;
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

  // The name of a function without its modules.
  std::string function() {
    std::string name = word();
    const size_t dot = name.rfind('.');
    return dot == std::string::npos ? name : name.substr(dot + 1);
  }

  absl::StatusOr<SymbolicExpression> expression(int depth) {
    if (depth > kMaxDepth) return error(absl::StrCat("nests deeper than ", kMaxDepth));
    skip_space();
    if (text_[place_] == '-' || std::isdigit(static_cast<unsigned char>(text_[place_])) != 0) {
      return number();
    }
    const std::string name = function();
    if (!accept('(')) {
      // S.One and its kin stand without brackets.
      constexpr std::pair<const char*, long double> kNames[] = {
          {"One", 1}, {"Zero", 0}, {"NegativeOne", -1}, {"Half", 0.5L}};
      for (const auto& [known, value] : kNames) {
        if (name == known) return constant(value, name);
      }
      return error("expected '('");
    }
    if (name == "Integer" || name == "Float" || name == "Rational" || name == "Symbol") {
      return leaf(name);
    }
    return call(name, depth);
  }

  static SymbolicExpression constant(long double value, std::string digits) {
    SymbolicExpression made;
    made.number_ = value;
    made.symbol_ = std::move(digits);
    return made;
  }

  // What stands behind `Integer(` and the like.
  absl::StatusOr<SymbolicExpression> leaf(const std::string& name) {
    SymbolicExpression made;
    if (name == "Integer") {
      PETREL_ASSIGN_OR_RETURN(made, number());
    } else if (name == "Float") {
      PETREL_ASSIGN_OR_RETURN(const std::string digits, quoted());
      PETREL_ASSIGN_OR_RETURN(made, SymbolicParser(digits).number_alone());
    } else if (name == "Symbol") {
      made.kind_ = Kind::kSymbol;
      PETREL_ASSIGN_OR_RETURN(made.symbol_, quoted());
    } else {
      made.kind_ = Kind::kDivide;
      PETREL_ASSIGN_OR_RETURN(SymbolicExpression above, number());
      if (!accept(',')) return error("expected ','");
      PETREL_ASSIGN_OR_RETURN(SymbolicExpression below, number());
      if (below.number_ == 0) return error("divides by zero");
      made.parts_ = {std::move(above), std::move(below)};
    }
    PETREL_RETURN_IF_ERROR(skip_options());
    return made;
  }

  absl::StatusOr<SymbolicExpression> call(const std::string& name, int depth) {
    SymbolicExpression made;
    PETREL_ASSIGN_OR_RETURN(made.kind_, kind_of(name));
    do {
      PETREL_ASSIGN_OR_RETURN(SymbolicExpression part, expression(depth + 1));
      made.parts_.push_back(std::move(part));
    } while (accept(','));
    if (!accept(')')) return error("expected ')'");
    const bool is_unary = made.kind_ >= Kind::kFloor;
    const bool is_list = made.kind_ == Kind::kAdd || made.kind_ == Kind::kMultiply ||
                         made.kind_ == Kind::kMin || made.kind_ == Kind::kMax;
    const size_t wanted = is_unary ? 1 : 2;
    if (is_list || made.parts_.size() == wanted) return made;
    return error(absl::StrCat(name, " has ", made.parts_.size(), " arguments, must have ", wanted));
  }

  const std::string& text_;
  size_t place_ = 0;
};

absl::StatusOr<SymbolicExpression::Kind> SymbolicParser::kind_of(const std::string& function) {
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

}  // namespace petrel::exir
