// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/rewrite_dynamic.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "exir/ir/size_difference.h"
#include "exir/ir/size_points.h"
#include "exir/pass/framework/varying_int.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// How often formulas that fit are told apart at one more point.
constexpr size_t kMaxRounds = 16;

// The node alone, at one point, and what the row made of it.
struct Trial {
  std::unique_ptr<Graph> graph;
  std::map<const Value*, Value*> outside;  // values here -> of the real graph
};

// What a value of a trial is, the same in all trials.
struct Place {
  const Value* outside = nullptr;      // an operand of the node
  const Constant* constant = nullptr;  // made by the row
  size_t node = 0;                     // else: this node ...
  size_t result = 0;                   // ... and this result of it
};

class Trials {
 public:
  Trials(Graph& graph, Node& node, RewriteFn row)
      : graph_(graph), node_(node), row_(row), builder_(graph, &node) {}

  absl::StatusOr<bool> run();

 private:
  std::vector<SizeExpression> sizes_of_node() const;
  bool has_values(const SizePoint& point) const;
  absl::StatusOr<bool> run_at(const SizePoint& point);
  // The same at a point that may only refute. False where it cannot be compared.
  bool try_at(const SizePoint& point);
  Argument at_point(const Argument& argument, const SizePoint& point, Trial* trial,
                    std::map<Value*, Argument>* copies);
  bool same_shape() const;
  bool are_told_apart(const SizeExpression& a, const SizeExpression& b);
  Place place_of(size_t trial, const Value* value) const;
  bool same_value(const Value* first, size_t trial, const Value* other) const;
  absl::StatusOr<bool> build();
  absl::StatusOr<std::optional<Argument>> join(const Node& node, size_t index,
                                               const std::vector<const Argument*>& arguments);
  absl::StatusOr<std::optional<Argument>> join_ints(const Node& node, size_t index,
                                                    const std::vector<Ints>& lists);
  absl::StatusOr<std::optional<Argument>> compute(const std::vector<int64_t>& values);
  Value* real(const Value* value);
  void undo();

  Graph& graph_;
  Node& node_;
  RewriteFn row_;
  Builder builder_;
  std::vector<SizeExpression> sizes_;
  std::vector<SizePoint> points_;    // of the trials
  std::optional<SizePoint> wanted_;  // where formulas differ that fit at all points
  std::vector<Trial> trials_;
  std::vector<size_t> used_results_;
  std::vector<std::map<const Node*, size_t>> numbers_;  // of the nodes
  std::vector<Node*> made_;                             // one per trial node
  Node* before_ = nullptr;                              // what stood in front of the node
};

Argument Trials::at_point(const Argument& argument, const SizePoint& point, Trial* trial,
                          std::map<Value*, Argument>* copies) {
  if (argument.is_list()) {
    Argument::List items;
    Ints ints;
    for (const Argument& item : argument.as_list()) {
      items.push_back(at_point(item, point, trial, copies));
      if (items.back().is_int()) ints.push_back(items.back().as_int());
    }
    if (ints.size() == items.size()) return Argument(std::move(ints));
    return Argument(std::move(items));
  }
  if (!argument.is_value()) return argument;
  Value* value = argument.value();
  auto [it, fresh] = copies->emplace(value, Argument());
  if (!fresh) return it->second;
  const Type& type = value->type();
  if (type.kind == Type::Kind::kInt && type.number) {
    it->second = Argument(*point.value_of(*type.number));
    return it->second;
  }
  Value* copy = nullptr;
  if (value->is_constant()) {
    copy = trial->graph->add_constant(value->constant());
  } else if (type.is_tensor()) {
    copy = trial->graph->add_input(*point.type_at(type.tensor), value->name());
  } else {
    copy = trial->graph->add_input(type, value->name());
  }
  trial->outside[copy] = value;
  it->second = Argument(copy);
  return it->second;
}

std::vector<SizeExpression> Trials::sizes_of_node() const {
  std::vector<SizeExpression> sizes;
  const auto add_sizes = [&sizes](const Type& type) {
    if (type.is_tensor()) {
      sizes.insert(sizes.end(), type.tensor.expressions.begin(), type.tensor.expressions.end());
    } else if (type.number) {
      sizes.push_back(*type.number);
    }
  };
  for (const Value* operand : node_.operands()) add_sizes(operand->type());
  for (size_t i = 0; i < node_.num_results(); ++i) add_sizes(node_.result(i)->type());
  return sizes;
}

bool Trials::has_values(const SizePoint& point) const {
  return std::all_of(sizes_.begin(), sizes_.end(), [&](const SizeExpression& size) {
    const std::optional<int64_t> value = point.value_of(size);
    return value && *value >= 0;
  });
}

