// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/lower_to_kernels.h"

#include "exir/pass/decompose.h"

namespace petrel::exir {

absl::StatusOr<bool> lower_to_kernels(Graph& graph, const PassContext& context) {
  // The decompositions again, for what a backend kept from them and left.
  const Rewrites tables[] = {
      activation_decompositions(),
      arithmetic_decompositions(),
      composite_decompositions(),
      einsum_decompositions(),
      factory_decompositions(),
      index_decompositions(),
      matmul_decompositions(),
      norm_decompositions(),
      pool_decompositions(),
      recurrent_decompositions(),
      reduction_decompositions(),
      resample_decompositions(),
      shape_decompositions(),
      sort_decompositions(),
      volume_decompositions(),
      activation_lowerings(),
      attention_lowerings(),
      linear_lowerings(),
      // The later of two rows for one operator counts.
      context.allow_petrel_ops ? petrel_attention_lowerings() : Rewrites(),
  };
  return apply_rewrites(graph, tables, [](const OpInfo& op) {
    // The only one whose decomposition leads away from kernels.
    return op.name == "aten::max_pool2d_with_indices";
  });
}

}  // namespace petrel::exir
