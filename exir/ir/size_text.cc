// SPDX-License-Identifier: Apache-2.0
//
// Expressions as Python writes them.
#include <string>

#include "exir/ir/size_expression.h"

namespace petrel::exir {
namespace {

using Kind = SizeAtom::Kind;

// Whether it must stand in brackets as a factor or an operand of //.
bool is_compound(const SizeExpression& x) {
  if (x.is_constant()) return x.constant() < 0;
  const SizeTerm& first = x.terms()[0];
  const bool is_one_atom = x.constant() == 0 && x.terms().size() == 1 && first.coefficient == 1 &&
                           first.factors.size() == 1;
  return !is_one_atom || first.factors[0]->kind == Kind::kDivide;
}

std::string in_brackets(const SizeExpression& x) {
  return is_compound(x) ? "(" + to_string(x) + ")" : to_string(x);
}

std::string text_of(const SizeAtom& atom, bool is_alone) {
  if (atom.kind == Kind::kSymbol) return atom.symbol->name;
  if (atom.kind == Kind::kDivide) {
    const std::string text = in_brackets(atom.operands[0]) + "//" + in_brackets(atom.operands[1]);
    return is_alone ? text : "(" + text + ")";
  }
  std::string text = atom.kind == Kind::kMin ? "min(" : "max(";
  for (size_t i = 0; i < atom.operands.size(); ++i) {
    text += (i == 0 ? "" : ", ") + to_string(atom.operands[i]);
  }
  return text + ")";
}

}  // namespace

std::string to_string(const SizeExpression& expression) {
  std::string text;
  const auto add_part = [&text](int64_t coefficient, const std::string& product) {
    const bool is_negative = coefficient < 0;
    text += text.empty() ? (is_negative ? "-" : "") : (is_negative ? " - " : " + ");
    const std::string number = std::to_string(coefficient);
    const std::string size = is_negative ? number.substr(1) : number;
    text += product.empty() ? size : size == "1" ? product : size + "*" + product;
  };
  for (const SizeTerm& term : expression.terms()) {
    const bool is_alone = term.factors.size() == 1 && term.coefficient == 1;
    std::string product;
    for (const SizeAtomPtr& factor : term.factors) {
      product += (product.empty() ? "" : "*") + text_of(*factor, is_alone);
    }
    add_part(term.coefficient, product);
  }
  if (expression.constant() != 0 || expression.is_constant()) {
    add_part(expression.constant(), "");
  }
  return text;
}

}  // namespace petrel::exir