bool Trials::try_at(const SizePoint& point) {
  const size_t known = trials_.size();
  const bool fits = has_values(point) && run_at(point).value_or(false) && same_shape();
  if (fits) return true;
  trials_.resize(known);
  numbers_.resize(known);
  points_.resize(known, point);
  return false;
}

absl::StatusOr<bool> Trials::run_at(const SizePoint& point) {
  Trial trial;
  trial.graph = std::make_unique<Graph>(graph_.name());
  std::map<Value*, Argument> copies;
  std::vector<Argument> arguments;
  for (const Argument& argument : node_.arguments()) {
    arguments.push_back(at_point(argument, point, &trial, &copies));
  }
  std::vector<Type> types;
  for (size_t i = 0; i < node_.num_results(); ++i) {
    Type type = node_.result(i)->type();
    if (type.is_tensor()) type = *point.type_at(type.tensor);
    types.push_back(std::move(type));
  }
  Node* copy =
      trial.graph->append(node_.op(), std::move(arguments), std::move(types), "r", node_.source());
  std::vector<Value*> outputs;
  for (size_t i : used_results_) outputs.push_back(copy->result(i));
  trial.graph->set_outputs(std::move(outputs));
  Builder b(*trial.graph, copy);
  PETREL_ASSIGN_OR_RETURN(const bool applied, row_(b, *copy));
  std::map<const Node*, size_t> numbers;
  for (const auto& node : trial.graph->nodes()) {
    const size_t number = numbers.size();
    numbers[node.get()] = number;
  }
  points_.push_back(point);
  numbers_.push_back(std::move(numbers));
  trials_.push_back(std::move(trial));
  return applied;
}

Place Trials::place_of(size_t trial, const Value* value) const {
  Place place;
  const auto outside = trials_[trial].outside.find(value);
  if (outside != trials_[trial].outside.end()) {
    place.outside = outside->second;
  } else if (value->is_constant()) {
    place.constant = value->constant().get();
  } else {
    place.node = numbers_[trial].at(value->producer());
    place.result = value->result_index();
  }
  return place;
}

bool Trials::same_value(const Value* first, size_t trial, const Value* other) const {
  const Place a = place_of(0, first);
  const Place b = place_of(trial, other);
  if (a.constant != nullptr || b.constant != nullptr) {
    return a.constant != nullptr && b.constant != nullptr && a.constant->fqn == b.constant->fqn &&
           a.constant->type == b.constant->type && a.constant->data.equals(b.constant->data);
  }
  return a.outside == b.outside && a.node == b.node && a.result == b.result;
}

// Whether the trials have the same operators with the same operands.
bool Trials::same_shape() const {
  const Graph& first = *trials_[0].graph;
  for (size_t t = 1; t < trials_.size(); ++t) {
    const Graph& other = *trials_[t].graph;
    if (other.nodes().size() != first.nodes().size()) return false;
    auto b = other.nodes().begin();
    for (const auto& a : first.nodes()) {
      if (&a->op() != &(*b)->op() || a->num_results() != (*b)->num_results()) {
        return false;
      }
      ++b;
    }
    for (size_t i = 0; i < first.outputs().size(); ++i) {
      if (!same_value(first.outputs()[i], t, other.outputs()[i])) return false;
    }
  }
  return true;
}

Value* Trials::real(const Value* value) {
  const Place place = place_of(0, value);
  if (place.outside != nullptr) return const_cast<Value*>(place.outside);
  if (place.constant != nullptr) {
    const Constant& constant = *place.constant;
    return add_unique_constant(graph_, constant.fqn, constant.type, constant.data, constant.kind);
  }
  return made_[place.node]->result(place.result);
}

