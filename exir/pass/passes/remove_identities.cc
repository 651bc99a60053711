// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/remove_identities.h"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// The operator computes its argument. A result whose dim order differs stays:
// the border of the method asks for it.
Rewritten same(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self, arg::input);
  if (x == nullptr || x->type() != node.result()->type()) return false;
  return done(b, node, x);
}

Rewritten dropout(Builder& b, Node& node) {
  // None is training, too.
  if (node.argument(arg::train) != Argument(false) && fixed_number(node.argument(arg::p)) != 0) {
    return false;
  }
  if (node.num_results() > 1 && node.result(1)->is_used()) return false;
  return same(b, node);
}

Rewritten cast(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self, arg::input);
  if (x == nullptr) return false;
  const Type& type = node.result()->type();
  if (x->type() == type) return done(b, node, x);
  if (node.is(aten::_to_copy)) {
    // Everything but the dtype says how, not what.
    bool plain = true;
    for (size_t i = 2; i < node.arguments().size(); ++i) {
      plain = plain && node.arguments()[i] == node.op().args[i].default_value;
    }
    if (plain && node.argument(arg::dtype) == Argument(type.tensor.dtype)) return false;
  }
  if (x->tensor().dtype == type.tensor.dtype) return false;
  const Type wanted = type;
  PETREL_ASSIGN_OR_RETURN(Value * made, b.call(aten::_to_copy, {x, wanted.tensor.dtype}));
  made->set_type(wanted);  // keeps the dim order of the border
  return done(b, node, made);
}

Rewritten view(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const TensorType& type = node.result()->tensor();
  if (x->tensor() == type) return done(b, node, x);
  const Node* inner = x->producer();
  if (inner == nullptr || !inner->is(aten::view) || !type.is_contiguous()) {
    return false;
  }
  return done(b, node, b.view(tensor_at(*inner, arg::self), sizes_of(type)));
}

Rewritten permute(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  if (!node.result()->tensor().is_contiguous()) return false;
  const Sizes& sizes = sizes_of(x);
  Ints dims = ints_at(node, arg::dims, 1);
  if (dims == all_dims(dims.size())) return same(b, node);
  const Node* inner = x->producer();
  if (inner != nullptr && &inner->op() == &node.op()) {
    const Ints first = ints_at(*inner, arg::dims, 1);
    for (int64_t& dim : dims) dim = first[static_cast<size_t>(dim)];
    return done(b, node, b.permute(tensor_at(*inner, arg::self), dims));
  }
  // Moving dims of size 1 about moves no element.
  int64_t last = -1;
  for (int64_t dim : dims) {
    if (sizes[static_cast<size_t>(dim)].is(1)) continue;
    if (dim < last) return false;
    last = dim;
  }
  return done(b, node, b.view(x, sizes_of(node.result())));
}

Rewritten slice(Builder& b, Node& node) {
  if (node.argument(arg::step) != Argument(int64_t{1})) return false;
  return same(b, node);
}

Rewritten pad(Builder& b, Node& node) {
  for (int64_t amount : ints_at(node, arg::pad, 1)) {
    if (amount != 0) return false;
  }
  return same(b, node);
}

Rewritten repeat(Builder& b, Node& node) {
  for (int64_t times : ints_at(node, arg::repeats, 1)) {
    if (times != 1) return false;
  }
  return done(b, node, b.view(tensor_at(node, arg::self), sizes_of(node.result())));
}

// cat: empty operands of rank 1 join anything and add nothing.
Rewritten cat(Builder& b, Node& node) {
  const std::vector<Value*> all = node.argument(arg::tensors).values();
  std::vector<Value*> parts;
  for (Value* part : all) {
    if (!is_at_most(numel_of(part), 0)) parts.push_back(part);
  }
  const TensorType& type = node.result()->tensor();
  if (parts.size() == 1 && parts[0]->tensor() == type) {
    return done(b, node, parts[0]);
  }
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), type.rank());
  const bool normal =
      parts.size() == all.size() && node.is(aten::cat) && node.argument(arg::dim) == Argument(dim);
  if (parts.empty() || normal) return false;
  // What was left out may have decided the dtype.
  for (Value*& part : parts) {
    PETREL_ASSIGN_OR_RETURN(part, b.cast(part, type.dtype));
  }
  return done(b, node, b.call(aten::cat, {parts, dim}));
}

