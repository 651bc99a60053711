// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "exir/ops/einsum.h"
#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// A tensor whose i-th dimension is named labels[i].
struct Term {
  Value* value;
  std::string labels;
};

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

Size size_of(const Term& term, char label) { return sizes_of(term.value)[term.labels.find(label)]; }

Sizes sizes_of(const Term& term, const std::string& labels) {
  Sizes sizes;
  for (char label : labels) sizes.push_back(size_of(term, label));
  return sizes;
}

BuiltValue arranged(Builder& b, const Term& term, const std::string& labels) {
  Ints dims;
  for (char label : labels) {
    dims.push_back(static_cast<int64_t>(term.labels.find(label)));
  }
  return b.permute(term.value, dims);
}

// Sums over the labels that `keep` lacks.
absl::StatusOr<Term> summed(Builder& b, Term term, const std::string& keep) {
  Ints dims;
  std::string left;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (has(keep, term.labels[i])) {
      left.push_back(term.labels[i]);
    } else {
      dims.push_back(static_cast<int64_t>(i));
    }
  }
  if (dims.empty()) return term;
  PETREL_ASSIGN_OR_RETURN(Value * sum, b.call(aten::sum_dim_IntList, {term.value, dims, false}));
  return Term{sum, left};
}

// x [shared, own, contracted] times y [shared, contracted, own].
absl::StatusOr<Term> contracted(Builder& b, Term x, Term y, const std::string& keep) {
  PETREL_ASSIGN_OR_RETURN(x, summed(b, x, absl::StrCat(keep, y.labels)));
  PETREL_ASSIGN_OR_RETURN(y, summed(b, y, absl::StrCat(keep, x.labels)));
  std::string shared;
  std::string inner;
  std::string x_own;
  std::string y_own;
  for (char label : x.labels) {
    if (!has(y.labels, label)) {
      x_own.push_back(label);
    } else if (has(keep, label)) {
      shared.push_back(label);
    } else {
      inner.push_back(label);
    }
  }
  for (char label : y.labels) {
    if (!has(x.labels, label)) y_own.push_back(label);
  }
  const Sizes batch = sizes_of(x, shared);
  const Sizes rows = sizes_of(x, x_own);
  const Sizes columns = sizes_of(y, y_own);
  const Size k = product(sizes_of(x, inner));
  PETREL_ASSIGN_OR_RETURN(Value * left, arranged(b, x, shared + x_own + inner));
  PETREL_ASSIGN_OR_RETURN(Value * right, arranged(b, y, shared + inner + y_own));
  const Size m = product(rows);
  const Size n = product(columns);
  Value* made = nullptr;
  if (shared.empty()) {
    PETREL_ASSIGN_OR_RETURN(left, b.view(left, {m, k}));
    PETREL_ASSIGN_OR_RETURN(right, b.view(right, {k, n}));
    PETREL_ASSIGN_OR_RETURN(made, b.binary(aten::mm, left, right));
  } else {
    PETREL_ASSIGN_OR_RETURN(left, b.view(left, {product(batch), m, k}));
    PETREL_ASSIGN_OR_RETURN(right, b.view(right, {product(batch), k, n}));
    PETREL_ASSIGN_OR_RETURN(made, b.binary(aten::bmm, left, right));
  }
  Sizes sizes = batch;
  sizes.insert(sizes.end(), rows.begin(), rows.end());
  sizes.insert(sizes.end(), columns.begin(), columns.end());
  PETREL_ASSIGN_OR_RETURN(made, b.view(made, sizes));
  return Term{made, shared + x_own + y_own};
}

// The dims of an ellipsis, which end at the last digit: those of an operand that has fewer
// begin later. Letters label all others.
constexpr char kDigits[] = "0123456789";
constexpr size_t kMostDims = 10;

// `labels` with digits in the place of its ellipsis, of which there are `count`.
std::string without_ellipsis(const std::string& labels, size_t count) {
  const size_t at = labels.find(kEinsumEllipsis);
  if (at == std::string::npos) return labels;
  return absl::StrCat(labels.substr(0, at),
                      absl::string_view(kDigits).substr(kMostDims - count, count),
                      labels.substr(at + 1));
}