// The same argument of the same node in all trials as one; nullopt when there is
// none that stands for all.
absl::StatusOr<std::optional<Argument>> Trials::join(
    const Node& node, size_t index, const std::vector<const Argument*>& arguments) {
  const Argument& first = *arguments[0];
  if (first.is_int() || first.is_ints()) {
    std::vector<Ints> lists;
    for (const Argument* argument : arguments) {
      if (argument->is_int() != first.is_int() || argument->is_ints() != first.is_ints()) {
        return std::optional<Argument>();
      }
      lists.push_back(first.is_int() ? Ints{argument->as_int()} : argument->as_ints());
      if (lists.back().size() != lists[0].size()) {
        return std::optional<Argument>();
      }
    }
    PETREL_ASSIGN_OR_RETURN(std::optional<Argument> joined, join_ints(node, index, lists));
    if (!joined || !first.is_int()) return joined;
    if (joined->is_ints()) return std::optional(Argument(joined->as_ints()[0]));
    return std::optional(joined->as_list()[0]);
  }
  if (first.is_value()) {
    for (size_t t = 0; t < arguments.size(); ++t) {
      if (!arguments[t]->is_value() || !same_value(first.value(), t, arguments[t]->value())) {
        return std::optional<Argument>();
      }
    }
    return std::optional(Argument(real(first.value())));
  }
  if (first.is_list()) {
    Argument::List items;
    for (size_t i = 0; i < first.as_list().size(); ++i) {
      std::vector<const Argument*> each;
      for (const Argument* argument : arguments) {
        if (!argument->is_list() || argument->as_list().size() != first.as_list().size()) {
          return std::optional<Argument>();
        }
        each.push_back(&argument->as_list()[i]);
      }
      PETREL_ASSIGN_OR_RETURN(std::optional<Argument> joined, join(node, index, each));
      if (!joined) return joined;
      items.push_back(*std::move(joined));
    }
    return std::optional(Argument(std::move(items)));
  }
  for (const Argument* argument : arguments) {
    if (*argument != first) return std::optional<Argument>();
  }
  return std::optional(first);
}

// Whether the operator finds out one size by itself.
bool infers_a_size(const Node& node, size_t index) {
  return index == 1 && node.is(aten::view, aten::reshape, aten::_unsafe_view, aten::view_copy);
}

// True where taking `a` for `b` is right or shown to be wrong: equal, or not the same
// at some point of the trials. Else the next trial has to be where they differ.
bool Trials::are_told_apart(const SizeExpression& a, const SizeExpression& b) {
  if (are_equal(a, b)) return true;
  const std::optional<SymbolValues> values = find_difference(a, b);
  if (values) wanted_ = point_at(*values, sizes_);
  return false;
}

absl::StatusOr<std::optional<Argument>> Trials::compute(const std::vector<int64_t>& values) {
  const VaryingInts known(node_, points_);
  const std::vector<VaryingInts::Formula> formulas = known.formulas(values);
  if (formulas.empty()) return std::optional<Argument>();
  for (const VaryingInts::Formula& other : formulas) {
    if (!are_told_apart(formulas[0].size, other.size)) return std::optional<Argument>();
  }
  PETREL_ASSIGN_OR_RETURN(Value * made, VaryingInts::make(builder_, formulas[0]));
  return std::optional(Argument(made));
}

absl::StatusOr<std::optional<Argument>> Trials::join_ints(const Node& node, size_t index,
                                                          const std::vector<Ints>& lists) {
  const size_t length = lists[0].size();
  std::vector<std::vector<int64_t>> by_item(length);
  std::vector<size_t> varying;
  for (size_t i = 0; i < length; ++i) {
    bool same = true;
    for (const Ints& list : lists) {
      by_item[i].push_back(list[i]);
      same = same && list[i] == lists[0][i];
    }
    if (!same) varying.push_back(i);
  }
  if (varying.empty()) return std::optional(Argument(lists[0]));

  const VaryingInts known(node_, points_);
  Argument::List items;
  for (int64_t item : lists[0]) items.emplace_back(item);
  size_t left_open = length;
  if (infers_a_size(node, index)) {
    for (size_t i : varying) {
      if (!known.is_known(by_item[i])) left_open = i;
    }
    if (left_open == length) left_open = varying.back();
    items[left_open] = Argument(int64_t{-1});
  }
  // The sizes of the first operand of this node in each trial.
  std::vector<const Sizes*> operand;
  const bool is_expand = node.is(aten::expand) && index == 1;
  const bool is_slice_end = node.is(aten::slice_Tensor) && index == 3;
  if (is_expand || is_slice_end) {
    const size_t number = numbers_[0].at(&node);
    for (const Trial& trial : trials_) {
      auto it = trial.graph->nodes().begin();
      std::advance(it, static_cast<ptrdiff_t>(number));
      operand.push_back(&(*it)->input(arg::self)->tensor().sizes);
    }
  }
  const auto is_size_of_operand = [&](size_t i, size_t dim) {
    for (size_t t = 0; t < lists.size(); ++t) {
      if (dim >= operand[t]->size() || (*operand[t])[dim] != lists[t][i]) {
        return false;
      }
    }
    const SizeExpression size = real(node.input(arg::self))->tensor().size(dim);
    const std::vector<VaryingInts::Formula> others = known.formulas(by_item[i]);
    return std::all_of(others.begin(), others.end(), [&](const VaryingInts::Formula& other) {
      return are_told_apart(size, other.size);
    });
  };
  for (size_t i : varying) {
    if (i == left_open) continue;
    if (is_expand) {
      const size_t shift = length - operand[0]->size();
      if (i >= shift && is_size_of_operand(i, i - shift)) {
        items[i] = Argument(int64_t{-1});
        continue;
      }
    }
    if (is_slice_end &&
        is_size_of_operand(i, static_cast<size_t>(wrap_dim(node.argument(arg::dim).as_int(),
                                                           operand[0]->size())))) {
      items[i] = Argument(std::numeric_limits<int64_t>::max());
      continue;
    }
    if (wanted_) return std::optional<Argument>();
    PETREL_ASSIGN_OR_RETURN(std::optional<Argument> made, compute(by_item[i]));
    if (!made) return made;
    items[i] = *std::move(made);
  }
  Ints ints;
  for (const Argument& item : items) {
    if (item.is_int()) ints.push_back(item.as_int());
  }
  if (ints.size() == items.size()) return std::optional(Argument(ints));
  return std::optional(Argument(std::move(items)));
}

