// SPDX-License-Identifier: Apache-2.0
//
// What a row (rewrite.h) makes of a node whose sizes vary, on every path that it can
// take (exir/ops/paths.h). Each trial is a graph of the node alone; a size that the
// row puts into a node is an input of that graph, an int whose number is the size.
//
//   %y = aten.glu.default(%x, 0) : f32[s0]     of %x: f32[2*s0]
//   trial     graph(%x: f32[2*s0], %n: int(s0), %m: int(2*s0))
//               %g = aten.slice.Tensor(%x, 0, %n, %m)
//               ...
//
// The trial owns its graph; `outside` points into it and into the real one.
#ifndef PETREL_EXIR_PASS_FRAMEWORK_ROW_TRIAL_H_
#define PETREL_EXIR_PASS_FRAMEWORK_ROW_TRIAL_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/pass/framework/rewrite.h"

namespace petrel::exir {

struct RowTrial {
  std::unique_ptr<Graph> graph;
  std::map<const Value*, Value*> outside;  // values of the copy -> of the real graph
  std::map<const Node*, size_t> numbers;   // of the nodes

  // The size that `argument` stands for: an int, a size that the row put there, or a
  // number of the real graph; nullopt for anything else.
  MaybeSize size_in(const Argument& argument) const;
};

// The trial that stands for all paths: the row does the same on each, if what it
// writes there is equal under the assumptions of the path. nullopt where that is
// not proven, and where the row does not apply.
absl::StatusOr<std::optional<RowTrial>> try_row(const Node& node, RewriteFn row);

// The results of `node` that are used.
std::vector<size_t> used_results(const Node& node);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_ROW_TRIAL_H_
