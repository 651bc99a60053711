// SPDX-License-Identifier: Apache-2.0
//
// What a node of an archive is called: its operator, its results, its place in
// the user's model.
#ifndef PETREL_EXIR_IMPORT_NODE_NAMES_H_
#define PETREL_EXIR_IMPORT_NODE_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/import/json.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// Higher-order operators whose region is inlined.
inline constexpr char kSetGradEnabled[] = "torch.ops.higher_order.wrap_with_set_grad_enabled";
inline constexpr char kAutocast[] = "torch.ops.higher_order.wrap_with_autocast";

// Those whose graphs stay graphs.
inline constexpr char kCond[] = "torch.ops.higher_order.cond";
inline constexpr char kMap[] = "torch.ops.higher_order.map_impl";
inline constexpr char kScan[] = "torch.ops.higher_order.scan";
inline constexpr char kWhileLoop[] = "torch.ops.higher_order.while_loop";

// One that wraps a call with tokens, so that what it does besides keeps its place among
// others: what run_decompositions() writes for checks of inverses. Only checks are taken, and
// left out.
inline constexpr char kWithEffects[] = "torch.ops.higher_order.with_effects";

// Of numbers, which has no row.
inline constexpr char kPower[] = "_operator.pow";

// "aten.add.Tensor" for the target "torch.ops.aten.add.Tensor"; "executorch_prim.add.Scalar"
// for "_operator.add"; other targets as they are.
std::string operator_name(const std::string& target);

// Assertions about numbers, and calls about types of elements, whose result no argument can be:
// nothing looks at them.
bool is_ignored(const std::string& name);

// The row of an operator that programs of torch can have; null for one that is unknown, or
// that only the compiler makes: nobody checks what such calls promise one another.
const OpInfo* find_torch_op(const std::string& name);

// The row of "aten.cat.default" for a node of "aten.cat.out", and so on: of an operator that has
// the node's arguments but those that it writes into, and a result for each of these. Null for
// others.
const OpInfo* find_op_of_out(const Json& node, const std::string& name);

// From the metadata of a node; empty where the archive has none.
Source read_source(const Json& node);

// The name under which errors speak of a node: its first result.
std::string node_name(const Json& node);

// Whether a node gives numbers and nothing else.
absl::StatusOr<bool> has_scalar_results_only(const Json& node);

// InvalidArgument that lists every operator of `graph` and of the regions in it
// that the compiler does not know, each with the places that use it.
absl::Status check_operators(const Json& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_NODE_NAMES_H_
