// SPDX-License-Identifier: Apache-2.0
//
// A size as an expression over symbols (size_symbol.h): sums, products, floor
// divisions, minima and maxima.
//
//   const SizeExpression s("s0", {1, 16});
//   divide(*multiply(s, 4), 2)            2*s0
//   divide(s, 2)                          s0//2
//   subtract(s, *multiply(*divide(s, 4), 4))    s0 - 4*(s0//4), which is s0 % 4
//
// Invariant: an expression is in normal form, a polynomial with sorted terms over
// atoms (symbols, and divisions, minima and maxima that nothing simplifies). Two
// that are equal in form are equal for all values of their symbols; of two that
// are not, nothing is known unless they differ at a sample point. No coefficient,
// sample or count of terms overflows or exceeds its limit: what would is nullopt.
//
// Expressions are values; their parts are immutable and shared.
#ifndef PETREL_EXIR_IR_SIZE_EXPRESSION_H_
#define PETREL_EXIR_IR_SIZE_EXPRESSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exir/ir/size_range.h"
#include "exir/ir/size_symbol.h"

namespace petrel::exir {

class SizeExpression;
struct SizeAtom;
using SizeAtomPtr = std::shared_ptr<const SizeAtom>;
using MaybeSize = std::optional<SizeExpression>;

// coefficient * factors[0] * factors[1] ...; the factors are sorted, one that
// occurs twice is a square.
struct SizeTerm {
  int64_t coefficient = 1;
  std::vector<SizeAtomPtr> factors;
};

class SizeExpression {
 public:
  // Of all atoms and terms, those inside of others included.
  static constexpr size_t kMaxWeight = 256;
  // Divisions, minima and maxima inside each other.
  static constexpr size_t kMaxDepth = 16;

  SizeExpression() = default;                                // 0
  SizeExpression(int64_t constant) : constant_(constant) {}  // NOLINT: a number is a size
  explicit SizeExpression(std::shared_ptr<const SizeSymbol> symbol);
  SizeExpression(std::string symbol, SizeRange range);

  bool is_constant() const { return form_ == nullptr; }
  // The part without symbols.
  int64_t constant() const { return constant_; }
  const std::vector<SizeTerm>& terms() const;

  SizeRange range() const;
  int64_t sample(size_t k) const;
  // Whether a symbol in it is unknown.
  bool has_unknown() const;

  using Assignment = std::function<std::optional<int64_t>(const SizeSymbol&)>;
  // The value for these values of the symbols; nullopt where it overflows, divides
  // by zero or lacks a symbol.
  std::optional<int64_t> evaluate(const Assignment& value_of) const;
  // With `by` in the place of every symbol of this name.
  MaybeSize substitute(const SizeSymbol& symbol, const SizeExpression& by) const;
  void collect_symbols(std::map<std::string, std::shared_ptr<const SizeSymbol>>* out) const;

  // Equal in form: proven equal. A total order otherwise.
  static int compare(const SizeExpression& a, const SizeExpression& b);
  bool operator==(const SizeExpression& other) const { return compare(*this, other) == 0; }
  bool operator!=(const SizeExpression& other) const { return compare(*this, other) != 0; }

  // Equal at every sample point: not refuted.
  static bool agree(const SizeExpression& a, const SizeExpression& b);

 private:
  struct Form;
  friend MaybeSize sum_of(int64_t constant, std::vector<SizeTerm> terms);
  static MaybeSize make(int64_t constant, std::vector<SizeTerm> terms, bool tight);
  SizeRange range_with(const SizeTerm& term, int64_t times, const SizeExpression& by) const;
  SizeRange tightened(SizeRange range) const;

  int64_t constant_ = 0;
  std::shared_ptr<const Form> form_;  // null for a constant
};

struct SizeAtom {
  enum class Kind : uint8_t { kSymbol, kDivide, kMin, kMax };

  Kind kind = Kind::kSymbol;
  std::shared_ptr<const SizeSymbol> symbol;
  std::vector<SizeExpression> operands;  // two of a division, two or more of others
  SizeRange range;
  SampleValues samples{};
  size_t weight = 1;
  size_t depth = 0;
  bool has_unknown = false;

  static int compare(const SizeAtom& a, const SizeAtom& b);
};

// The terms in any order, with repetitions.
MaybeSize sum_of(int64_t constant, std::vector<SizeTerm> terms);
// One atom of these operands, which cannot be simplified.
MaybeSize atom_of(SizeAtom::Kind kind, std::vector<SizeExpression> operands);

MaybeSize add(const SizeExpression& a, const SizeExpression& b);
MaybeSize subtract(const SizeExpression& a, const SizeExpression& b);
MaybeSize multiply(const SizeExpression& a, const SizeExpression& b);
// Towards minus infinity. `is_never_zero` tells of the divisor what its range does
// not; where it is zero the result means nothing.
MaybeSize divide(const SizeExpression& a, const SizeExpression& b, bool is_never_zero = false);
// a - b * (a // b): the remainder has the sign of `b`.
MaybeSize modulo(const SizeExpression& a, const SizeExpression& b, bool is_never_zero = false);
MaybeSize smallest(const std::vector<SizeExpression>& operands);
MaybeSize largest(const std::vector<SizeExpression>& operands);

// "4*s0*s1 + (s0 + 1)//2 - 3", "max(s0, 8)".
std::string to_string(const SizeExpression& expression);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_SIZE_EXPRESSION_H_
