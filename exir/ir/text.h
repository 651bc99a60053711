// SPDX-License-Identifier: Apache-2.0
//
// The text form of the IR; exir/ir/graph.h shows an example. It round-trips:
// parsing the printed text gives a graph that prints the same. Constants print
// as their FQN and type; their bytes are found again by name through a resolver.
//
//   method @step(%x: f32[1,4], %start: int) {
//     %w = constant @fc.weight : f32[4,4]
//     %cache = state @cache : f32[1,4]
//     %y = aten.linear.default(%x, %w, none) : f32[1,4]
//     %v, %i = aten.max.dim(%y, 1, false) : f32[1], i64[1]
//     write %y to %cache
//     return %v
//   }
//
// The regions of a node follow its types:
//
//     %y = petrel.cond.default(%p, [%x]) : f32[4] do {
//       method @true(%x: f32[4]) { ... }
//       method @false(%x: f32[4]) { ... }
//     }
//
// The symbols of sizes that vary stand behind the name of the method, with their
// ranges; `at` gives their sample points where those do not follow, `unknown`
// those of a size that no rule can express:
//
//   method @forward<s0: 1..16>(%x: f32[s0,8]) {
//     %n = aten.sym_size.int(%x, 0) : int(s0)
//
// Arguments stand in schema order, all of them: none, true, -3, 0.5, inf, nan,
// "text", f32, contiguous_format, [1, 2], [%a, 3]. Names that are not plain words
// are quoted: %"a b".
//
// The parser takes more than the printer writes, for tests and notes: `// ...`
// comments, `name=value` arguments, arguments left to their defaults, and result
// types left to the operator's rule.
#ifndef PETREL_EXIR_IR_TEXT_H_
#define PETREL_EXIR_IR_TEXT_H_

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// Ends in a new line. Of the symbols in `unbounded` the upper end of their range is left out; that
// text is for people, and not parsed.
std::string print_graph(const Graph& graph, const std::set<std::string>& unbounded = {});

// Gives the Constant of an FQN; null makes parsing fail with its name.
using ConstantResolver = std::function<ConstantPtr(const std::string& fqn, const TensorType& type)>;
// Gives the operator of a full name; null makes parsing fail with its name.
using OpResolver = std::function<const OpInfo*(absl::string_view full_name)>;

// InvalidArgument with line and column where the text is wrong.
absl::StatusOr<std::unique_ptr<Graph>> parse_graph(absl::string_view text, const OpResolver& ops,
                                                   const ConstantResolver& constants);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_TEXT_H_
