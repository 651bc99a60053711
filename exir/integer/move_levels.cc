// SPDX-License-Identifier: Apache-2.0
#include "exir/integer/move_levels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "exir/integer/levels.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/builder.h"
#include "exir/quantize/integer_roles.h"
#include "exir/quantize/moved_levels.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// False of a pad with what is no number, for which no level stands.
bool pads_number(const Node& node) {
  if (!node.is(aten::constant_pad_nd)) return true;
  const Argument& value = node.argument(arg::value);
  return value.is_number() && !std::isnan(value.as_number());
}

// The arguments of a move, of levels. Precondition: pads_number().
std::vector<Argument> of_levels(const Node& node, Value* input, const Int8Levels& levels) {
  std::vector<Argument> arguments = node.arguments();
  arguments[0] = Argument(input);
  if (node.is(aten::constant_pad_nd)) {
    arguments[2] = Argument(levels.level_of(node.argument(arg::value).as_number()));
  }
  return arguments;
}

// Whether the number that pads is a level.
bool pads_exactly(const Node& node, const Int8Levels& levels) {
  if (!node.is(aten::constant_pad_nd)) return true;
  if (!pads_number(node)) return false;
  const Argument& value = node.argument(arg::value);
  const int64_t level = levels.level_of(value.as_number());
  const double number = static_cast<double>(level - levels.zero_point) * levels.scale;
  return static_cast<float>(number) == static_cast<float>(value.as_number());
}

absl::StatusOr<bool> below(Graph& graph, Node& node) {
  if (!node.arguments()[0].is_value()) return false;
  const Node* const before = dequantising(node.arguments()[0].value());
  if (before == nullptr) return false;
  const Int8Levels levels = *levels_of(*before);
  if (!pads_exactly(node, levels)) return false;
  Builder b(graph, &node);
  PETREL_ASSIGN_OR_RETURN(Node * moved,
                          b.node(node.op(), of_levels(node, before->input(arg::input), levels)));
  take_sizes_by_data(node, *moved);
  PETREL_ASSIGN_OR_RETURN(Node * after,
                          b.node(before->op(), with_numbers_of(*before, moved->result())));
  PETREL_RETURN_IF_ERROR(b.replace(node, after->result()));
  return true;
}

// Levels that `node` says of what it says of numbers: those above the last that lies below the
// number, or at it for gt and le.
absl::StatusOr<Value*> compared(Builder& b, const Node& node, const Int8Levels& levels,
                                Value* integers) {
  const bool takes_equal = node.is(aten::gt_Scalar, aten::le_Scalar);
  const bool is_above = node.is(aten::gt_Scalar, aten::ge_Scalar);
  const auto number =
      static_cast<double>(static_cast<float>(node.argument(arg::other).as_number()));
  int64_t last = levels.first() - 1;
  for (int64_t level = levels.first(); level < levels.first() + 256; ++level) {
    const auto shown = static_cast<double>(
        static_cast<float>(static_cast<double>(level - levels.zero_point) * levels.scale));
    if (shown < number || (takes_equal && shown == number)) last = level;
  }
  // No number of the type is below all levels.
  if (last < levels.first()) {
    return b.call(is_above ? aten::ge_Scalar : aten::lt_Scalar, {integers, levels.first()});
  }
  return b.call(is_above ? aten::gt_Scalar : aten::le_Scalar, {integers, last});
}

bool is_float(const Value& value) {
  return value.type().is_tensor() && value.tensor().dtype == ScalarType::kFloat;
}

// The arguments of a join, in which `make` gives the levels of each number.
template <typename Make>
absl::StatusOr<std::vector<Argument>> arguments_of_join(const Node& node, const Make& make) {
  std::vector<Argument> arguments = node.arguments();
  std::map<const Value*, Value*> made;
  for (Argument& argument : arguments) {
    for (Value* value : argument.values()) {
      if (!is_float(*value)) continue;
      if (made.count(value) == 0) {
        PETREL_ASSIGN_OR_RETURN(made[value], make(value));
      }
      argument.replace(value, made[value]);
    }
  }
  return arguments;
}

absl::StatusOr<bool> join_below(Graph& graph, Node& node) {
  const Node* first = nullptr;
  for (const Value* operand : node.operands()) {
    if (!is_float(*operand)) continue;
    const Node* const before = dequantising(operand);
    if (before == nullptr) return false;
    if (first == nullptr) first = before;
    if (!(*levels_of(*before) == *levels_of(*first))) return false;
  }
  if (first == nullptr) return false;
  Builder b(graph, &node);
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                          arguments_of_join(node, [](Value* value) -> absl::StatusOr<Value*> {
                            return dequantising(value)->input(arg::input);
                          }));
  PETREL_ASSIGN_OR_RETURN(Node * joined, b.node(node.op(), std::move(arguments)));
  PETREL_ASSIGN_OR_RETURN(Node * after,
                          b.node(first->op(), with_numbers_of(*first, joined->result())));
  PETREL_RETURN_IF_ERROR(b.replace(node, after->result()));
  return true;
}

