// SPDX-License-Identifier: Apache-2.0
//
// The expressions in which archives write down sizes that vary: sympy's own
// text of its trees.
//
//   Add(Mul(Integer(2), Symbol('s77', positive=True, integer=True)), Integer(1))
//
//   PETREL_ASSIGN_OR_RETURN(auto e, SymbolicExpression::parse(text));
//   e.size({{"s77", SizeExpression("s77", {1, 16})}})    2*s77 + 1
//
// Quotients in between need not be whole: the size is exact all the same. What
// has no exact form (products with floats that are not short binary fractions) is
// a symbol of its own, known at the sample points only.
#ifndef PETREL_EXIR_IMPORT_SYMBOLIC_EXPRESSION_H_
#define PETREL_EXIR_IMPORT_SYMBOLIC_EXPRESSION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/size_expression.h"

namespace petrel::exir {

class SymbolicExpression {
 public:
  using Symbols = std::map<std::string, SizeExpression>;

  // Unimplemented naming the function that is unknown; InvalidArgument for text
  // that is not an expression.
  static absl::StatusOr<SymbolicExpression> parse(const std::string& text);

  void collect_symbols(std::set<std::string>* out_symbols) const;

  // InvalidArgument when its value at a sample point is not an integer in
  // [-2^62, 2^62], or a symbol is missing.
  absl::StatusOr<SizeExpression> size(const Symbols& symbols) const;

 private:
  enum class Kind : uint8_t {
    kNumber,
    kSymbol,
    kAdd,
    kMultiply,
    kPower,
    kMin,
    kMax,
    kFloorDivide,
    kCeilDivide,
    kDivide,
    kModulo,
    kFloor,
    kCeil,
    kTruncate,
    kRound,
    kSame,
  };
  friend class SymbolicParser;
  // A quotient of two sizes.
  struct Fraction;

  static std::optional<Fraction> combine(Kind kind, const Fraction& a, const Fraction& b);
  static std::optional<Fraction> rounded(Kind kind, const Fraction& x);
  static std::optional<Fraction> power(const Fraction& base, const Fraction& exponent);
  std::optional<Fraction> exact(const Symbols& symbols) const;
  absl::StatusOr<long double> value_at(const Symbols& symbols, size_t k) const;
  void append_text(std::string* out) const;

  Kind kind_ = Kind::kNumber;
  long double number_ = 0;
  std::string symbol_;  // of a number, its text: long doubles differ from machine to machine
  std::vector<SymbolicExpression> parts_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_SYMBOLIC_EXPRESSION_H_
