// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/permute_stored_weights.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exir/pass/framework/builder.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

Rewritten permute(Builder& b, Node& node) {
  const Node* dequantize = tensor_at(node, arg::self)->producer();
  if (dequantize == nullptr || !dequantize->result()->has_single_user() ||
      !dequantize->is(quantized_decomposed::dequantize_per_tensor,
                      quantized_decomposed::dequantize_per_channel)) {
    return false;
  }
  Value* stored = dequantize->input(arg::input);
  if (!stored->is_constant() || stored->constant()->is_mutable() || !stored->has_single_user()) {
    return false;
  }
  const size_t rank = stored->tensor().rank();
  Ints dims = ints_at(node, arg::dims, rank);
  for (int64_t& dim : dims) dim = wrap_dim(dim, rank);
  PETREL_ASSIGN_OR_RETURN(Value * permuted, b.permute(stored, dims));
  std::vector<Argument> arguments = dequantize->arguments();
  arguments[0] = Argument(permuted);
  if (dequantize->is(quantized_decomposed::dequantize_per_channel)) {
    const int64_t axis = wrap_dim(fixed_int(dequantize->argument(arg::axis)), rank);
    const auto place = std::find(dims.begin(), dims.end(), axis);
    arguments[static_cast<size_t>(dequantize->op().find_arg(arg::axis))] =
        Argument(static_cast<int64_t>(place - dims.begin()));
  }
  PETREL_ASSIGN_OR_RETURN(Node * made, b.node(dequantize->op(), std::move(arguments)));
  return done(b, node, made->result());
}

constexpr Rewrite kRows[] = {{aten::permute, permute}};
constexpr Rewrites kTables[] = {Rewrites(kRows)};

}  // namespace

absl::StatusOr<bool> permute_stored_weights(Graph& graph, const PassContext&) {
  return apply_rewrites(graph, kTables);
}

}  // namespace petrel::exir
