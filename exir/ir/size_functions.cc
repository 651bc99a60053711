// SPDX-License-Identifier: Apache-2.0
//
// Divisions, minima and maxima in normal form.
#include <algorithm>
#include <numeric>
#include <utility>

#include "exir/ir/size_expression.h"

namespace petrel::exir {
namespace {

using Kind = SizeAtom::Kind;
using Factors = std::vector<SizeAtomPtr>;

SizeRange range_at(Kind kind, SizeRange a, SizeRange b) {
  return kind == Kind::kDivide ? floor_divide(a, b)
         : kind == Kind::kMin  ? smaller_of(a, b)
                               : larger_of(a, b);
}

// False where there is no quotient.
bool combine_at(Kind kind, int64_t next, int64_t* value) {
  if (kind != Kind::kDivide) {
    *value = kind == Kind::kMin ? std::min(*value, next) : std::max(*value, next);
    return true;
  }
  if (next == 0 || (next == -1 && *value == INT64_MIN)) return false;
  *value = floor_divide(*value, next);
  return true;
}

bool less(const SizeAtomPtr& a, const SizeAtomPtr& b) { return SizeAtom::compare(*a, *b) < 0; }

bool includes(const Factors& all, const Factors& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end(), less);
}

Factors without(const Factors& all, const Factors& some) {
  Factors rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest),
                      less);
  return rest;
}

// The sole atom of an expression 1 * atom + constant.
SizeAtomPtr sole_atom(const SizeExpression& x) {
  if (x.terms().size() != 1 || x.terms()[0].coefficient != 1 || x.terms()[0].factors.size() != 1) {
    return nullptr;
  }
  return x.terms()[0].factors[0];
}

// What multiples of `by` there are in `x` leave it.
struct Split {
  std::vector<SizeTerm> quotient;
  std::vector<SizeTerm> rest;
};

// rest // by, where every coefficient of `rest` is in [0, by).
MaybeSize divide_rest(SizeExpression rest, int64_t by) {
  const SizeRange range = floor_divide(rest.range(), {by, by});
  if (range.low == range.high) return SizeExpression(range.low);
  // (g*x + k) // (g*c) is (x + k//g) // c.
  int64_t common = by;
  for (const SizeTerm& term : rest.terms()) common = std::gcd(common, term.coefficient);
  if (common > 1) {
    std::vector<SizeTerm> terms = rest.terms();
    for (SizeTerm& term : terms) term.coefficient /= common;
    const MaybeSize smaller = sum_of(rest.constant() / common, std::move(terms));
    return smaller ? divide(*smaller, SizeExpression(by / common)) : std::nullopt;
  }
  // (x//a + k) // c is (x + a*k) // (a*c).
  const SizeAtomPtr inner = sole_atom(rest);
  if (inner != nullptr && inner->kind == Kind::kDivide && inner->operands[1].is_constant()) {
    const SizeExpression& a = inner->operands[1];
    const MaybeSize offset = multiply(a, SizeExpression(rest.constant()));
    const MaybeSize divisor = multiply(a, SizeExpression(by));
    const MaybeSize sum = offset ? add(inner->operands[0], *offset) : std::nullopt;
    return sum && divisor ? divide(*sum, *divisor) : std::nullopt;
  }
  return atom_of(Kind::kDivide, {std::move(rest), SizeExpression(by)});
}

MaybeSize divide_by_number(const SizeExpression& x, int64_t by) {
  if (by == 1) return x;
  if (x.is_constant()) return SizeExpression(floor_divide(x.constant(), by));
  Split split;
  for (const SizeTerm& term : x.terms()) {
    const int64_t times = floor_divide(term.coefficient, by);
    if (times != 0) split.quotient.push_back({times, term.factors});
    const int64_t left = term.coefficient - times * by;
    if (left != 0) split.rest.push_back({left, term.factors});
  }
  const int64_t times = floor_divide(x.constant(), by);
  const MaybeSize quotient = sum_of(times, std::move(split.quotient));
  const MaybeSize rest = sum_of(x.constant() - times * by, std::move(split.rest));
  const MaybeSize divided = rest ? divide_rest(*rest, by) : std::nullopt;
  return quotient && divided ? add(*quotient, *divided) : std::nullopt;
}

