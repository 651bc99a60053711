// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/pipeline.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/ir/verifier.h"
#include "exir/pass/passes/additive_masks.h"
#include "exir/pass/passes/check_quantisation.h"
#include "exir/pass/passes/contiguous_constants.h"
#include "exir/pass/decompose/decompose.h"
#include "exir/pass/passes/dequantise_late.h"
#include "exir/pass/passes/drop_assertions.h"
#include "exir/pass/passes/drop_expands.h"
#include "exir/pass/passes/drop_zero_points.h"
#include "exir/pass/passes/fold_batch_norm.h"
#include "exir/pass/passes/fold_constants.h"
#include "exir/pass/passes/functionalize.h"
#include "exir/pass/passes/integer_products.h"
#include "exir/pass/lower/lower_to_kernels.h"
#include "exir/pass/passes/join_cache_attention.h"
#include "exir/pass/passes/merge_equal_nodes.h"
#include "exir/pass/passes/normalize_convolutions.h"
#include "exir/pass/passes/normalize_scalars.h"
#include "exir/pass/passes/normalize_views.h"
#include "exir/pass/passes/permute_stored_weights.h"
#include "exir/pass/passes/quantized_embeddings.h"
#include "exir/pass/passes/remove_dead_code.h"
#include "exir/pass/passes/remove_identities.h"
#include "exir/pass/lower/require_kernels.h"
#include "exir/pass/passes/update_state.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr Pass kBefore[] = {
    {"drop_assertions", "nothing later looks at them", drop_assertions},
    {"contiguous_constants", "folding reads weights in row-major order", contiguous_constants},
    {"check_quantisation", "scales stand where the archive has them", check_quantisation},
    {"normalize_views", "few kinds of views make writes through them few", normalize_views},
    {"functionalize", "all later passes may move and drop nodes", functionalize},
    {"normalize_views", "copies became views", normalize_views},
    {"remove_identities", "patterns match through them", remove_identities},
    {"normalize_scalars", "decompositions see tensors where tensors belong", normalize_scalars},
    {"normalize_convolutions", "batch norm folds into one kind of producer",
     normalize_convolutions},
    {"drop_zero_points", "what looks at weights finds those without zero points", drop_zero_points},
    {"integer_products", "quantising is still in one piece", integer_products},
    {"quantized_embeddings", "dequantising is still in one piece", quantized_embeddings},
    {"decompose", "composites become what backends and kernels know", decompose},
    {"remove_identities", "decompositions leave factors of one and views of views",
     remove_identities},
    {"drop_expands", "decompositions expand what operators of two tensors broadcast", drop_expands},
    {"fold_batch_norm", "convolutions and matrix products have their last form", fold_batch_norm},
    {"additive_masks", "masks that are constant fold with all else", additive_masks},
    {"fold_constants", "backends take weights, not computations of weights", fold_constants},
    {"merge_equal_nodes", "decompositions repeat what models did not", merge_equal_nodes},
    {"remove_dead_code", "backends and folding see live code only", remove_dead_code},
};

constexpr Pass kAfter[] = {
    {"lower_to_kernels", "nobody took what is left", lower_to_kernels},
    {"remove_identities", "lowering leaves views of views", remove_identities},
    {"update_state", "index_put is the operator that can write in place", update_state},
    {"join_cache_attention", "no pass behind it moves reads of state", join_cache_attention},
    {"permute_stored_weights", "lowering transposes weights, some of them dequantised",
     permute_stored_weights},
    {"fold_constants", "weights of lowered operators are rearranged once", fold_constants},
    {"merge_equal_nodes", "lowering repeats casts, masks and indices", merge_equal_nodes},
    {"remove_dead_code", "kernels run for live code only", remove_dead_code},
    {"dequantise_late", "nothing is moved or merged any more", dequantise_late},
    {"require_kernels", "nothing can change any more", require_kernels},
};

absl::Status in_pass(const absl::Status& status, const Pass& pass, const std::string& method,
                     const char* what) {
  return annotate(status, absl::StrCat("pass ", pass.name, what, " method '", method, "'"));
}

// How often a method's graph and its regions were edited: what it was verified at.
using Edits = std::vector<std::pair<const Graph*, uint64_t>>;

Edits edits_of(absl::Span<Graph* const> graphs) {
  Edits edits;
  for (const Graph* graph : graphs) edits.emplace_back(graph, graph->edits());
  return edits;
}

// On the graph, and then on the regions of the nodes that it has left.
absl::Status run_pass(Graph& graph, const Pass& pass, const PassContext& context) {
  PETREL_RETURN_IF_ERROR(pass.run(graph, context).status());
  for (const auto& node : graph.nodes()) {
    for (const auto& region : node->regions()) {
      PETREL_RETURN_IF_ERROR(run_pass(*region, pass, context));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Pass> passes_before_partitioning() { return kBefore; }
absl::Span<const Pass> passes_after_partitioning() { return kAfter; }

absl::Status run_passes(Program& program, absl::Span<const Pass> passes, const PassContext& context,
                        const std::string& dump_after, const DumpFn& dump) {
  for (auto& [name, method] : program.methods) {
    Edits verified;  // nothing
    for (const Pass& pass : passes) {
      const absl::Status done = run_pass(*method.graph, pass, context);
      if (!done.ok()) return in_pass(done, pass, name, " of");
      // Counted, not asked of the pass: whether it knows that it changed something is
      // part of what is verified.
      Edits edits = edits_of(with_regions(*method.graph));
      if (edits != verified) {
        const absl::Status valid = verify_graph(*method.graph);
        if (!valid.ok()) {
          return in_pass(valid, pass, name, " broke");
        }
        verified = std::move(edits);
      }
      if (dump && (dump_after == "all" || dump_after == pass.name)) {
        dump(pass.name, *method.graph);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
