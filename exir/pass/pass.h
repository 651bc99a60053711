// SPDX-License-Identifier: Apache-2.0
//
// A pass is one function on one graph. It says in its header the pattern before
// and after as text IR, returns whether it changed anything, and is idempotent
// (a test runs every pass twice). The order lives in pass/pipeline.cc, one row
// with one line of reason each. The verifier runs after every pass.
#ifndef PETREL_EXIR_PASS_PASS_H_
#define PETREL_EXIR_PASS_PASS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/ir/program.h"

namespace petrel::exir {

struct PassContext {
  // Operators for which this returns true are not decomposed now.
  std::function<bool(const OpInfo&)> keep_whole;
  // Operators of this project, which only its runtime has, may be emitted.
  bool allow_petrel_ops = false;
  // The graph must be the same whatever the weights are, so that others can
  // take their place: a pass may compute weights from weights, under a name
  // that tells how, and must not look at one to decide what to do. Weights are
  // parameters and buffers; literals are part of the graph.
  bool keep_weights = false;
};

using PassFn = absl::StatusOr<bool> (*)(Graph& graph, const PassContext& context);

struct Pass {
  const char* name;    // "fold_batch_norm": as in --dump-after
  const char* reason;  // why it stands where it stands
  PassFn run;
};

// Before partitioning: functional, folded, fused as far as no backend objects.
absl::Span<const Pass> passes_before_partitioning();
// After it: what nobody took is decomposed to operators with kernels.
absl::Span<const Pass> passes_after_partitioning();

// Called after each pass that `dump_after` names ("all" for each).
using DumpFn = std::function<void(const std::string& pass, const Graph& graph)>;

// Runs `passes` on every method, verifying after each. An error names the pass
// and the method.
absl::Status run_passes(Program& program, absl::Span<const Pass> passes, const PassContext& context,
                        const std::string& dump_after, const DumpFn& dump);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASS_H_
