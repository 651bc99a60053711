// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/remove_neutral_numbers.h"

#include <cmath>

#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

bool is_number(const Argument& argument, double number) {
  return argument.is_number() && argument.as_number() == number &&
         std::signbit(argument.as_number()) == std::signbit(number);
}

// `x` in the place of the node. A result of another type stays: the number
// decided the type.
Rewritten same(Builder& b, Node& node, Value* x) {
  if (x == nullptr || x->type() != node.result()->type()) return false;
  return done(b, node, x);
}

Rewritten scaled(Builder& b, Node& node) {
  if (!is_number(node.argument(arg::other), 1)) return false;
  return same(b, node, tensor_at(node, arg::self));
}

Rewritten difference(Builder& b, Node& node) {
  if (!is_number(node.argument(arg::other), 0) || !is_number(node.argument(arg::alpha), 1)) {
    return false;
  }
  return same(b, node, tensor_at(node, arg::self));
}

Rewritten negation(Builder& b, Node& node) {
  const Value* x = tensor_at(node, arg::self);
  const Node* inner = x == nullptr ? nullptr : x->producer();
  if (inner == nullptr || !inner->is(aten::neg)) return false;
  return same(b, node, tensor_at(*inner, arg::self));
}

constexpr Rewrite kRows[] = {
    {aten::mul_Scalar, scaled},
    {aten::div_Scalar, scaled},
    {aten::sub_Scalar, difference},
    {aten::neg, negation},
};

constexpr Rewrites kTables[] = {Rewrites(kRows)};

}  // namespace

absl::StatusOr<bool> remove_neutral_numbers(Graph& graph, const PassContext&) {
  return apply_rewrites(graph, kTables);
}

}  // namespace petrel::exir