// Levels are in the order of what they stand for: the place of the largest is the same, and
// what is compared with a number is with the level that it lies at.
absl::StatusOr<bool> choose_among_levels(Graph& graph, Node& node) {
  const Node* const before = dequantising(node.input(arg::self));
  if (before == nullptr) return false;
  Value* const integers = before->input(arg::input);
  if (node.is(aten::argmax, aten::argmin)) {
    node.set_argument(0, Argument(integers));
    return true;
  }
  if (node.is(aten::topk)) {
    std::vector<Argument> arguments = node.arguments();
    arguments[0] = Argument(integers);
    Builder b(graph, &node);
    PETREL_ASSIGN_OR_RETURN(Node * top, b.node(node.op(), std::move(arguments)));
    graph.replace_all_uses(node.result(1), top->result(1));
    graph.erase(&node);
    return true;
  }
  const Argument& other = node.argument(arg::other);
  if (!other.is_number() || std::isnan(other.as_number())) return false;
  Builder b(graph, &node);
  PETREL_ASSIGN_OR_RETURN(Value * made, compared(b, node, *levels_of(*before), integers));
  PETREL_RETURN_IF_ERROR(b.replace(node, made));
  return true;
}

// Levels have the sizes of what they stand for.
bool ask_levels_for_size(Node& node) {
  const Node* const before = dequantising(node.input(arg::self));
  if (before == nullptr) return false;
  node.set_argument(0, Argument(before->input(arg::input)));
  return true;
}

// `quantize` above what moves its input, which nothing else reads; those that quantise instead
// are added to `made`.
absl::StatusOr<bool> above(Graph& graph, Node& quantize, std::vector<Node*>* made) {
  Value* const input = quantize.input(arg::input);
  Node* const node = input->producer();
  const auto levels = levels_of(quantize);
  if (!levels || node == nullptr || !input->has_single_user()) return false;
  Builder b(graph, &quantize);
  const auto quantised = [&](Value* value) -> absl::StatusOr<Value*> {
    PETREL_ASSIGN_OR_RETURN(Node * one, b.node(quantize.op(), with_numbers_of(quantize, value)));
    made->push_back(one);
    return one->result();
  };
  Node* moved = nullptr;
  if (joins_levels(*node)) {
    PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments, arguments_of_join(*node, quantised));
    PETREL_ASSIGN_OR_RETURN(moved, b.node(node->op(), std::move(arguments)));
  } else if (moves_levels(*node) && node->arguments()[0].is_value() && pads_number(*node)) {
    PETREL_ASSIGN_OR_RETURN(Value * part, quantised(node->arguments()[0].value()));
    PETREL_ASSIGN_OR_RETURN(moved, b.node(node->op(), of_levels(*node, part, *levels)));
    take_sizes_by_data(*node, *moved);
  } else {
    return false;
  }
  PETREL_RETURN_IF_ERROR(b.replace(quantize, moved->result()));
  graph.erase(node);
  return true;
}

}  // namespace

absl::StatusOr<bool> move_levels(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.node_pointers()) {
    bool moved = false;
    if (moves_levels(*node)) {
      PETREL_ASSIGN_OR_RETURN(moved, below(graph, *node));
    } else if (joins_levels(*node)) {
      PETREL_ASSIGN_OR_RETURN(moved, join_below(graph, *node));
    } else if (chooses_among_levels(*node)) {
      PETREL_ASSIGN_OR_RETURN(moved, choose_among_levels(graph, *node));
    } else if (node->is(aten::sym_size_int)) {
      moved = ask_levels_for_size(*node);
    }
    changed |= moved;
  }
  // One may pass several. What is moved away from is gone, and is none of these.
  std::vector<Node*> open;
  for (Node* node : graph.node_pointers()) {
    if (node->is(quantized_decomposed::quantize_per_tensor)) open.push_back(node);
  }
  std::reverse(open.begin(), open.end());
  while (!open.empty()) {
    Node* const node = open.back();
    open.pop_back();
    std::vector<Node*> made;
    PETREL_ASSIGN_OR_RETURN(const bool moved, above(graph, *node, &made));
    open.insert(open.end(), made.rbegin(), made.rend());
    changed |= moved;
  }
  return changed;
}

}  // namespace petrel::exir
