// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/rewrite_dynamic.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "exir/pass/framework/row_trial.h"
#include "exir/pass/framework/size_numbers.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using MaybeArgument = std::optional<Argument>;

// Whether the operator finds out one size by itself.
bool infers_a_size(const Node& node, size_t index) {
  return index == 1 && node.is(aten::view, aten::reshape, aten::_unsafe_view, aten::view_copy);
}

// Puts a trial into the graph, in front of the node.
class Placement {
 public:
  Placement(Graph& graph, Node& node, const RowTrial& trial)
      : graph_(graph),
        node_(node),
        trial_(trial),
        builder_(graph, &node),
        numbers_(node),
        before_(graph.previous(&node)) {}

  // False, and nothing changed, where a size cannot be written or a type is not
  // proven to be the same.
  absl::StatusOr<bool> run() {
    absl::StatusOr<bool> built = build();
    if (!built.ok() || !*built) undo();
    return built;
  }

 private:
  absl::StatusOr<bool> build();
  absl::StatusOr<bool> build_node(const Node& node);
  absl::StatusOr<MaybeArgument> placed(const Node& node, size_t index, const Argument& argument);
  absl::StatusOr<MaybeArgument> placed_list(const Node& node, size_t index, const Argument& list);
  absl::StatusOr<MaybeArgument> placed_size(const Node& node, size_t index, size_t item,
                                            size_t items, const SizeExpression& size);
  Value* real(const Value* value);
  void undo();

  Graph& graph_;
  Node& node_;
  const RowTrial& trial_;
  Builder builder_;
  SizeNumbers numbers_;
  Node* before_;             // what stood in front of the node
  std::vector<Node*> made_;  // one per node of the trial
};

Value* Placement::real(const Value* value) {
  const auto outside = trial_.outside.find(value);
  if (outside != trial_.outside.end()) return outside->second;
  if (value->is_constant()) {
    const Constant& constant = *value->constant();
    return add_unique_constant(graph_, constant.fqn, constant.type, constant.data, constant.kind,
                               constant.made_of);
  }
  return made_[trial_.numbers.at(value->producer())]->result(value->result_index());
}

// Item `item` of `items`, which varies, in argument `index` of `node`.
absl::StatusOr<MaybeArgument> Placement::placed_size(const Node& node, size_t index, size_t item,
                                                     size_t items, const SizeExpression& size) {
  const bool is_expand = node.is(aten::expand) && index == 1;
  const bool is_slice_end = node.is(aten::slice_Tensor) && index == 3;
  if (is_expand || is_slice_end) {
    const TensorType& operand = real(node.input(arg::self))->tensor();
    const size_t shift = is_expand ? items - operand.rank() : 0;
    const size_t dim =
        is_expand ? item - shift
                  : static_cast<size_t>(wrap_dim(node.argument(arg::dim).as_int(), operand.rank()));
    if (item >= shift && dim < operand.rank() && operand.size(dim) == size) {
      return MaybeArgument(Argument(is_expand ? int64_t{-1} : std::numeric_limits<int64_t>::max()));
    }
  }
  PETREL_ASSIGN_OR_RETURN(Value * made, numbers_.make(builder_, size));
  return made == nullptr ? MaybeArgument() : MaybeArgument(Argument(made));
}

