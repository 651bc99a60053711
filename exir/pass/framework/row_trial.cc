// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/row_trial.h"

#include <string>
#include <utility>

#include "exir/ops/paths.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using rules::Paths;
using rules::RulePath;

Argument copied(const Argument& argument, RowTrial* trial, std::map<Value*, Value*>* copies) {
  if (argument.is_list()) {
    Argument::List items;
    for (const Argument& item : argument.as_list()) items.push_back(copied(item, trial, copies));
    return Argument(std::move(items));
  }
  if (!argument.is_value()) return argument;
  Value* const value = argument.value();
  auto [it, is_new] = copies->emplace(value, nullptr);
  if (is_new) {
    it->second = value->is_constant() ? trial->graph->add_constant(value->constant())
                                      : trial->graph->add_input(value->type(), value->name());
    trial->outside[it->second] = value;
  }
  return Argument(it->second);
}

// Runs the row once. False where it does not apply.
absl::StatusOr<bool> run(const Node& node, RewriteFn row, RowTrial* trial) {
  trial->graph = std::make_unique<Graph>(node.graph().name());
  std::map<Value*, Value*> copies;
  std::vector<Argument> arguments;
  for (const Argument& argument : node.arguments()) {
    arguments.push_back(copied(argument, trial, &copies));
  }
  std::vector<Type> types;
  for (size_t i = 0; i < node.num_results(); ++i) types.push_back(node.result(i)->type());
  Node* copy =
      trial->graph->append(node.op(), std::move(arguments), std::move(types), "r", node.source());
  std::vector<Value*> outputs;
  for (size_t i : used_results(node)) outputs.push_back(copy->result(i));
  trial->graph->set_outputs(std::move(outputs));
  Builder b(*trial->graph, copy, Builder::Varying::kAsInputs);
  PETREL_ASSIGN_OR_RETURN(const bool applied, row(b, *copy));
  for (const auto& made : trial->graph->nodes()) {
    const size_t number = trial->numbers.size();
    trial->numbers[made.get()] = number;
  }
  return applied;
}

// What a row makes on one path, compared with what it makes on the first.
class Comparison {
 public:
  Comparison(const RowTrial& first, const RowTrial& other, const RulePath& path)
      : first_(first), other_(other), path_(path) {}

  // The same operators with the same operands.
  bool is_same() const {
    const Graph& a = *first_.graph;
    const Graph& b = *other_.graph;
    if (a.nodes().size() != b.nodes().size()) return false;
    auto at = b.nodes().begin();
    for (const auto& node : a.nodes()) {
      if (!is_same(*node, **at)) return false;
      ++at;
    }
    for (size_t i = 0; i < a.outputs().size(); ++i) {
      if (!is_same(a.outputs()[i], b.outputs()[i])) return false;
    }
    return true;
  }

 private:
  bool is_same(const Node& a, const Node& b) const {
    if (&a.op() != &b.op() || a.num_results() != b.num_results()) return false;
    for (size_t i = 0; i < a.arguments().size(); ++i) {
      if (!is_same(a.arguments()[i], b.arguments()[i])) return false;
    }
    return true;
  }

  static Argument::List items_of(const Argument& argument) {
    if (argument.is_list()) return argument.as_list();
    Argument::List items;
    for (int64_t item : argument.as_ints()) items.emplace_back(item);
    return items;
  }

  bool is_same(const Argument& a, const Argument& b) const {
    const auto is_list = [](const Argument& x) { return x.is_ints() || x.is_list(); };
    if (is_list(a) && is_list(b)) {
      const Argument::List left = items_of(a);
      const Argument::List right = items_of(b);
      if (left.size() != right.size()) return false;
      for (size_t i = 0; i < left.size(); ++i) {
        if (!is_same(left[i], right[i])) return false;
      }
      return true;
    }
    const MaybeSize left = first_.size_in(a);
    const MaybeSize right = other_.size_in(b);
    if (left && right) return equal_on(path_, *left, *right);
    if (a.is_value() && b.is_value()) return is_same(a.value(), b.value());
    return a == b;
  }

  bool is_same(const Value* a, const Value* b) const {
    if (a->is_constant() || b->is_constant()) {
      if (!a->is_constant() || !b->is_constant()) return false;
      const Constant& left = *a->constant();
      const Constant& right = *b->constant();
      return &left == &right || (left.fqn == right.fqn && left.type == right.type &&
                                 !left.is_mutable() && left.data.equals(right.data));
    }
    if (a->producer() == nullptr || b->producer() == nullptr) {
      const auto left = first_.outside.find(a);
      const auto right = other_.outside.find(b);
      return left != first_.outside.end() && right != other_.outside.end() &&
             left->second == right->second;
    }
    return first_.numbers.at(a->producer()) == other_.numbers.at(b->producer()) &&
           a->result_index() == b->result_index();
  }

  const RowTrial& first_;
  const RowTrial& other_;
  const RulePath& path_;
};

}  // namespace

MaybeSize RowTrial::size_in(const Argument& argument) const {
  if (argument.is_int()) return SizeExpression(argument.as_int());
  if (!argument.is_value() || argument.value()->producer() != nullptr) return std::nullopt;
  const Type& type = argument.value()->type();
  return type.kind == Type::Kind::kInt ? type.number : std::nullopt;
}

std::vector<size_t> used_results(const Node& node) {
  std::vector<size_t> used;
  for (size_t i = 0; i < node.num_results(); ++i) {
    if (node.result(i)->is_used()) used.push_back(i);
  }
  return used;
}

absl::StatusOr<std::optional<RowTrial>> try_row(const Node& node, RewriteFn row) {
  std::vector<RowTrial> trials;
  std::vector<bool> applied;
  const std::vector<RulePath> paths = Paths::explore([&]() -> absl::StatusOr<std::vector<Type>> {
    trials.emplace_back();
    applied.push_back(false);
    PETREL_ASSIGN_OR_RETURN(applied.back(), run(node, row, &trials.back()));
    return std::vector<Type>();
  });
  if (paths.empty()) return std::optional<RowTrial>();
  const absl::Status& first = paths[0].types.status();
  // What a row says it will not do, whatever the sizes.
  if (absl::IsUnimplemented(first)) return first;
  if (!first.ok() || !applied[0] || paths[0].is_lost) return std::optional<RowTrial>();
  for (size_t p = 1; p < paths.size(); ++p) {
    if (!is_possible(paths[p])) continue;
    if (!paths[p].types.ok() || !applied[p] || paths[p].is_lost) return std::optional<RowTrial>();
    if (!Comparison(trials[0], trials[p], paths[p]).is_same()) return std::optional<RowTrial>();
  }
  return std::optional<RowTrial>(std::move(trials[0]));
}

}  // namespace petrel::exir