// x // by for a `by` of one term that is never zero: what divides both goes, and
// multiples of it leave the division.
MaybeSize divide_by_term(const SizeExpression& x, const SizeTerm& by) {
  Factors common = by.factors;
  if (x.constant() != 0) common.clear();
  for (const SizeTerm& term : x.terms()) {
    Factors shared;
    std::set_intersection(common.begin(), common.end(), term.factors.begin(), term.factors.end(),
                          std::back_inserter(shared), less);
    common = std::move(shared);
  }
  if (!common.empty()) {
    std::vector<SizeTerm> terms = x.terms();
    for (SizeTerm& term : terms) term.factors = without(term.factors, common);
    const MaybeSize above = sum_of(0, std::move(terms));
    const MaybeSize below = sum_of(0, {{by.coefficient, without(by.factors, common)}});
    return above && below ? divide(*above, *below, true) : std::nullopt;
  }
  Split split;
  for (const SizeTerm& term : x.terms()) {
    if (!includes(term.factors, by.factors)) {
      split.rest.push_back(term);
      continue;
    }
    const int64_t times = floor_divide(term.coefficient, by.coefficient);
    const int64_t left = term.coefficient - times * by.coefficient;
    if (times != 0) split.quotient.push_back({times, without(term.factors, by.factors)});
    if (left != 0) split.rest.push_back({left, term.factors});
  }
  const MaybeSize quotient = sum_of(0, std::move(split.quotient));
  const MaybeSize rest = sum_of(x.constant(), std::move(split.rest));
  const MaybeSize divisor = sum_of(0, {by});
  if (!quotient || !rest || !divisor) return std::nullopt;
  const MaybeSize room = subtract(*divisor, *rest);
  if (room && rest->range().low >= 0 && room->range().low > 0) return quotient;  // 0 <= rest < by
  const MaybeSize divided = atom_of(Kind::kDivide, {*rest, *divisor});
  return divided ? add(*quotient, *divided) : std::nullopt;
}

// The terms of `x`, its constant as one without factors.
std::vector<SizeTerm> all_terms(const SizeExpression& x) {
  std::vector<SizeTerm> terms = x.terms();
  if (x.constant() != 0) terms.push_back({x.constant(), {}});
  return terms;
}

// Of products in an order that multiplication keeps: those of more factors first, then those
// of earlier ones.
bool leads(const SizeTerm& a, const SizeTerm& b) {
  if (a.factors.size() != b.factors.size()) return a.factors.size() > b.factors.size();
  return std::lexicographical_compare(a.factors.begin(), a.factors.end(), b.factors.begin(),
                                      b.factors.end(), less);
}

bool divides(int64_t by, int64_t x) { return by == -1 ? x != INT64_MIN : by != 0 && x % by == 0; }

// The q of which x is q * by, for a `by` that is not constant; nullopt where there is none.
MaybeSize exact_quotient(const SizeExpression& x, const SizeExpression& by) {
  for (size_t k = 0; k < kSamples; ++k) {
    if (by.sample(k) != 0 && !divides(by.sample(k), x.sample(k))) return std::nullopt;
  }
  const std::vector<SizeTerm> divisor = all_terms(by);
  const SizeTerm& first_of_divisor = *std::min_element(divisor.begin(), divisor.end(), leads);
  MaybeSize quotient = SizeExpression(0);
  MaybeSize rest = x;
  // Each step takes a term from the quotient, the one that leads those that are left.
  for (size_t step = 0; quotient && rest && step < SizeExpression::kMaxDepth; ++step) {
    const std::vector<SizeTerm> terms = all_terms(*rest);
    if (terms.empty()) return quotient;
    const SizeTerm& first = *std::min_element(terms.begin(), terms.end(), leads);
    if (!divides(first_of_divisor.coefficient, first.coefficient) ||
        !includes(first.factors, first_of_divisor.factors)) {
      return std::nullopt;
    }
    const MaybeSize part = sum_of(0, {{first.coefficient / first_of_divisor.coefficient,
                                       without(first.factors, first_of_divisor.factors)}});
    const MaybeSize whole = part ? multiply(*part, by) : std::nullopt;
    quotient = part ? add(*quotient, *part) : std::nullopt;
    rest = whole ? subtract(*rest, *whole) : std::nullopt;
  }
  return std::nullopt;
}

