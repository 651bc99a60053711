// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/size_expression.h"

#include <algorithm>
#include <utility>

namespace petrel::exir {
namespace {

int compare_factors(const std::vector<SizeAtomPtr>& a, const std::vector<SizeAtomPtr>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;  // the higher degree first
  for (size_t i = 0; i < a.size(); ++i) {
    if (const int order = SizeAtom::compare(*a[i], *b[i]); order != 0) return order;
  }
  return 0;
}

SizeRange range_of(const SizeTerm& term) {
  SizeRange range{term.coefficient, term.coefficient};
  for (const SizeAtomPtr& factor : term.factors) range = range * factor->range;
  return range;
}

// False on overflow.
bool add_product(const SizeTerm& term, size_t k, int64_t* sum) {
  int64_t product = term.coefficient;
  for (const SizeAtomPtr& factor : term.factors) {
    if (__builtin_mul_overflow(product, factor->samples[k], &product)) return false;
  }
  return !__builtin_add_overflow(*sum, product, sum);
}

// Sorted, each product once, none with coefficient 0; numbers go to `constant`.
// False on overflow.
bool normalize(int64_t* constant, std::vector<SizeTerm>* terms) {
  for (SizeTerm& term : *terms) {
    if (term.factors.empty()) {
      if (__builtin_add_overflow(*constant, term.coefficient, constant)) return false;
      term.coefficient = 0;
    }
    std::sort(term.factors.begin(), term.factors.end(),
              [](const auto& a, const auto& b) { return SizeAtom::compare(*a, *b) < 0; });
  }
  std::sort(terms->begin(), terms->end(), [](const SizeTerm& a, const SizeTerm& b) {
    return compare_factors(a.factors, b.factors) < 0;
  });
  std::vector<SizeTerm> merged;
  for (SizeTerm& term : *terms) {
    if (!merged.empty() && compare_factors(merged.back().factors, term.factors) == 0) {
      int64_t& sum = merged.back().coefficient;
      if (__builtin_add_overflow(sum, term.coefficient, &sum)) return false;
    } else {
      merged.push_back(std::move(term));
    }
  }
  merged.erase(std::remove_if(merged.begin(), merged.end(),
                              [](const SizeTerm& term) { return term.coefficient == 0; }),
               merged.end());
  *terms = std::move(merged);
  return true;
}

// What fails once fails for good.
class Sum {
 public:
  void add(const MaybeSize& part, int64_t factor) {
    if (part && whole_) part_ = multiply(*part, SizeExpression(factor));
    whole_ = part && whole_ && part_ ? petrel::exir::add(*whole_, *part_) : std::nullopt;
  }
  const MaybeSize& whole() const { return whole_; }