absl::StatusOr<MaybeArgument> Placement::placed_list(const Node& node, size_t index,
                                                     const Argument& list) {
  const Argument::List& items = list.as_list();
  size_t left_open = items.size();
  if (infers_a_size(node, index)) {
    bool is_known = true;
    for (size_t i = 0; i < items.size(); ++i) {
      const MaybeSize size = trial_.size_in(items[i]);
      if (!size || size->is_constant()) continue;
      // The last, and rather one that would have to be computed.
      const bool has = numbers_.has(*size);
      if (is_known || !has) left_open = i;
      is_known = is_known && has;
    }
  }
  Argument::List placed_items;
  Ints ints;
  for (size_t i = 0; i < items.size(); ++i) {
    MaybeArgument item;
    const MaybeSize size = trial_.size_in(items[i]);
    if (i == left_open) {
      item = Argument(int64_t{-1});
    } else if (size && !size->is_constant()) {
      PETREL_ASSIGN_OR_RETURN(item, placed_size(node, index, i, items.size(), *size));
    } else {
      PETREL_ASSIGN_OR_RETURN(item, placed(node, index, items[i]));
    }
    if (!item) return item;
    if (item->is_int()) ints.push_back(item->as_int());
    placed_items.push_back(*std::move(item));
  }
  if (ints.size() == items.size()) return MaybeArgument(Argument(std::move(ints)));
  return MaybeArgument(Argument(std::move(placed_items)));
}

// nullopt when a size cannot be written.
absl::StatusOr<MaybeArgument> Placement::placed(const Node& node, size_t index,
                                                const Argument& argument) {
  if (argument.is_list()) return placed_list(node, index, argument);
  if (!argument.is_value()) return MaybeArgument(argument);
  const MaybeSize size = trial_.size_in(argument);
  if (!size) return MaybeArgument(Argument(real(argument.value())));
  if (size->is_constant()) return MaybeArgument(Argument(size->constant()));
  return placed_size(node, index, 0, 1, *size);
}

absl::StatusOr<bool> Placement::build_node(const Node& node) {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < node.arguments().size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(MaybeArgument argument, placed(node, i, node.arguments()[i]));
    if (!argument) return false;
    arguments.push_back(*std::move(argument));
  }
  // The row left the node, or made it anew.
  if (trial_.graph->nodes().size() == 1 && &node.op() == &node_.op() &&
      arguments == node_.arguments()) {
    return false;
  }
  const absl::StatusOr<Node*> made = builder_.node(node.op(), std::move(arguments));
  if (!made.ok()) return false;  // at a point where sizes are 1, say
  if ((*made)->num_results() != node.num_results()) return false;
  // Casts may carry the dim order of the border.
  for (size_t i = 0; i < node.num_results(); ++i) {
    Type type = (*made)->result(i)->type();
    if (!type.is_tensor()) continue;
    type.tensor.dim_order = node.result(i)->tensor().dim_order;
    if (type != node.result(i)->type()) return false;
    (*made)->result(i)->set_type(std::move(type));
  }
  made_.push_back(*made);
  return true;
}

absl::StatusOr<bool> Placement::build() {
  for (const auto& node : trial_.graph->nodes()) {
    PETREL_ASSIGN_OR_RETURN(const bool is_built, build_node(*node));
    if (!is_built) return false;
  }
  const std::vector<size_t> used = used_results(node_);
  std::vector<Value*> values(node_.num_results(), nullptr);
  for (size_t i = 0; i < used.size(); ++i) {
    Value* value = real(trial_.graph->outputs()[i]);
    if (value->type() != node_.result(used[i])->type()) return false;
    values[used[i]] = value;
  }
  PETREL_RETURN_IF_ERROR(builder_.replace(node_, values));
  return true;
}

// Takes back every node that was put in front of the node.
void Placement::undo() {
  while (Node* last = graph_.previous(&node_)) {
    if (last == before_) return;
    graph_.erase(last);
  }
}

}  // namespace

bool has_varying_sizes(const Node& node) {
  for (const Value* operand : node.operands()) {
    if (operand->type().is_dynamic()) return true;
  }
  for (size_t i = 0; i < node.num_results(); ++i) {
    if (node.result(i)->type().is_dynamic()) return true;
  }
  return false;
}

absl::StatusOr<bool> rewrite_dynamic(Graph& graph, Node& node, RewriteFn row) {
  if (used_results(node).empty()) return false;
  PETREL_ASSIGN_OR_RETURN(std::optional<RowTrial> trial, try_row(node, row));
  if (!trial) return false;
  return Placement(graph, node, *trial).run();
}

}  // namespace petrel::exir