// `operands` times -1.
bool negate(std::vector<SizeExpression>* operands) {
  for (SizeExpression& operand : *operands) {
    const MaybeSize negative = multiply(operand, SizeExpression(-1));
    if (!negative) return false;
    operand = *negative;
  }
  return true;
}

// What all of `operands` have in common as a sum: of each product the least
// coefficient, where a missing one counts as 0.
MaybeSize common_part(const std::vector<SizeExpression>& operands) {
  std::vector<SizeTerm> products;
  int64_t constant = operands[0].constant();
  for (const SizeExpression& operand : operands) {
    constant = std::min(constant, operand.constant());
    for (const SizeTerm& term : operand.terms()) products.push_back({0, term.factors});
  }
  const auto same = [](const Factors& a, const Factors& b) {
    return a.size() == b.size() && includes(a, b);
  };
  std::vector<SizeTerm> least;
  for (const SizeTerm& product : products) {
    const bool seen = std::any_of(least.begin(), least.end(), [&](const SizeTerm& term) {
      return same(term.factors, product.factors);
    });
    if (seen) continue;
    int64_t smallest_coefficient = INT64_MAX;
    for (const SizeExpression& operand : operands) {
      int64_t coefficient = 0;
      for (const SizeTerm& term : operand.terms()) {
        if (same(term.factors, product.factors)) coefficient = term.coefficient;
      }
      smallest_coefficient = std::min(smallest_coefficient, coefficient);
    }
    least.push_back({smallest_coefficient, product.factors});
  }
  return sum_of(constant, std::move(least));
}

