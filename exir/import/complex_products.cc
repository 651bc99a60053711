// SPDX-License-Identifier: Apache-2.0
#include "exir/import/complex_products.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir {

namespace {

using Made = absl::StatusOr<std::vector<ComplexPair>>;
using PairOr = absl::StatusOr<ComplexPair>;

}  // namespace

Made each_part(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(Node * real, b.node(call.op, call.real));
  std::vector<ComplexPair> made;
  for (size_t i = 0; i < real->num_results(); ++i) made.push_back({real->result(i), nullptr});
  if (call.widens()) {
    for (ComplexPair& one : made) {
      PETREL_ASSIGN_OR_RETURN(one.imaginary, b.call(aten::zeros_like, {one.real}));
    }
    return made;
  }
  PETREL_ASSIGN_OR_RETURN(Node * imaginary, b.node(call.op, call.imaginary));
  for (size_t i = 0; i < made.size(); ++i) made[i].imaginary = imaginary->result(i);
  return made;
}

PairOr bilinear(Builder& b, const ComplexPair& x, const ComplexPair& y, const Bilinear& function) {
  ComplexPair made;
  PETREL_ASSIGN_OR_RETURN(made.real, function(x.real, y.real));
  if (x.is_complex() && y.is_complex()) {
    PETREL_ASSIGN_OR_RETURN(Value * both, function(x.imaginary, y.imaginary));
    PETREL_ASSIGN_OR_RETURN(made.real, b.call(aten::sub_Tensor, {made.real, both}));
  }
  if (y.is_complex()) {
    PETREL_ASSIGN_OR_RETURN(made.imaginary, function(x.real, y.imaginary));
  }
  if (x.is_complex()) {
    PETREL_ASSIGN_OR_RETURN(Value * crossed, function(x.imaginary, y.real));
    if (made.imaginary != nullptr) {
      PETREL_ASSIGN_OR_RETURN(crossed, b.call(aten::add_Tensor, {made.imaginary, crossed}));
    }
    made.imaginary = crossed;
  }
  return made;
}

namespace {

ComplexPair parts_of(const ComplexCall& call, size_t i) {
  return {call.real[i].value(), call.is_complex[i] ? call.imaginary[i].value() : nullptr};
}

Made sum(Builder& b, const ComplexPair& x, const ComplexPair& y) {
  if (x.is_complex() != y.is_complex()) {
    return absl::InvalidArgumentError("adds complex numbers to real ones");
  }
  ComplexPair made;
  PETREL_ASSIGN_OR_RETURN(made.real, b.call(aten::add_Tensor, {x.real, y.real}));
  if (x.is_complex()) {
    PETREL_ASSIGN_OR_RETURN(made.imaginary, b.call(aten::add_Tensor, {x.imaginary, y.imaginary}));
  }
  return std::vector<ComplexPair>{made};
}

// The call with other tensors, and without a bias.
Bilinear same_call(Builder& b, const ComplexCall& call, bool has_bias) {
  return [&b, &call, has_bias](Value* u, Value* v) -> BuiltValue {
    std::vector<Argument> arguments = call.real;
    arguments[0] = Argument(u);
    arguments[1] = Argument(v);
    if (has_bias) arguments[2] = none();
    PETREL_ASSIGN_OR_RETURN(Node * node, b.node(call.op, std::move(arguments)));
    return node->result();
  };
}

}  // namespace

Made product_of_two(Builder& b, const ComplexCall& call) {
  PETREL_ASSIGN_OR_RETURN(ComplexPair made, bilinear(b, parts_of(call, 0), parts_of(call, 1),
                                                     same_call(b, call, false)));
  return std::vector<ComplexPair>{made};
}

Made layer(Builder& b, const ComplexCall& call) {
  const ComplexPair weight = parts_of(call, 1);
  PETREL_ASSIGN_OR_RETURN(ComplexPair made,
                          bilinear(b, parts_of(call, 0), weight, same_call(b, call, true)));
  if (call.real[2].is_none()) return std::vector<ComplexPair>{made};
  ComplexPair bias = parts_of(call, 2);
  rules::Sizes shape(std::max<size_t>(weight.real->tensor().rank(), 2) - 1, 1);
  shape[0] = numel_of(bias.real);
  for (Value** part : {&bias.real, &bias.imaginary}) {
    if (*part == nullptr) continue;
    PETREL_ASSIGN_OR_RETURN(*part, b.view(*part, shape));
  }
  return sum(b, made, bias);
}

Made sum_with_product(Builder& b, const ComplexCall& call) {
  for (const ArgHandle factor : {arg::beta, arg::alpha}) {
    const Argument& given = call.argument(factor);
    if (!given.is_number() || given.as_number() != 1) {
      return absl::UnimplementedError("complex sums with factors are not supported");
    }
  }
  PETREL_ASSIGN_OR_RETURN(const ComplexPair made, bilinear(b, parts_of(call, 1), parts_of(call, 2),
                                                           [&](Value* u, Value* v) {
                                                             return b.call(aten::mm, {u, v});
                                                           }));
  return sum(b, made, parts_of(call, 0));
}

Made einsum(Builder& b, const ComplexCall& call) {
  const Argument& tensors = call.argument(arg::tensors);
  const Argument& other = call.imaginary[static_cast<size_t>(call.op.find_arg(arg::tensors))];
  const std::vector<Value*> real = tensors.values();
  const std::vector<Value*> imaginary = other.values();
  if (real.size() > 2) {
    return absl::UnimplementedError("more than two tensors, of complex numbers, are not supported");
  }
  if (real.size() < 2) return each_part(b, call);
  const auto parts = [&](size_t i) {
    return ComplexPair{real[i], real[i] == imaginary[i] ? nullptr : imaginary[i]};
  };
  PETREL_ASSIGN_OR_RETURN(
      ComplexPair made, bilinear(b, parts(0), parts(1), [&](Value* u, Value* v) {
        return b.call(aten::einsum, {call.argument(arg::equation), std::vector<Value*>{u, v}});
      }));
  return std::vector<ComplexPair>{made};
}

}  // namespace petrel::exir
