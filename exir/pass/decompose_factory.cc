// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "exir/pass/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

BuiltValue filled(Builder& b, const TensorType& type, const Argument& value) {
  return b.call("aten.full.default", {type.sizes, value, type.dtype});
}

// full with an explicit dtype and nothing else said.
Rewritten full(Builder& b, Node& node) {
  const TensorType& type = node.result()->tensor();
  bool normal =
      node.argument(0) == Argument(type.sizes) && node.argument(2) == Argument(type.dtype);
  for (size_t i = 3; i < node.arguments().size(); ++i) {
    normal = normal && node.argument(i).is_none();
  }
  if (normal) return false;
  return done(b, node, filled(b, type, node.argument(1)));
}

Rewritten full_of_argument(Builder& b, Node& node) {
  const int place = node.op().find_arg("fill_value");
  const Argument& value = node.argument(place >= 0 ? static_cast<size_t>(place) : 1);
  if (!value.is_number()) return false;
  return done(b, node, filled(b, node.result()->tensor(), value));
}

// Also what is not initialised: some value is as good as any.
Rewritten zeros(Builder& b, Node& node) {
  return done(b, node, filled(b, node.result()->tensor(), Argument(int64_t{0})));
}

Rewritten ones(Builder& b, Node& node) {
  return done(b, node, filled(b, node.result()->tensor(), Argument(int64_t{1})));
}

Rewritten scalar_tensor(Builder& b, Node& node) {
  if (!node.argument(0).is_number()) return false;
  return done(b, node, filled(b, node.result()->tensor(), node.argument(0)));
}

Rewritten arange(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  const std::string& overload = node.op().overload;
  if (overload == "start_step") {
    bool normal = node.argument(3) == Argument(dtype);
    for (size_t i = 4; i < node.arguments().size(); ++i) {
      normal = normal && node.argument(i).is_none();
    }
    if (normal) return false;
    return done(b, node,
                b.call("aten.arange.start_step",
                       {node.argument(0), node.argument(1), node.argument(2), dtype}));
  }
  if (overload == "start") {
    return done(b, node,
                b.call("aten.arange.start_step", {node.argument(0), node.argument(1), 1, dtype}));
  }
  return done(b, node, b.call("aten.arange.start_step", {0, node.argument(0), 1, dtype}));
}

// Row number equals column number.
Rewritten eye(Builder& b, Node& node) {
  const TensorType type = node.result()->tensor();
  PETREL_ASSIGN_OR_RETURN(
      Value * rows, b.call("aten.arange.start_step", {0, type.sizes[0], 1, ScalarType::kLong}));
  PETREL_ASSIGN_OR_RETURN(rows, b.view(rows, {type.sizes[0], 1}));
  PETREL_ASSIGN_OR_RETURN(
      Value * columns, b.call("aten.arange.start_step", {0, type.sizes[1], 1, ScalarType::kLong}));
  PETREL_ASSIGN_OR_RETURN(columns, b.view(columns, {1, type.sizes[1]}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary("aten.eq.Tensor", rows, columns));
  return done(b, node, b.cast(y, type.dtype));
}

// start + i * step in the first half, end - (n - 1 - i) * step in the second:
// both ends are exact.
Rewritten linspace(Builder& b, Node& node) {
  const TensorType type = node.result()->tensor();
  const int64_t n = type.numel();
  if (!is_floating_point(type.dtype) || n < 2) return false;
  const double start = node.argument(0).as_number();
  const double end = node.argument(1).as_number();
  const double step = (end - start) / static_cast<double>(n - 1);
  PETREL_ASSIGN_OR_RETURN(Value * i,
                          b.call("aten.arange.start_step", {0, n, 1, ScalarType::kDouble}));
  PETREL_ASSIGN_OR_RETURN(Value * low, b.call("aten.mul.Scalar", {i, step}));
  PETREL_ASSIGN_OR_RETURN(low, b.call("aten.add.Scalar", {low, start}));
  PETREL_ASSIGN_OR_RETURN(Value * high,
                          b.call("aten.add.Scalar", {i, -static_cast<double>(n - 1)}));
  PETREL_ASSIGN_OR_RETURN(high, b.call("aten.mul.Scalar", {high, step}));
  PETREL_ASSIGN_OR_RETURN(high, b.call("aten.add.Scalar", {high, end}));
  PETREL_ASSIGN_OR_RETURN(Value * first, b.call("aten.lt.Scalar", {i, n / 2}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call("aten.where.self", {first, low, high}));
  return done(b, node, b.cast(y, type.dtype));
}

// x where the element is on or above the diagonal.
Rewritten triu(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  const Sizes& sizes = x->tensor().sizes;
  const Sizes matrix(sizes.end() - 2, sizes.end());
  if (!node.argument(1).is_int()) return false;
  PETREL_ASSIGN_OR_RETURN(Value * below,
                          b.call("aten.full.default", {matrix, true, ScalarType::kBool}));
  PETREL_ASSIGN_OR_RETURN(below,
                          b.call("aten.tril.default", {below, node.argument(1).as_int() - 1}));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, x->tensor().dtype));
  return done(b, node, b.call("aten.where.self", {below, zero, x}));
}

constexpr Rewrite kRows[] = {
    {"aten.full.default", full, true},
    {"aten.full_like.default", full_of_argument},
    {"aten.new_full.default", full_of_argument},
    {"aten.fill.Scalar", full_of_argument},
    {"aten.zeros.default", zeros},
    {"aten.zeros_like.default", zeros},
    {"aten.new_zeros.default", zeros},
    {"aten.zero.default", zeros},
    {"aten.empty.memory_format", zeros},
    {"aten.empty_like.default", zeros},
    {"aten.empty_permuted.default", zeros},
    {"aten.new_empty.default", zeros},
    {"aten.ones.default", ones},
    {"aten.ones_like.default", ones},
    {"aten.new_ones.default", ones},
    {"aten.scalar_tensor.default", scalar_tensor},
    {"aten.arange.default", arange},
    {"aten.arange.start", arange},
    {"aten.arange.start_step", arange, true},
    {"aten.eye.default", eye},
    {"aten.eye.m", eye},
    {"aten.linspace.default", linspace},
    {"aten.triu.default", triu},
};

}  // namespace

Rewrites factory_decompositions() { return kRows; }

}  // namespace petrel::exir
