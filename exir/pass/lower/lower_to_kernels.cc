// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/lower/lower_to_kernels.h"

#include <algorithm>
#include <vector>

#include "exir/pass/decompose/decompose.h"

namespace petrel::exir {

absl::StatusOr<bool> lower_to_kernels(Graph& graph, const PassContext& context) {
  // For what a backend kept whole and left.
  std::vector<Rewrites> tables = decompositions();
  // Of two rows for one operator the later counts.
  tables.insert(tables.end(), {activation_lowerings(), attention_lowerings(), linear_lowerings()});
  if (context.allow_petrel_ops) tables.push_back(petrel_attention_lowerings());
  return apply_rewrites(graph, tables, [](const OpInfo& op) {
    // The only one whose decomposition leads away from kernels.
    return op.is(aten::max_pool2d_with_indices);
  });
}

bool is_lowered(const OpInfo& op) {
  for (const Rewrites rows : {activation_lowerings(), attention_lowerings(), linear_lowerings()}) {
    const auto is_of_op = [&](const Rewrite& row) { return op.is(row.op); };
    if (std::any_of(rows.begin(), rows.end(), is_of_op)) return true;
  }
  return false;
}

}  // namespace petrel::exir