// The same of all operands and the result, whose ellipsis is the longest of them. False where
// there are more dims than can be named, or fewer than labels.
bool name_ellipses(const std::vector<Value*>& tensors, EinsumEquation* equation) {
  size_t longest = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::string& labels = equation->operands[i];
    if (!has(labels, kEinsumEllipsis)) continue;
    const size_t rank = sizes_of(tensors[i]).size();
    const size_t named = labels.size() - 1;
    if (rank < named || rank - named > kMostDims) return false;
    labels = without_ellipsis(labels, rank - named);
    longest = std::max(longest, rank - named);
  }
  equation->result = without_ellipsis(equation->result, longest);
  return true;
}

// Of dims with one label only those elements whose indices are equal.
absl::StatusOr<Term> without_repeats(Builder& b, Term term) {
  for (size_t i = 0; i < term.labels.size();) {
    const char label = term.labels[i];
    const size_t again = term.labels.find(label, i + 1);
    if (again == std::string::npos) {
      ++i;
      continue;
    }
    PETREL_ASSIGN_OR_RETURN(
        term.value, b.call(aten::diagonal,
                           {term.value, 0, static_cast<int64_t>(i), static_cast<int64_t>(again)}));
    term.labels.erase(again, 1);
    term.labels.erase(i, 1);
    term.labels.push_back(label);  // the diagonal is the last dim
  }
  return term;
}

// Without the dims of size 1 whose label has another size elsewhere: they broadcast.
absl::StatusOr<Term> without_units(Builder& b, Term term, const std::map<char, Size>& sizes) {
  const Sizes own = sizes_of(term.value);
  Sizes kept;
  std::string labels;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (own[i].is(1) && !sizes.at(term.labels[i]).is(1)) continue;
    kept.push_back(own[i]);
    labels.push_back(term.labels[i]);
  }
  PETREL_ASSIGN_OR_RETURN(Value * value, b.view(term.value, kept));
  return Term{value, labels};
}

Rewritten einsum(Builder& b, Node& node) {
  const std::vector<Value*> tensors = node.argument(arg::tensors).values();
  PETREL_ASSIGN_OR_RETURN(EinsumEquation equation,
                          read_einsum(node.argument(arg::equation).as_string()));
  const std::vector<std::string>& inputs = equation.operands;
  if (inputs.size() != tensors.size() || !name_ellipses(tensors, &equation)) return false;
  const std::string& output = equation.result;
  std::map<char, Size> sizes;
  std::vector<Term> terms;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Sizes& own = sizes_of(tensors[i]);
    if (inputs[i].size() != own.size()) return false;
    std::map<char, Size> here;
    for (size_t d = 0; d < own.size(); ++d) {
      const char label = inputs[i][d];
      if (!here.emplace(label, own[d]).second && !is_always(here[label], own[d])) return false;
      const auto [known, is_new] = sizes.emplace(label, own[d]);
      if (is_new || own[d].is(1)) continue;
      if (known->second.is(1)) known->second = own[d];
      if (!is_always(known->second, own[d])) return false;
    }
    terms.push_back({tensors[i], inputs[i]});
  }
  for (Term& term : terms) {
    PETREL_ASSIGN_OR_RETURN(term, without_repeats(b, term));
    PETREL_ASSIGN_OR_RETURN(term, without_units(b, term, sizes));
  }
  Term result = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    // What later operands or the output still need.
    std::string keep = output;
    for (size_t later = i + 1; later < terms.size(); ++later) {
      keep += terms[later].labels;
    }
    PETREL_ASSIGN_OR_RETURN(result, contracted(b, result, terms[i], keep));
  }
  PETREL_ASSIGN_OR_RETURN(result, summed(b, result, output));
  return done(b, node, arranged(b, result, output));
}

constexpr Rewrite kRows[] = {{aten::einsum, einsum}};

}  // namespace

Rewrites einsum_decompositions() { return kRows; }

}  // namespace petrel::exir