 private:
  MaybeSize whole_ = SizeExpression(0);
  MaybeSize part_;
};

}  // namespace

struct SizeExpression::Form {
  std::vector<SizeTerm> terms;
  SizeRange range;
  SampleValues samples{};
  size_t weight = 0;
  size_t depth = 0;
  bool has_unknown = false;
};

SizeExpression::SizeExpression(std::shared_ptr<const SizeSymbol> symbol) {
  SizeAtom atom;
  atom.range = symbol->range;
  atom.samples = symbol->samples;
  atom.has_unknown = symbol->is_unknown;
  atom.symbol = std::move(symbol);
  // A symbol with one value is that value.
  if (atom.range.low == atom.range.high) {
    constant_ = atom.range.low;
    return;
  }
  *this = *sum_of(0, {{1, {std::make_shared<const SizeAtom>(std::move(atom))}}});
}

SizeExpression::SizeExpression(std::string symbol, SizeRange range)
    : SizeExpression(std::make_shared<const SizeSymbol>(std::move(symbol), range)) {}

const std::vector<SizeTerm>& SizeExpression::terms() const {
  static const auto* const kNone = new std::vector<SizeTerm>();
  return form_ == nullptr ? *kNone : form_->terms;
}

SizeRange SizeExpression::range() const {
  return form_ == nullptr ? SizeRange{constant_, constant_} : form_->range;
}

int64_t SizeExpression::sample(size_t k) const {
  return form_ == nullptr ? constant_ : form_->samples[k];
}

bool SizeExpression::has_unknown() const { return form_ != nullptr && form_->has_unknown; }

MaybeSize SizeExpression::make(int64_t constant, std::vector<SizeTerm> terms, bool tight) {
  if (!normalize(&constant, &terms)) return std::nullopt;
  SizeExpression made(constant);
  if (terms.empty()) return made;
  Form form;
  form.range = {constant, constant};
  form.samples.fill(constant);
  for (const SizeTerm& term : terms) {
    form.range = form.range + range_of(term);
    ++form.weight;
    for (const SizeAtomPtr& factor : term.factors) {
      form.weight += factor->weight;
      form.depth = std::max(form.depth, factor->depth);
      form.has_unknown = form.has_unknown || factor->has_unknown;
    }
    for (size_t k = 0; k < kSamples; ++k) {
      if (!add_product(term, k, &form.samples[k])) return std::nullopt;
    }
  }
  if (form.weight > kMaxWeight || form.depth > kMaxDepth) return std::nullopt;
  form.terms = std::move(terms);
  if (tight) {
    made.form_ = std::make_shared<const Form>(form);
    form.range = made.tightened(form.range);
  }
  if (form.range.low == form.range.high) return SizeExpression(form.range.low);
  made.form_ = std::make_shared<const Form>(std::move(form));
  return made;
}

// The range of this expression with `times * by` in the place of one of its terms.
SizeRange SizeExpression::range_with(const SizeTerm& term, int64_t times,
                                     const SizeExpression& by) const {
  std::vector<SizeTerm> all = terms();
  all.push_back({-term.coefficient, term.factors});
  for (const SizeTerm& inner : by.terms()) {
    all.push_back(inner);
    int64_t& coefficient = all.back().coefficient;
    if (__builtin_mul_overflow(coefficient, times, &coefficient)) return SizeRange();
  }
  const MaybeSize made = make(0, std::move(all), false);
  if (!made) return SizeRange();
  return made->range() + SizeRange{constant_, constant_} +
         SizeRange{by.constant(), by.constant()} * SizeRange{times, times};
}

namespace {

// Of the whole numbers whose multiples by `divisor` lie in a range.
SizeRange multiples_in(const SizeRange& range, int64_t divisor) {
  SizeRange made;
  if (range.has_low()) made.low = -floor_divide(-range.low, divisor);
  if (range.has_high()) made.high = floor_divide(range.high, divisor);
  return made;
}

bool scale_terms(int64_t by, int64_t* constant, std::vector<SizeTerm>* terms) {
  bool fits = !__builtin_mul_overflow(*constant, by, constant);
  for (SizeTerm& term : *terms) {
    fits = !__builtin_mul_overflow(term.coefficient, by, &term.coefficient) && fits;
  }
  return fits;
}

}  // namespace

// What the ranges of single atoms hide: c*(x//c) is x less something in [0, c), which tells of
// other multiples of x//c when all is taken c times, and a maximum is one of its operands.
SizeRange SizeExpression::tightened(SizeRange range) const {
  for (const SizeTerm& term : terms()) {
    const int64_t times = term.coefficient;
    if (term.factors.size() != 1 || term.factors[0]->kind == SizeAtom::Kind::kSymbol ||
        times == INT64_MIN) {
      continue;
    }
    const SizeAtom& atom = *term.factors[0];
    if (atom.kind == SizeAtom::Kind::kDivide) {
      const int64_t by = atom.operands[1].is_constant() ? atom.operands[1].constant() : 0;
      if (by < 1) continue;
      const int64_t scale = times % by == 0 ? 1 : by;
      std::vector<SizeTerm> all = terms();
      int64_t constant = constant_, factor = times;
      if (!scale_terms(scale, &constant, &all) || __builtin_mul_overflow(factor, scale, &factor)) {
        continue;
      }
      const MaybeSize scaled = make(constant, std::move(all), false);
      if (!scaled) continue;
      const SizeTerm scaled_term{factor, term.factors};
      const SizeRange found = scaled->range_with(scaled_term, factor / by, atom.operands[0]) -
                              SizeRange{0, by - 1} * SizeRange{factor / by, factor / by};
      range = both(range, multiples_in(found, scale));
      continue;
    }
    const bool is_largest = (atom.kind == SizeAtom::Kind::kMax) == (times > 0);
    SizeRange all = range_with(term, times, atom.operands[0]);
    for (size_t i = 1; i < atom.operands.size(); ++i) {
      const SizeRange next = range_with(term, times, atom.operands[i]);
      all = is_largest ? larger_of(all, next) : smaller_of(all, next);
    }
    range = both(range, all);
  }
  return range;
}

int SizeExpression::compare(const SizeExpression& a, const SizeExpression& b) {
  if (a.form_ != b.form_) {
    const std::vector<SizeTerm>& left = a.terms();
    const std::vector<SizeTerm>& right = b.terms();
    if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
    for (size_t i = 0; i < left.size(); ++i) {
      const int order = compare_factors(left[i].factors, right[i].factors);
      if (order != 0) return order;
      if (left[i].coefficient != right[i].coefficient) {
        return left[i].coefficient < right[i].coefficient ? -1 : 1;
      }
    }
  }
  return a.constant_ == b.constant_ ? 0 : a.constant_ < b.constant_ ? -1 : 1;
}

bool SizeExpression::agree(const SizeExpression& a, const SizeExpression& b) {
  for (size_t k = 0; k < kSamples; ++k) {
    if (a.sample(k) != b.sample(k)) return false;
  }
  return true;
}

int SizeAtom::compare(const SizeAtom& a, const SizeAtom& b) {
  if (&a == &b) return 0;
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.kind == Kind::kSymbol) return petrel::exir::compare(*a.symbol, *b.symbol);
  if (a.operands.size() != b.operands.size()) {
    return a.operands.size() < b.operands.size() ? -1 : 1;
  }
  for (size_t i = 0; i < a.operands.size(); ++i) {
    const int order = SizeExpression::compare(a.operands[i], b.operands[i]);
    if (order != 0) return order;
  }
  return 0;
}

