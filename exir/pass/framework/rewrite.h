// SPDX-License-Identifier: Apache-2.0
//
// A pass made of rows: one operator, one function that replaces a node of it.
//
//   absl::StatusOr<bool> silu(Builder& b, Node& node) {
//     Value* x = node.input(arg::self);
//     PETREL_ASSIGN_OR_RETURN(Value* s, b.call(aten::sigmoid, {x}));
//     PETREL_ASSIGN_OR_RETURN(Value* y, b.call(aten::mul_Tensor, {x, s}));
//     PETREL_RETURN_IF_ERROR(b.replace(node, y));
//     return true;
//   }
//   constexpr Rewrite kRows[] = {{aten::silu, silu}};
//
// A function returns false, having changed nothing, where it does not apply.
// Sweeps repeat until nothing changes, so a row may build what another rewrites.
// Rows read sizes and numbers by exir/ops/read_sizes.h only, and run the same way
// where sizes vary; rewrite_dynamic.h says when what they make is taken.
#ifndef PETREL_EXIR_PASS_FRAMEWORK_REWRITE_H_
#define PETREL_EXIR_PASS_FRAMEWORK_REWRITE_H_

#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/ir/graph.h"
#include "exir/pass/framework/builder.h"
#include "exir/pass/framework/pass.h"

namespace petrel::exir {

using RewriteFn = absl::StatusOr<bool> (*)(Builder& b, Node& node);

struct Rewrite {
  OpHandle op;
  RewriteFn run;
  // The row spells one operator one way: it holds also for those kept whole.
  bool spelling = false;
};

using Rewrites = absl::Span<const Rewrite>;

// Applies the rows of all `tables`; of two rows for one operator the later. Where
// `keep` returns true only the rows for spelling are. (optional)
absl::StatusOr<bool> apply_rewrites(Graph& graph, absl::Span<const Rewrites> tables,
                                    const std::function<bool(const OpInfo&)>& keep = nullptr);

// Finishes a row: `value` in place of the node.
absl::StatusOr<bool> done(Builder& b, Node& node, const BuiltValue& value);

// The argument of that name; null where the schema has none.
const Argument* find_argument(const Node& node, ArgHandle name);

// The tensor that an argument holds; null when it holds none or a number.
Value* tensor_in(const Argument& argument);
// The same of the first of these arguments that the schema has; null where it has
// none of them.
Value* tensor_at(const Node& node, ArgHandle name);
template <typename... More>
Value* tensor_at(const Node& node, ArgHandle first, ArgHandle second, More... more) {
  return find_argument(node, first) != nullptr ? tensor_at(node, first)
                                               : tensor_at(node, second, more...);
}
// The ints of a list argument, one int repeated to `length`; empty when it
// holds anything else. For rows: of those that are computed at run time any numbers, as of
// fixed_int(), so that the list is as long as the rule found it.
Ints ints_at(const Node& node, ArgHandle name, size_t length);
// The same for passes without rows: nullopt unless it holds ints written in the program.
std::optional<Ints> literal_ints_at(const Node& node, ArgHandle name, size_t length);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_REWRITE_H_
