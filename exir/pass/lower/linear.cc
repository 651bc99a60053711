// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "exir/pass/lower/lower_to_kernels.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

Rewritten linear(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  Value* weight = tensor_at(node, arg::weight);
  Value* bias = tensor_at(node, arg::bias);
  const Sizes& out = sizes_of(node.result());
  const Size inner = sizes_of(x).back();
  const Size rows = product(leading(sizes_of(x), 1));
  if (weight->tensor().rank() == 1) {  // a single output without a dim
    PETREL_ASSIGN_OR_RETURN(weight, b.view(weight, {1, inner}));
  }
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {rows, inner}));
  PETREL_ASSIGN_OR_RETURN(weight, b.permute(weight, {1, 0}));
  Value* y = nullptr;
  if (bias == nullptr) {
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mm, x, weight));
  } else {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::addmm, {bias, x, weight}));
  }
  return done(b, node, b.view(y, out));
}

Rewritten max_pool2d(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Node * made,
                          b.node(aten::max_pool2d_with_indices,
                                 {node.argument(arg::self), node.argument(arg::kernel_size),
                                  node.argument(arg::stride), node.argument(arg::padding),
                                  node.argument(arg::dilation), node.argument(arg::ceil_mode)}));
  return done(b, node, made->result(0));
}

constexpr Rewrite kRows[] = {
    {aten::linear, linear},
    {aten::max_pool2d, max_pool2d},
};

}  // namespace

Rewrites linear_lowerings() { return kRows; }

}  // namespace petrel::exir
