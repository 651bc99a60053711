// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/paths.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace petrel::exir::rules {
namespace {

thread_local Paths* current = nullptr;

// A question about a whole number q without a constant part: q == limit, or
// q <= limit, or their opposites.
struct Comparison {
  SizeExpression about;
  bool is_equality = false;
  int64_t limit = 0;
  bool is_opposite = false;
};

// An equality that no whole number fulfils has no `about`.
std::optional<Comparison> simplified(Paths::Question question, const SizeExpression& difference) {
  int64_t divisor = 0;
  for (const SizeTerm& term : difference.terms()) divisor = std::gcd(divisor, term.coefficient);
  if (difference.terms()[0].coefficient < 0) divisor = -divisor;
  std::vector<SizeTerm> terms = difference.terms();
  for (SizeTerm& term : terms) term.coefficient /= divisor;
  const MaybeSize about = sum_of(0, std::move(terms));
  if (!about || difference.constant() == INT64_MIN) return std::nullopt;
  // divisor * q + c is zero where q is -c / divisor.
  Comparison found;
  found.about = *about;
  const int64_t c = difference.constant();
  if (question == Paths::Question::kIsZero) {
    found.is_equality = true;
    found.limit = -c / divisor;
    if (c % divisor != 0) found.about = SizeExpression(0);
  } else if (divisor > 0) {  // q <= (-c - 1) // divisor
    found.limit = petrel::exir::floor_divide(-c - 1, divisor);
  } else {  // q > c // -divisor
    found.limit = petrel::exir::floor_divide(c, -divisor);
    found.is_opposite = true;
  }
  return found;
}

bool holds_at_sample(const Comparison& comparison) {
  const int64_t value = comparison.about.sample(kFirstGeneralSample);
  return comparison.is_equality ? value == comparison.limit : value <= comparison.limit;
}

// 1 or 0 where the assumption answers, else -1.
int known_answer(const Comparison& comparison, const Assumption& assumption) {
  const SizeRange range = assumption.range;
  if (!comparison.is_equality) {
    return range.high <= comparison.limit ? 1 : range.low > comparison.limit ? 0 : -1;
  }
  const auto& excluded = assumption.excluded;
  if (!range.holds(comparison.limit) ||
      std::find(excluded.begin(), excluded.end(), comparison.limit) != excluded.end()) {
    return 0;
  }
  return range.low == range.high ? 1 : -1;
}

void assume(const Comparison& comparison, bool holds, Assumption* out) {
  SizeRange& range = out->range;
  if (!comparison.is_equality) {
    (holds ? range.high : range.low) = holds ? comparison.limit : comparison.limit + 1;
  } else if (holds) {
    range = {comparison.limit, comparison.limit};
  } else if (comparison.limit == range.low) {
    ++range.low;
  } else if (comparison.limit == range.high) {
    --range.high;
  } else {
    out->excluded.push_back(comparison.limit);
  }
}

// What `assumption` says that a symbol is: s0 from s0 + s1 == 3.
struct Solution {
  const SizeSymbol* symbol = nullptr;
  SizeExpression value;
};

std::optional<Solution> solve(const Assumption& assumption) {
  for (const SizeTerm& term : assumption.about.terms()) {
    const bool is_symbol = term.factors.size() == 1 && term.factors[0]->symbol != nullptr;
    if (!is_symbol || (term.coefficient != 1 && term.coefficient != -1)) continue;
    const MaybeSize whole = sum_of(0, {term});
    const MaybeSize others = whole ? subtract(assumption.about, *whole) : std::nullopt;
    if (!others) continue;
    std::map<std::string, std::shared_ptr<const SizeSymbol>> symbols;
    others->collect_symbols(&symbols);
    if (symbols.count(term.factors[0]->symbol->name) != 0) continue;
    const MaybeSize rest = subtract(SizeExpression(assumption.range.low), *others);
    const MaybeSize value = rest ? multiply(*rest, SizeExpression(term.coefficient)) : std::nullopt;
    if (value) return Solution{term.factors[0]->symbol.get(), *value};
  }
  return std::nullopt;
}

std::vector<SizeExpression> sizes_of(const Type& type) {
  if (type.is_tensor()) return type.tensor.all_sizes();
  return type.number ? std::vector<SizeExpression>{*type.number} : std::vector<SizeExpression>();
}

bool have_same_form(const std::vector<Type>& a, const std::vector<Type>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].kind != b[i].kind || a[i].tensor.rank() != b[i].tensor.rank()) return false;
  }
  return true;
}

}  // namespace

bool Paths::choose(bool at_sample) {
  if (asked_ == answers_.size()) {
    if (asked_ == kMaxQuestions) {
      is_lost_ = true;
      return at_sample;
    }
    answers_.push_back(at_sample);
    is_second_.push_back(false);
  }
  return answers_[asked_++];
}

Assumption& Paths::assumption_about(const SizeExpression& about) {
  for (Assumption& known : assumptions_) {
    if (known.about == about) return known;
  }
  assumptions_.push_back({about, about.range(), {}});
  return assumptions_.back();
}

bool Paths::answer(Question question, const SizeExpression& difference) {
  const std::optional<Comparison> comparison = simplified(question, difference);
  if (!comparison) {
    is_lost_ = true;
    return false;
  }
  if (comparison->is_equality && comparison->about.is_constant()) return false;
  Assumption& assumption = assumption_about(comparison->about);
  int holds = known_answer(*comparison, assumption);
  if (holds < 0) {
    holds = choose(holds_at_sample(*comparison)) ? 1 : 0;
    assume(*comparison, holds == 1, &assumption);
  }
  return (holds == 1) != comparison->is_opposite;
}