bool is_number(const Argument& argument, double number) {
  return argument.is_number() && fixed_number(argument) == number &&
         std::signbit(fixed_number(argument)) == std::signbit(number);
}

// A number may decide the type of the result: `same` keeps those.
Rewritten scaled(Builder& b, Node& node) {
  if (!is_number(node.argument(arg::other), 1)) return false;
  return same(b, node);
}

// A sum with zero stays, because it makes 0.0 of -0.0.
Rewritten difference(Builder& b, Node& node) {
  if (!is_number(node.argument(arg::other), 0) || !is_number(node.argument(arg::alpha), 1)) {
    return false;
  }
  return same(b, node);
}

Rewritten negation(Builder& b, Node& node) {
  const Value* x = tensor_at(node, arg::self);
  const Node* inner = x == nullptr ? nullptr : x->producer();
  if (inner == nullptr || !inner->is(aten::neg)) return false;
  Value* original = tensor_at(*inner, arg::self);
  if (original->type() != node.result()->type()) return false;
  return done(b, node, original);
}

constexpr Rewrite kRows[] = {
    {aten::alias, same},
    {aten::detach, same},
    {aten::detach_, same},
    {aten::lift, same},
    {aten::lift_fresh, same},
    {aten::lift_fresh_copy, same},
    {aten::contiguous, same},
    {aten::clone, same},
    {aten::positive, same},
    {aten::requires_grad_, same},
    {aten::resolve_conj, same},
    {aten::resolve_neg, same},
    {aten::real, same},
    {aten::dropout, dropout},
    {aten::dropout_, dropout},
    {aten::feature_dropout, dropout},
    {aten::feature_dropout_, dropout},
    {aten::alpha_dropout, dropout},
    {aten::alpha_dropout_, dropout},
    {aten::feature_alpha_dropout, dropout},
    {aten::feature_alpha_dropout_, dropout},
    {aten::native_dropout, dropout},
    {aten::_to_copy, cast},
    {aten::to_dtype, cast},
    {aten::to_dtype_layout, cast},
    {aten::to_device, cast},
    {aten::to_other, cast},
    {aten::type_as, cast},
    {quantized_decomposed::convert_element_type_no_fuse, cast},
    {aten::view, view},
    {aten::permute, permute},
    {aten::expand, same},
    {aten::slice_Tensor, slice},
    {aten::constant_pad_nd, pad},
    {aten::repeat, repeat},
    {aten::cat, cat},
    {aten::concat, cat},
    {aten::concatenate, cat},
    {aten::mul_Scalar, scaled},
    {aten::div_Scalar, scaled},
    {aten::sub_Scalar, difference},
    {aten::neg, negation},
};

constexpr Rewrites kTables[] = {Rewrites(kRows)};

// The tensor that a number was read from, where the number is made a tensor again. No row: rows
// see numbers computed at run time without the nodes that compute them.
absl::StatusOr<bool> remove_read_numbers(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.node_pointers()) {
    if (!node->is(aten::scalar_tensor) || !node->argument(arg::s).is_value()) continue;
    const Node* reader = node->argument(arg::s).value()->producer();
    if (reader == nullptr || !reader->is(aten::_local_scalar_dense)) continue;
    Value* x = reader->input(arg::self);
    if (x->type().is_dynamic() || !numel_of(x).is(1)) continue;
    Builder b(graph, node);
    PETREL_ASSIGN_OR_RETURN(Value * scalar, b.view(x, {}));
    PETREL_ASSIGN_OR_RETURN(scalar, b.cast(scalar, node->result()->tensor().dtype));
    PETREL_RETURN_IF_ERROR(b.replace(*node, scalar));
    changed = true;
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> remove_identities(Graph& graph, const PassContext&) {
  PETREL_ASSIGN_OR_RETURN(const bool has_numbers, remove_read_numbers(graph));
  PETREL_ASSIGN_OR_RETURN(const bool changed, apply_rewrites(graph, kTables));
  return changed || has_numbers;
}

}  // namespace petrel::exir
