// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
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

// The labels after "->", or those that occur once, in alphabetical order.
std::string output_labels(const std::string& equation, const std::vector<std::string>& inputs) {
  const size_t arrow = equation.find("->");
  if (arrow != std::string::npos) return equation.substr(arrow + 2);
  std::map<char, int> counts;
  for (const std::string& labels : inputs) {
    for (char label : labels) ++counts[label];
  }
  std::string output;
  for (const auto& [label, count] : counts) {
    if (count == 1) output.push_back(label);
  }
  return output;
}

bool is_plain(const std::string& labels) {
  std::string sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() &&
         labels.find('.') == std::string::npos;
}

// Ellipses and diagonals (a label twice in one operand) stay as they are, and
// are then reported as operators without a kernel.
Rewritten einsum(Builder& b, Node& node) {
  const std::string equation =
      absl::StrReplaceAll(node.argument(arg::equation).as_string(), {{" ", ""}});
  const std::vector<Value*> tensors = node.argument(arg::tensors).values();
  const std::vector<std::string> inputs =
      absl::StrSplit(equation.substr(0, equation.find("->")), ',');
  if (inputs.size() != tensors.size()) {
    return absl::InvalidArgumentError(absl::StrCat("equation '", equation, "' has ", inputs.size(),
                                                   " operands, the node ", tensors.size()));
  }
  const std::string output = output_labels(equation, inputs);
  std::map<char, Size> sizes;
  std::vector<Term> terms;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Sizes& own = sizes_of(tensors[i]);
    if (!is_plain(inputs[i])) return false;
    if (inputs[i].size() != own.size()) {
      return absl::InvalidArgumentError(absl::StrCat("equation '", equation, "' gives operand ", i,
                                                     " ", inputs[i].size(), " dims, it has ",
                                                     own.size()));
    }
    for (size_t d = 0; d < own.size(); ++d) {
      // A size of 1 that broadcasts is left to others.
      if (!sizes.emplace(inputs[i][d], own[d]).second && !is_always(sizes[inputs[i][d]], own[d])) {
        return false;
      }
    }
    terms.push_back({tensors[i], inputs[i]});
  }
  if (!is_plain(output)) return false;
  for (char label : output) {
    if (sizes.count(label) == 0) return false;
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
