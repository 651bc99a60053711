// SPDX-License-Identifier: Apache-2.0
//
// All passes in their order, one row with one line of reason each. The verifier
// runs after every pass that edited.
//
//   RETURN_IF_ERROR(run_passes(program, passes_before_partitioning(), context, "all", print));
#ifndef PETREL_EXIR_PASS_PIPELINE_H_
#define PETREL_EXIR_PASS_PIPELINE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "exir/ir/graph.h"
#include "exir/ir/program.h"
#include "exir/pass/framework/pass.h"

namespace petrel::exir {

// Before partitioning: functional, folded, fused as far as no backend objects.
absl::Span<const Pass> passes_before_partitioning();
// After it: what nobody took is decomposed to operators with kernels.
absl::Span<const Pass> passes_after_partitioning();

// Called after each pass that `dump_after` names ("all" for each).
using DumpFn = std::function<void(const std::string& pass, const Graph& graph)>;

// Runs `passes` on every method, verifying after each that edited. An error
// names the pass and the method.
absl::Status run_passes(Program& program, absl::Span<const Pass> passes, const PassContext& context,
                        const std::string& dump_after, const DumpFn& dump);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PIPELINE_H_