// Takes back every node that was put in front of the node.
void Trials::undo() {
  made_.clear();
  while (true) {
    Node* last = graph_.previous(&node_);
    if (last == before_) return;
    graph_.erase(last);
  }
}

absl::StatusOr<bool> Trials::build() {
  size_t number = 0;
  for (const auto& node : trials_[0].graph->nodes()) {
    std::vector<Argument> arguments;
    for (size_t i = 0; i < node->arguments().size(); ++i) {
      std::vector<const Argument*> each;
      for (const Trial& trial : trials_) {
        auto it = trial.graph->nodes().begin();
        std::advance(it, static_cast<ptrdiff_t>(number));
        each.push_back(&(*it)->arguments()[i]);
      }
      PETREL_ASSIGN_OR_RETURN(std::optional<Argument> joined, join(*node, i, each));
      if (!joined) return false;
      arguments.push_back(*std::move(joined));
    }
    // The row left the node, or made it anew.
    if (trials_[0].graph->nodes().size() == 1 && &node->op() == &node_.op() &&
        arguments == node_.arguments()) {
      return false;
    }
    const absl::StatusOr<Node*> made = builder_.node(node->op(), std::move(arguments));
    if (!made.ok()) return false;  // at a point where sizes are 1, say
    if ((*made)->num_results() != node->num_results()) return false;
    // Casts may carry the dim order of the border.
    for (size_t i = 0; i < node->num_results(); ++i) {
      Type type = (*made)->result(i)->type();
      if (!type.is_tensor()) continue;
      type.tensor.dim_order = node->result(i)->tensor().dim_order;
      (*made)->result(i)->set_type(std::move(type));
    }
    made_.push_back(*made);
    ++number;
  }
  std::vector<Value*> values(node_.num_results(), nullptr);
  for (size_t i = 0; i < used_results_.size(); ++i) {
    Value* value = real(trials_[0].graph->outputs()[i]);
    const Value* old = node_.result(used_results_[i]);
    if (value->type() != old->type()) return false;
    values[used_results_[i]] = value;
  }
  PETREL_RETURN_IF_ERROR(builder_.replace(node_, values));
  return true;
}

absl::StatusOr<bool> Trials::run() {
  for (size_t i = 0; i < node_.num_results(); ++i) {
    if (node_.result(i)->is_used()) used_results_.push_back(i);
  }
  if (used_results_.empty()) return false;
  sizes_ = sizes_of_node();
  const SizePoints tried = points_for(sizes_);
  for (const auto& [size, other] : tried.alike) {
    if (other.is_constant()) return false;  // the row would take it for a fixed size
  }
  for (size_t i = 0; i < tried.points.size(); ++i) {
    if (i >= kSamples - kFirstGeneralSample) {
      if (!try_at(tried.points[i])) return false;
      continue;
    }
    PETREL_ASSIGN_OR_RETURN(const bool applied, run_at(tried.points[i]));
    if (!applied) return false;
  }
  if (!same_shape()) return false;
  // What the row makes of the largest sizes may have another form by chance.
  try_at(SizePoint(size_t{0}));
  before_ = graph_.previous(&node_);
  for (size_t round = 0; round < kMaxRounds; ++round) {
    wanted_.reset();
    absl::StatusOr<bool> built = build();
    if (built.ok() && *built) return built;
    undo();
    if (!built.ok() || !wanted_ || !try_at(*wanted_)) return built;
  }
  return false;
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
  return Trials(graph, node, row).run();
}

}  // namespace petrel::exir
