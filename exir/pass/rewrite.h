// SPDX-License-Identifier: Apache-2.0
//
// A pass made of rows: one operator, one function that replaces a node of it.
//
//   absl::StatusOr<bool> silu(Builder& b, Node& node) {
//     Value* x = node.argument(0).value();
//     PETREL_ASSIGN_OR_RETURN(Value* s, b.call("aten.sigmoid.default", {x}));
//     PETREL_ASSIGN_OR_RETURN(Value* y, b.call("aten.mul.Tensor", {x, s}));
//     PETREL_RETURN_IF_ERROR(b.replace(node, y));
//     return true;
//   }
//   constexpr Rewrite kRows[] = {{"aten.silu.default", silu}};
//
// A function returns false, having changed nothing, where it does not apply.
// Sweeps repeat until nothing changes, so a row may build what another rewrites.
// Rows see fixed sizes only; rewrite_dynamic.h says what becomes of others.
#ifndef PETREL_EXIR_PASS_REWRITE_H_
#define PETREL_EXIR_PASS_REWRITE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/ir/graph.h"
#include "exir/pass/builder.h"
#include "exir/pass/pass.h"

namespace petrel::exir {

using RewriteFn = absl::StatusOr<bool> (*)(Builder& b, Node& node);

struct Rewrite {
  const char* op;  // "aten.silu.default"
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

// The tensor in argument `i`; null when it holds none or a number.
Value* tensor_at(const Node& node, size_t i);
Value* tensor_at(const Node& node, const std::string& name);
// The ints of a list argument, one int repeated to `length`; empty when it
// holds anything else.
Ints ints_at(const Node& node, const std::string& name, size_t length);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_REWRITE_H_
