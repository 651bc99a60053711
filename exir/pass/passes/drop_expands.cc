// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/drop_expands.h"

#include "exir/pass/framework/rewrite.h"

namespace petrel::exir {
namespace {

// What `wide` is expanded from; null where it must stay: a tensor of rank 0 weighs less in the
// type of a result than others.
Value* source_of(const Value* wide) {
  const Node* expand = wide == nullptr ? nullptr : wide->producer();
  if (expand == nullptr || !expand->is(aten::expand)) return nullptr;
  Value* source = tensor_at(*expand, arg::self);
  const bool decides_as_much = source->tensor().rank() > 0 && source->tensor().is_contiguous();
  return decides_as_much ? source : nullptr;
}

bool is_arithmetic(const Node& node) {
  return node.is(aten::add_Tensor) || node.is(aten::sub_Tensor) || node.is(aten::mul_Tensor) ||
         node.is(aten::div_Tensor) || node.is(aten::maximum) || node.is(aten::minimum);
}

bool drop_expand(Node& node) {
  const TensorType& result = node.result()->tensor();
  const Value* operands[] = {tensor_at(node, arg::self), tensor_at(node, arg::other)};
  if (!result.is_contiguous()) return false;
  for (size_t i = 0; i < 2; ++i) {
    const Value* whole = operands[1 - i];
    if (whole == nullptr || sizes_of(whole) != sizes_of(result)) continue;
    Value* narrow = source_of(operands[i]);
    if (narrow == nullptr) continue;
    node.set_argument(i, Argument(narrow));
    return true;
  }
  return false;
}

}  // namespace

// No rows: those see operands without the nodes that make them where sizes vary.
absl::StatusOr<bool> drop_expands(Graph& graph, const PassContext&) {
  bool changed = false;
  for (Node* node : graph.node_pointers()) {
    if (is_arithmetic(*node) && drop_expand(*node)) changed = true;
  }
  return changed;
}

}  // namespace petrel::exir