// `operands` without those that another one always beats; sorted, each once.
bool drop_beaten(Kind kind, std::vector<SizeExpression>* operands) {
  std::sort(operands->begin(), operands->end(),
            [](const auto& a, const auto& b) { return SizeExpression::compare(a, b) < 0; });
  operands->erase(std::unique(operands->begin(), operands->end()), operands->end());
  for (size_t i = 0; i < operands->size();) {
    bool beaten = false;
    for (size_t j = 0; !beaten && j < operands->size(); ++j) {
      if (i == j) continue;
      const MaybeSize gap = subtract((*operands)[j], (*operands)[i]);
      if (!gap) return false;
      const SizeRange range = gap->range();
      beaten = kind == Kind::kMax ? range.low >= 0 : range.high <= 0;
    }
    if (beaten) {
      operands->erase(operands->begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return true;
}

MaybeSize extreme(Kind kind, const std::vector<SizeExpression>& given) {
  std::vector<SizeExpression> operands;
  for (const SizeExpression& operand : given) {
    const SizeAtomPtr inner = operand.constant() == 0 ? sole_atom(operand) : nullptr;
    if (inner != nullptr && inner->kind == kind) {
      operands.insert(operands.end(), inner->operands.begin(), inner->operands.end());
    } else {
      operands.push_back(operand);
    }
  }
  if (operands.empty() || operands.size() > SizeExpression::kMaxDepth) return std::nullopt;
  if (!drop_beaten(kind, &operands)) return std::nullopt;
  if (operands.size() == 1) return operands[0];
  const MaybeSize common = common_part(operands);
  if (!common) return std::nullopt;
  int64_t divisor = 0;
  for (SizeExpression& operand : operands) {
    const MaybeSize rest = subtract(operand, *common);
    if (!rest) return std::nullopt;
    operand = *rest;
    divisor = std::gcd(divisor, operand.constant());
    for (const SizeTerm& term : operand.terms()) divisor = std::gcd(divisor, term.coefficient);
  }
  for (SizeExpression& operand : operands) {
    const MaybeSize rest = divide_by_number(operand, divisor);
    if (!rest) return std::nullopt;
    operand = *rest;
  }
  // What was taken out may have changed the order.
  std::sort(operands.begin(), operands.end(),
            [](const auto& a, const auto& b) { return SizeExpression::compare(a, b) < 0; });
  const MaybeSize atom = atom_of(kind, std::move(operands));
  const MaybeSize scaled = atom ? multiply(*atom, SizeExpression(divisor)) : std::nullopt;
  return scaled ? add(*common, *scaled) : std::nullopt;
}

}  // namespace

MaybeSize atom_of(SizeAtom::Kind kind, std::vector<SizeExpression> operands) {
  SizeAtom atom;
  atom.kind = kind;
  atom.range = operands[0].range();
  for (size_t k = 0; k < kSamples; ++k) atom.samples[k] = operands[0].sample(k);
  for (size_t i = 0; i < operands.size(); ++i) {
    const SizeExpression& operand = operands[i];
    atom.has_unknown = atom.has_unknown || operand.has_unknown();
    ++atom.weight;
    for (const SizeTerm& term : operand.terms()) {
      ++atom.weight;
      for (const SizeAtomPtr& factor : term.factors) {
        atom.weight += factor->weight;
        atom.depth = std::max(atom.depth, factor->depth + 1);
      }
    }
    if (i == 0) continue;
    atom.range = range_at(kind, atom.range, operand.range());
    for (size_t k = 0; k < kSamples; ++k) {
      if (!combine_at(kind, operand.sample(k), &atom.samples[k])) return std::nullopt;
    }
  }
  atom.operands = std::move(operands);
  return sum_of(0, {{1, {std::make_shared<const SizeAtom>(std::move(atom))}}});
}

MaybeSize divide(const SizeExpression& a, const SizeExpression& b, bool is_never_zero) {
  const SizeRange range = b.range();
  if (b.is_constant() && b.constant() == 0) return std::nullopt;
  if (b.range().high < 0) {  // a // b is -a // -b
    std::vector<SizeExpression> both_negative = {a, b};
    if (!negate(&both_negative)) return std::nullopt;
    return divide(both_negative[0], both_negative[1]);
  }
  if (b.is_constant()) return divide_by_number(a, b.constant());
  is_never_zero = is_never_zero || range.never_zero();
  if (!is_never_zero) return atom_of(SizeAtom::Kind::kDivide, {a, b});
  if (a == b) return SizeExpression(1);
  if (a.is_constant() && a.constant() == 0) return a;
  if (b.constant() == 0 && b.terms().size() == 1 && b.terms()[0].coefficient > 0) {
    return divide_by_term(a, b.terms()[0]);
  }
  // A multiple of a sum.
  if (MaybeSize quotient = exact_quotient(a, b)) return quotient;
  const MaybeSize room = subtract(b, a);
  if (room && a.range().low >= 0 && room->range().low > 0) return SizeExpression(0);
  return atom_of(SizeAtom::Kind::kDivide, {a, b});
}

MaybeSize modulo(const SizeExpression& a, const SizeExpression& b, bool is_never_zero) {
  const MaybeSize quotient = divide(a, b, is_never_zero);
  const MaybeSize whole = quotient ? multiply(*quotient, b) : std::nullopt;
  return whole ? subtract(a, *whole) : std::nullopt;
}

MaybeSize smallest(const std::vector<SizeExpression>& operands) {
  return extreme(SizeAtom::Kind::kMin, operands);
}

MaybeSize largest(const std::vector<SizeExpression>& operands) {
  return extreme(SizeAtom::Kind::kMax, operands);
}

}  // namespace petrel::exir