MaybeSize sum_of(int64_t constant, std::vector<SizeTerm> terms) {
  return SizeExpression::make(constant, std::move(terms), true);
}

MaybeSize add(const SizeExpression& a, const SizeExpression& b) {
  int64_t constant = 0;
  if (__builtin_add_overflow(a.constant(), b.constant(), &constant)) return std::nullopt;
  if (a.is_constant() && b.is_constant()) return SizeExpression(constant);
  std::vector<SizeTerm> terms = a.terms();
  terms.insert(terms.end(), b.terms().begin(), b.terms().end());
  return sum_of(constant, std::move(terms));
}

MaybeSize subtract(const SizeExpression& a, const SizeExpression& b) {
  const MaybeSize negative = multiply(b, SizeExpression(-1));
  return negative ? add(a, *negative) : std::nullopt;
}

MaybeSize multiply(const SizeExpression& a, const SizeExpression& b) {
  int64_t constant = 0;
  if (__builtin_mul_overflow(a.constant(), b.constant(), &constant)) return std::nullopt;
  if (a.is_constant() && b.is_constant()) return SizeExpression(constant);
  if ((a.terms().size() + 1) * (b.terms().size() + 1) > SizeExpression::kMaxWeight) {
    return std::nullopt;
  }
  std::vector<SizeTerm> left = a.terms();
  std::vector<SizeTerm> right = b.terms();
  if (a.constant() != 0) left.push_back({a.constant(), {}});
  if (b.constant() != 0) right.push_back({b.constant(), {}});
  std::vector<SizeTerm> terms;
  for (const SizeTerm& x : left) {
    for (const SizeTerm& y : right) {
      if (x.factors.empty() && y.factors.empty()) continue;  // in `constant`
      SizeTerm product = x;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &product.coefficient)) {
        return std::nullopt;
      }
      product.factors.insert(product.factors.end(), y.factors.begin(), y.factors.end());
      terms.push_back(std::move(product));
    }
  }
  return sum_of(constant, std::move(terms));
}

std::optional<int64_t> SizeExpression::evaluate(const Assignment& value_of) const {
  int64_t sum = constant_;
  for (const SizeTerm& term : terms()) {
    int64_t product = term.coefficient;
    for (const SizeAtomPtr& factor : term.factors) {
      std::optional<int64_t> value;
      if (factor->kind == SizeAtom::Kind::kSymbol) {
        value = value_of(*factor->symbol);
      } else {
        for (const SizeExpression& operand : factor->operands) {
          const std::optional<int64_t> next = operand.evaluate(value_of);
          if (!next) return std::nullopt;
          if (!value) {
            value = next;
          } else if (factor->kind == SizeAtom::Kind::kDivide) {
            if (*next == 0 || (*next == -1 && *value == INT64_MIN)) return std::nullopt;
            value = floor_divide(*value, *next);
          } else {
            value = factor->kind == SizeAtom::Kind::kMin ? std::min(*value, *next)
                                                         : std::max(*value, *next);
          }
        }
      }
      if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

MaybeSize SizeExpression::substitute(const SizeSymbol& symbol, const SizeExpression& by) const {
  Sum sum;
  sum.add(SizeExpression(constant_), 1);
  for (const SizeTerm& term : terms()) {
    MaybeSize product = SizeExpression(1);
    for (const SizeAtomPtr& factor : term.factors) {
      MaybeSize value;
      if (factor->kind == SizeAtom::Kind::kSymbol) {
        const bool found = petrel::exir::compare(*factor->symbol, symbol) == 0;
        value = found ? MaybeSize(by) : sum_of(0, {{1, {factor}}});
      } else {
        std::vector<SizeExpression> operands;
        for (const SizeExpression& operand : factor->operands) {
          const MaybeSize next = operand.substitute(symbol, by);
          if (!next) return std::nullopt;
          operands.push_back(*next);
        }
        value = factor->kind == SizeAtom::Kind::kDivide ? divide(operands[0], operands[1])
                : factor->kind == SizeAtom::Kind::kMin  ? smallest(operands)
                                                        : largest(operands);
      }
      product = value && product ? multiply(*product, *value) : std::nullopt;
      if (!product) return std::nullopt;
    }
    sum.add(product, term.coefficient);
  }
  return sum.whole();
}

void SizeExpression::collect_symbols(
    std::map<std::string, std::shared_ptr<const SizeSymbol>>* out) const {
  for (const SizeTerm& term : terms()) {
    for (const SizeAtomPtr& factor : term.factors) {
      if (factor->symbol != nullptr) out->emplace(factor->symbol->name, factor->symbol);
      for (const SizeExpression& operand : factor->operands) operand.collect_symbols(out);
    }
  }
}

}  // namespace petrel::exir
