// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/extent.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/names.h"

namespace petrel::exir::emit_c {
namespace {

using Kind = SizeAtom::Kind;

// The smaller of two names both of them twice, so that a minimum of a few bytes would be a text
// of gigabytes.
constexpr size_t kMostText = 4096;

// C rounds towards zero, which is the same where nothing is negative.
std::string quotient_text(const SizeExpression& a, const SizeExpression& b) {
  const std::string over = Extent(a).text(), under = Extent(b).text();
  if (a.range().low < 0 || b.range().low < 1 || over.empty() || under.empty()) return "";
  return absl::StrCat("((", over, ") / (", under, "))");
}

std::string best_text(const SizeAtom& atom) {
  const char* sign = atom.kind == Kind::kMin ? " < " : " > ";
  std::string best = Extent(atom.operands[0]).text();
  for (size_t i = 1; i < atom.operands.size(); ++i) {
    const std::string next = Extent(atom.operands[i]).text();
    if (best.empty() || next.empty()) return "";
    best = absl::StrCat("((", best, ")", sign, "(", next, ") ? (", best, ") : (", next, "))");
    if (best.size() > kMostText) return "";
  }
  return best;
}

std::string text_of(const SizeAtom& atom) {
  switch (atom.kind) {
    case Kind::kSymbol:
      return atom.has_unknown ? "" : absl::StrCat("sizes->", size_member(atom.symbol->name));
    case Kind::kDivide:
      return quotient_text(atom.operands[0], atom.operands[1]);
    case Kind::kMin:
    case Kind::kMax:
      return best_text(atom);
  }
  return "";
}

// C computes products and sums one by one in 64 bits.
bool has_ends(const SizeRange& range) { return range.has_low() && range.has_high(); }

SizeRange range_of(const SizeTerm& term) {
  SizeRange range = {term.coefficient, term.coefficient};
  for (const SizeAtomPtr& factor : term.factors) range = range * factor->range;
  return range;
}

// What `fn` makes of two that are known.
template <typename Fn>
Extent combined(const MaybeSize& a, const MaybeSize& b, Fn fn) {
  if (!a.has_value() || !b.has_value()) return Extent(MaybeSize());
  return Extent(fn(*a, *b));
}

}  // namespace

std::string Extent::text() const {
  if (!is_known()) return "";
  std::string text;
  const auto add = [&](int64_t coefficient, const std::string& product) {
    const bool is_negative = coefficient < 0;
    absl::StrAppend(&text, text.empty() ? (is_negative ? "-" : "") : is_negative ? " - " : " + ");
    const int64_t factor = is_negative ? -coefficient : coefficient;
    if (product.empty() || factor != 1) absl::StrAppend(&text, factor);
    if (!product.empty()) absl::StrAppend(&text, factor != 1 ? " * " : "", product);
  };
  SizeRange sum = {size_->constant(), size_->constant()};
  for (const SizeTerm& term : size_->terms()) {
    sum = sum + range_of(term);
    if (!has_ends(sum)) return "";
    std::string product;
    for (const SizeAtomPtr& factor : term.factors) {
      const std::string one = text_of(*factor);
      if (one.empty()) return "";
      absl::StrAppend(&product, product.empty() ? "" : " * ", one);
    }
    add(term.coefficient, product);
    if (text.size() > kMostText) return "";
  }
  if (size_->constant() != 0 || text.empty()) add(size_->constant(), "");
  return text;
}

Extent operator+(const Extent& a, const Extent& b) {
  return combined(a.size_, b.size_, [](const auto& x, const auto& y) { return add(x, y); });
}

Extent operator-(const Extent& a, const Extent& b) {
  return combined(a.size_, b.size_, [](const auto& x, const auto& y) { return subtract(x, y); });
}

Extent operator*(const Extent& a, const Extent& b) {
  return combined(a.size_, b.size_, [](const auto& x, const auto& y) { return multiply(x, y); });
}

Extent operator/(const Extent& a, const Extent& b) {
  return combined(a.size_, b.size_, [](const auto& x, const auto& y) { return divide(x, y); });
}

Extent smaller_of(const Extent& a, const Extent& b) {
  return combined(a.size_, b.size_, [](const auto& x, const auto& y) { return smallest({x, y}); });
}

Extent larger_of(const Extent& a, const Extent& b) {
  return combined(a.size_, b.size_, [](const auto& x, const auto& y) { return largest({x, y}); });
}

Extents extents_of(const TensorType& type) {
  Extents extents;
  for (const SizeExpression& size : type.all_sizes()) extents.emplace_back(size);
  return extents;
}

Extent numel_of(const TensorType& type) {
  Extent count = 1;
  for (const Extent& size : extents_of(type)) count *= size;
  return count;
}

Extent nbytes_of(const TensorType& type) {
  return numel_of(type) * static_cast<int64_t>(item_size(type.dtype));
}

Sizes least_sizes(const TensorType& type) {
  Sizes sizes;
  for (const SizeExpression& size : type.all_sizes()) {
    sizes.push_back(std::max<int64_t>(0, size.range().low));
  }
  return sizes;
}

std::string size_member(const std::string& symbol) {
  const std::string name = sanitized(symbol);
  return is_taken(name) ? name + "_" : name;
}

}  // namespace petrel::exir::emit_c
