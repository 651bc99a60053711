// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/size_parser.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

absl::StatusOr<SizeExpression> known(const TextCursor& in, MaybeSize made) {
  if (made) return *std::move(made);
  return in.error("the size overflows, divides by zero or is too long");
}

}  // namespace

absl::Status SizeParser::declare(TextCursor& in) {
  if (!in.accept("<")) return absl::OkStatus();
  do {
    PETREL_RETURN_IF_ERROR(symbol(in));
  } while (in.accept(","));
  return in.expect(">");
}

absl::Status SizeParser::symbol(TextCursor& in) {
  const std::string name(in.identifier());
  if (name.empty()) return in.error("expected the name of a symbol");
  PETREL_RETURN_IF_ERROR(in.expect(":"));
  SizeRange range;
  PETREL_ASSIGN_OR_RETURN(range.low, in.digits());
  PETREL_RETURN_IF_ERROR(in.expect(".."));
  PETREL_ASSIGN_OR_RETURN(range.high, in.digits());
  if (range.is_empty()) return in.error(absl::StrCat("the range of '", name, "' is empty"));
  const bool is_unknown = in.accept("unknown");
  std::shared_ptr<const SizeSymbol> made;
  if (is_unknown || in.accept("at")) {
    SampleValues samples{};
    for (size_t k = 0; k < kSamples; ++k) {
      if (k > 0) PETREL_RETURN_IF_ERROR(in.expect("|"));
      PETREL_ASSIGN_OR_RETURN(samples[k], in.digits());
      if (range.holds(samples[k])) continue;
      return in.error(absl::StrCat("sample ", samples[k], " of '", name, "' must be in [",
                                   range.low, ", ", range.high, "]"));
    }
    made = std::make_shared<const SizeSymbol>(name, range, samples, is_unknown);
  } else if (range.has_low() && range.has_high()) {
    made = std::make_shared<const SizeSymbol>(name, range);
  } else {
    return in.error(absl::StrCat("the range of '", name, "' has no end"));
  }
  if (symbols_.emplace(name, std::move(made)).second) return absl::OkStatus();
  return in.error(absl::StrCat("symbol '", name, "' is declared twice"));
}

absl::StatusOr<SizeExpression> SizeParser::sum(TextCursor& in, int depth) {
  if (depth > kMaxNesting) return in.error(absl::StrCat("nests deeper than ", kMaxNesting));
  const bool is_negative = in.accept("-");
  PETREL_ASSIGN_OR_RETURN(SizeExpression total, product(in, depth));
  if (is_negative) {
    PETREL_ASSIGN_OR_RETURN(total, known(in, multiply(total, SizeExpression(-1))));
  }
  while (true) {
    const bool is_plus = in.accept("+");
    if (!is_plus && !in.accept("-")) return total;
    PETREL_ASSIGN_OR_RETURN(const SizeExpression part, product(in, depth));
    PETREL_ASSIGN_OR_RETURN(total, known(in, is_plus ? add(total, part) : subtract(total, part)));
  }
}

absl::StatusOr<SizeExpression> SizeParser::product(TextCursor& in, int depth) {
  PETREL_ASSIGN_OR_RETURN(SizeExpression total, operand(in, depth));
  while (true) {
    const bool divides = in.follows("//");
    if (!divides && !in.accept("*")) return total;
    PETREL_ASSIGN_OR_RETURN(const SizeExpression part, operand(in, depth));
    PETREL_ASSIGN_OR_RETURN(total,
                            known(in, divides ? divide(total, part) : multiply(total, part)));
  }
}

absl::StatusOr<SizeExpression> SizeParser::operand(TextCursor& in, int depth) {
  if (in.accept("(")) {
    PETREL_ASSIGN_OR_RETURN(SizeExpression inner, sum(in, depth + 1));
    PETREL_RETURN_IF_ERROR(in.expect(")"));
    return inner;
  }
  const std::string name(in.identifier());
  if (name.empty()) {
    PETREL_ASSIGN_OR_RETURN(const int64_t number, in.digits());
    return SizeExpression(number);
  }
  const auto found = symbols_.find(name);
  if (found != symbols_.end()) return SizeExpression(found->second);
  if (name == "min" || name == "max") return extreme(in, name == "max", depth);
  return in.error(absl::StrCat("symbol '", name, "' is not declared"));
}

absl::StatusOr<SizeExpression> SizeParser::extreme(TextCursor& in, bool is_largest, int depth) {
  std::vector<SizeExpression> operands;
  PETREL_RETURN_IF_ERROR(in.expect("("));
  do {
    PETREL_ASSIGN_OR_RETURN(SizeExpression operand, sum(in, depth + 1));
    operands.push_back(std::move(operand));
  } while (in.accept(","));
  PETREL_RETURN_IF_ERROR(in.expect(")"));
  return known(in, is_largest ? largest(operands) : smallest(operands));
}

}  // namespace petrel::exir
