// SPDX-License-Identifier: Apache-2.0
//
// The expressions in which archives write down sizes that vary: sympy's own
// text of its trees.
//
//   Add(Mul(Integer(2), Symbol('s77', positive=True, integer=True)), Integer(1))
//
//   PETREL_ASSIGN_OR_RETURN(auto e, SymbolicExpression::parse(text));
//   e.evaluate({{"s77", 4}})          9
//   e.range({{"s77", {1, 16}}})       [3, 33]
//
// Both sides are computed as long doubles: sizes and their products are far
// below 2^63, and a value that is no integer in the end is an error.
#ifndef PETREL_EXIR_IMPORT_SYMBOLIC_EXPRESSION_H_
#define PETREL_EXIR_IMPORT_SYMBOLIC_EXPRESSION_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace petrel::exir {

class SymbolicExpression {
 public:
  struct Range {
    long double low;
    long double high;
  };

  // Unimplemented naming the function that is unknown; InvalidArgument for text
  // that is no expression.
  static absl::StatusOr<SymbolicExpression> parse(const std::string& text);

  void collect_symbols(std::set<std::string>* out_symbols) const;

  // InvalidArgument when the value is no integer in [-2^62, 2^62] or a symbol is
  // unknown.
  absl::StatusOr<int64_t> evaluate(const std::map<std::string, int64_t>& symbols) const;

  // Bounds of the value for symbols in these ranges; not always tight.
  absl::StatusOr<Range> range(const std::map<std::string, Range>& symbols) const;

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

  static absl::StatusOr<Kind> kind_of(const std::string& function);

  Kind kind_ = Kind::kNumber;
  long double number_ = 0;
  std::string symbol_;
  std::vector<SymbolicExpression> parts_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_SYMBOLIC_EXPRESSION_H_
