// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/rewrite.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/ops/read_sizes.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/constant_facts.h"
#include "exir/pass/framework/rewrite_dynamic.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// A row that keeps making nodes of its own operator is a bug; the longest real
// chain (einsum of many operands, multi-step norms) is a few sweeps.
constexpr int kMaxSweeps = 32;
// What a graph may become: so many nodes for each, and some more for small ones.
constexpr size_t kMostTimes = 64;
constexpr size_t kMoreNodes = size_t{1} << 18;

}  // namespace

absl::StatusOr<bool> apply_rewrites(Graph& graph, absl::Span<const Rewrites> tables,
                                    const std::function<bool(const OpInfo&)>& keep) {
  std::map<const OpInfo*, RewriteFn> rows;
  for (const Rewrites& table : tables) {
    for (const Rewrite& row : table) {
      const OpInfo& info = op(row.op);
      if (keep && !row.spelling && keep(info)) continue;
      rows[&info] = row.run;
    }
  }
  if (!graph.any_operator([&](const OpInfo& op) { return rows.count(&op) > 0; })) return false;
  bool changed = false;
  const TableScope scope;
  const ConstantFacts facts;
  const size_t most = kMostTimes * graph.nodes().size() + kMoreNodes;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool changed_now = false;
    for (Node* node : graph.node_pointers()) {
      auto row = rows.find(&node->op());
      if (row == rows.end()) continue;
      // The node may be gone when its rewriting fails.
      const std::string name = node->num_results() > 0 ? node->result()->name() : "";
      const Source source = node->source();
      Builder builder(graph, node);
      absl::StatusOr<bool> result = has_varying_sizes(*node)
                                        ? rewrite_dynamic(graph, *node, row->second)
                                        : row->second(builder, *node);
      if (!result.ok()) {
        return annotate(result.status(), describe_node(name, *row->first, source));
      }
      changed_now = changed_now || *result;
      if (graph.nodes().size() > most) {
        return absl::ResourceExhaustedError(
            absl::StrCat("its nodes become more than ", most, ", of which ",
                         describe_node(name, *row->first, source), " makes too many"));
      }
    }
    if (!changed_now) return changed;
    changed = true;
  }
  return absl::InternalError(absl::StrCat("rewriting did not end after ", kMaxSweeps, " sweeps"));
}

absl::StatusOr<bool> done(Builder& b, Node& node, const BuiltValue& value) {
  PETREL_RETURN_IF_ERROR(value.status());
  PETREL_RETURN_IF_ERROR(b.replace(node, *value));
  return true;
}

const Argument* find_argument(const Node& node, ArgHandle name) {
  const int i = node.op().find_arg(name);
  return i < 0 ? nullptr : &node.arguments()[static_cast<size_t>(i)];
}

Value* tensor_in(const Argument& argument) {
  if (!argument.is_value()) return nullptr;
  return argument.value()->type().is_tensor() ? argument.value() : nullptr;
}

Value* tensor_at(const Node& node, ArgHandle name) {
  const Argument* argument = find_argument(node, name);
  return argument == nullptr ? nullptr : tensor_in(*argument);
}

Ints ints_at(const Node& node, ArgHandle name, size_t length) {
  const Argument* argument = find_argument(node, name);
  if (argument == nullptr) return {};
  if (argument->is_value()) return Ints(length, fixed_int(*argument));
  if (!argument->is_list()) return literal_ints_at(node, name, length).value_or(Ints());
  Ints ints;
  for (const Argument& item : argument->as_list()) ints.push_back(fixed_int(item));
  return ints.size() == 1 && length > 1 ? Ints(length, ints[0]) : ints;
}

std::optional<Ints> literal_ints_at(const Node& node, ArgHandle name, size_t length) {
  const Argument* argument = find_argument(node, name);
  if (argument == nullptr) return std::nullopt;
  if (argument->is_int()) return Ints(length, argument->as_int());
  if (!argument->is_ints()) return std::nullopt;
  const Ints& ints = argument->as_ints();
  return ints.size() == 1 && length > 1 ? Ints(length, ints[0]) : ints;
}

}  // namespace petrel::exir
