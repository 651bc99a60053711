// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "exir/pass/lower_to_kernels.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

Rewritten linear(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  Value* weight = tensor_at(node, 1);
  Value* bias = tensor_at(node, 2);
  const Sizes& out = node.result()->tensor().sizes;
  const int64_t inner = x->tensor().sizes.back();
  const int64_t rows = product(leading(x->tensor().sizes, 1));
  if (weight->tensor().rank() == 1) {  // a single output without a dim
    PETREL_ASSIGN_OR_RETURN(weight, b.view(weight, {1, inner}));
  }
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {rows, inner}));
  PETREL_ASSIGN_OR_RETURN(weight, b.permute(weight, {1, 0}));
  Value* y = nullptr;
  if (bias == nullptr) {
    PETREL_ASSIGN_OR_RETURN(y, b.binary("aten.mm.default", x, weight));
  } else {
    PETREL_ASSIGN_OR_RETURN(y, b.call("aten.addmm.default", {bias, x, weight}));
  }
  return done(b, node, b.view(y, out));
}

Rewritten max_pool2d(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(
      Node * made, b.node("aten.max_pool2d_with_indices.default",
                          {node.argument(0), node.argument(1), node.argument(2), node.argument(3),
                           node.argument(4), node.argument(5)}));
  return done(b, node, made->result(0));
}

constexpr Rewrite kRows[] = {
    {"aten.linear.default", linear},
    {"aten.max_pool2d.default", max_pool2d},
};

}  // namespace

Rewrites linear_lowerings() { return kRows; }

}  // namespace petrel::exir
