// SPDX-License-Identifier: Apache-2.0
//
// A pass is one function on one graph. It says in its header the pattern before
// and after as text IR, returns whether it changed anything, and is idempotent
// (a test runs every pass twice). The order is in exir/pass/pipeline.h.
#ifndef PETREL_EXIR_PASS_FRAMEWORK_PASS_H_
#define PETREL_EXIR_PASS_FRAMEWORK_PASS_H_

#include <functional>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"

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

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_PASS_H_
