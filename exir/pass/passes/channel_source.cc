// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/channel_source.h"

#include <optional>

#include "exir/ops/handles.h"
#include "exir/pass/framework/builder.h"
#include "exir/pass/framework/rewrite.h"

namespace petrel::exir {
namespace {

// The dim of a view's input with the same size and as many elements behind each index: an
// element has the same index in both.
std::optional<size_t> dim_before_view(const Value* input, const Value* result, size_t dim) {
  const rules::Sizes from = sizes_of(input);
  const rules::Sizes to = sizes_of(result);
  rules::Size behind = 1;
  for (size_t d = to.size() - 1; d > dim; --d) behind = behind * to[d];
  rules::Size passed = 1;
  for (size_t d = from.size(); d-- > 0;) {
    if (is_always(passed, behind) && is_always(from[d], to[dim])) return d;
    passed = passed * from[d];
  }
  return std::nullopt;
}

}  // namespace

ChannelSource channel_source(Value* value, size_t dim) {
  for (;;) {
    Node* node = value->producer();
    if (node == nullptr || !value->has_single_user()) return {nullptr, 0};
    if (node->is(aten::view)) {
      Value* input = tensor_at(*node, arg::self);
      const std::optional<size_t> before = dim_before_view(input, value, dim);
      if (!before.has_value()) return {nullptr, 0};
      dim = *before;
      value = input;
    } else if (node->is(aten::permute)) {
      value = tensor_at(*node, arg::self);
      const Ints dims = ints_at(*node, arg::dims, value->tensor().rank());
      dim = static_cast<size_t>(wrap_dim(dims[dim], value->tensor().rank()));
    } else {
      return {node, dim};
    }
  }
}

}  // namespace petrel::exir
