// SPDX-License-Identifier: Apache-2.0
//
// What a payload node makes of sizes that vary: infer_output_dims
// (format/shape_rules.h) for expressions.
//
//   StaticReshape to [0,8] of [s0,2,4]      [s0, 8]
//   Add of [s0,4] and [1,4]                 [s0, 4]
//   Add of [s0,4] and [s1,4]                refused: it may be either
//
// Invariant: where the runtime infers anything for values of the symbols, it infers
// these sizes. What is not proven for all values is refused.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_EXTENT_RULES_H_
#define PETREL_BACKENDS_XNNPACK_AOT_EXTENT_RULES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/xnnpack/aot/layout.h"
#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack::aot {

// Proven by normal form, or by trying all values of few symbols.
bool are_same(const Extents& a, const Extents& b);

// One entry per input, null for a missing bias. Precondition: the node is one that
// infer_output_dims knows, with as many inputs as its kind has. InvalidArgument says
// what depends on sizes; call it on a path (exir/ops/paths.h), which it may lose.
absl::StatusOr<Extents> infer_extents(const Node& node, const std::vector<const Extents*>& inputs);

// "[s0,8]".
std::string to_string(const Extents& sizes);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_EXTENT_RULES_H_