bool Paths::decide(Question question, const SizeExpression& difference) {
  const bool is_zero = question == Question::kIsZero;
  const SizeRange range = difference.range();
  if (is_zero ? !range.holds(0) : range.low >= 0) return false;
  if (is_zero ? range.low == range.high : range.high < 0) return true;
  if (current != nullptr) return current->answer(question, difference);
  const int64_t value = difference.sample(kFirstGeneralSample);
  return is_zero ? value == 0 : value < 0;
}

void Paths::lose() {
  if (current != nullptr) current->is_lost_ = true;
}

// Turns to the last question with another answer; false when there is none.
bool Paths::next() {
  while (!answers_.empty() && is_second_.back()) {
    answers_.pop_back();
    is_second_.pop_back();
  }
  if (answers_.empty()) return false;
  answers_.back() = !answers_.back();
  is_second_.back() = true;
  return true;
}

std::vector<RulePath> Paths::explore(
    const std::function<absl::StatusOr<std::vector<Type>>()>& rule) {
  Paths paths;
  Paths* const outer = std::exchange(current, &paths);
  std::vector<RulePath> found;
  do {
    paths.asked_ = 0;
    paths.assumptions_.clear();
    paths.is_lost_ = false;
    absl::StatusOr<std::vector<Type>> types = rule();
    // What was not asked this time does not belong to the path.
    paths.answers_.resize(paths.asked_);
    paths.is_second_.resize(paths.asked_);
    found.push_back({std::move(types), paths.assumptions_, paths.is_lost_});
  } while (found.size() <= kMaxPaths && paths.next());
  current = outer;
  if (found.size() > kMaxPaths) found.clear();
  return found;
}

bool equal_on(const RulePath& path, const SizeExpression& a, const SizeExpression& b) {
  MaybeSize difference = subtract(a, b);
  for (const Assumption& assumption : path.assumptions) {
    if (!difference) return false;
    if (*difference == SizeExpression(0)) return true;
    if (assumption.range.low != assumption.range.high || difference->is_constant()) continue;
    // A multiple of what is zero.
    const MaybeSize zero = subtract(assumption.about, SizeExpression(assumption.range.low));
    const int64_t times =
        difference->terms()[0].coefficient / assumption.about.terms()[0].coefficient;
    const MaybeSize multiple = zero ? multiply(*zero, SizeExpression(times)) : std::nullopt;
    if (multiple && *multiple == *difference) return true;
    const std::optional<Solution> solution = solve(assumption);
    if (solution) difference = difference->substitute(*solution->symbol, solution->value);
  }
  return difference && *difference == SizeExpression(0);
}

bool is_possible(const RulePath& path) {
  constexpr uint64_t kMaxPoints = 4096;
  std::map<std::string, std::shared_ptr<const SizeSymbol>> symbols;
  for (const Assumption& assumption : path.assumptions) {
    if (assumption.about.has_unknown()) return true;
    assumption.about.collect_symbols(&symbols);
  }
  uint64_t points = 1;
  for (const auto& [name, symbol] : symbols) {
    const SizeRange range = symbol->range;
    if (!range.has_low() || !range.has_high()) return true;
    const uint64_t width = static_cast<uint64_t>(range.high - range.low) + 1;
    if (width > kMaxPoints / points) return true;
    points *= width;
  }
  for (uint64_t point = 0; point < points; ++point) {
    std::map<std::string, int64_t> values;
    uint64_t rest = point;
    for (const auto& [name, symbol] : symbols) {
      const uint64_t width = static_cast<uint64_t>(symbol->range.high - symbol->range.low) + 1;
      values[name] = symbol->range.low + static_cast<int64_t>(rest % width);
      rest /= width;
    }
    const auto holds = [&](const Assumption& assumption) {
      const std::optional<int64_t> value = assumption.about.evaluate(
          [&](const SizeSymbol& symbol) { return std::optional(values.at(symbol.name)); });
      const std::vector<int64_t>& excluded = assumption.excluded;
      return !value || (assumption.range.holds(*value) &&
                        std::find(excluded.begin(), excluded.end(), *value) == excluded.end());
    };
    if (std::all_of(path.assumptions.begin(), path.assumptions.end(), holds)) return true;
  }
  return false;
}

std::vector<std::vector<MaybeSize>> proven_sizes(const std::vector<RulePath>& paths) {
  std::vector<std::vector<MaybeSize>> proven;
  if (paths.empty() || !paths[0].types.ok() || paths[0].is_lost) return proven;
  const std::vector<Type>& general = *paths[0].types;
  for (const Type& type : general) {
    const std::vector<SizeExpression> sizes = sizes_of(type);
    proven.emplace_back(sizes.begin(), sizes.end());
  }
  for (size_t p = 1; p < paths.size(); ++p) {
    // Kernels refuse what the rule refuses, and results of another form.
    if (!paths[p].types.ok()) continue;
    if (paths[p].is_lost) return {};
    const std::vector<Type>& types = *paths[p].types;
    if (!have_same_form(types, general)) continue;
    for (size_t i = 0; i < types.size(); ++i) {
      const std::vector<SizeExpression> sizes = sizes_of(types[i]);
      for (size_t dim = 0; dim < proven[i].size(); ++dim) {
        MaybeSize& size = proven[i][dim];
        if (size && (dim >= sizes.size() || !equal_on(paths[p], *size, sizes[dim]))) size.reset();
      }
    }
  }
  return proven;
}

}  // namespace petrel::exir::rules
