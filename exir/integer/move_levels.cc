// SPDX-License-Identifier: Apache-2.0
#include "exir/integer/move_levels.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "exir/integer/levels.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/builder.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Has one result, whose elements are some of its first argument's, or the largest of some, or a
// number.
bool moves(const Node& node) {
  if (node.num_results() != 1 || !node.result()->type().is_tensor()) return false;
  if (node.op().has(kView)) return !node.is(aten::view_dtype);
  return node.is(aten::clone, aten::flip, aten::roll, aten::index_select, aten::max_pool2d,
                 aten::upsample_nearest2d_vec, aten::pixel_shuffle, aten::pixel_unshuffle,
                 aten::constant_pad_nd);
}

// The arguments of a move, of levels.
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
  const Argument& value = node.argument(arg::value);
  if (!value.is_number()) return false;
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
  PETREL_ASSIGN_OR_RETURN(Node * after,
                          b.node(before->op(), with_numbers_of(*before, moved->result())));
  PETREL_RETURN_IF_ERROR(b.replace(node, after->result()));
  return true;
}

absl::StatusOr<bool> join_below(Graph& graph, Node& node) {
  std::vector<Value*> parts;
  const Node* first = nullptr;
  for (Value* operand : node.operands()) {
    const Node* const before = dequantising(operand);
    if (before == nullptr) return false;
    if (first == nullptr) first = before;
    if (!(*levels_of(*before) == *levels_of(*first))) return false;
    parts.push_back(before->input(arg::input));
  }
  if (first == nullptr) return false;
  Builder b(graph, &node);
  PETREL_ASSIGN_OR_RETURN(Node * joined,
                          b.node(node.op(), {Argument::of_values(parts), node.argument(arg::dim)}));
  PETREL_ASSIGN_OR_RETURN(Node * after,
                          b.node(first->op(), with_numbers_of(*first, joined->result())));
  PETREL_RETURN_IF_ERROR(b.replace(node, after->result()));
  return true;
}

// `quantize` above what moves its input, which nothing else reads.
absl::StatusOr<bool> above(Graph& graph, Node& quantize) {
  Value* const input = quantize.input(arg::input);
  Node* const node = input->producer();
  const auto levels = levels_of(quantize);
  if (!levels || node == nullptr || !input->has_single_user()) return false;
  Builder b(graph, &quantize);
  const auto quantised = [&](Value* value) -> absl::StatusOr<Value*> {
    PETREL_ASSIGN_OR_RETURN(Node * made, b.node(quantize.op(), with_numbers_of(quantize, value)));
    return made->result();
  };
  Node* moved = nullptr;
  if (node->is(aten::cat)) {
    std::vector<Value*> parts;
    for (Value* operand : node->operands()) {
      PETREL_ASSIGN_OR_RETURN(Value * part, quantised(operand));
      parts.push_back(part);
    }
    PETREL_ASSIGN_OR_RETURN(
        moved, b.node(node->op(), {Argument::of_values(parts), node->argument(arg::dim)}));
  } else if (moves(*node) && node->arguments()[0].is_value() &&
             (!node->is(aten::constant_pad_nd) || node->argument(arg::value).is_number())) {
    PETREL_ASSIGN_OR_RETURN(Value * part, quantised(node->arguments()[0].value()));
    PETREL_ASSIGN_OR_RETURN(moved, b.node(node->op(), of_levels(*node, part, *levels)));
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
    if (moves(*node)) {
      PETREL_ASSIGN_OR_RETURN(moved, below(graph, *node));
    } else if (node->is(aten::cat)) {
      PETREL_ASSIGN_OR_RETURN(moved, join_below(graph, *node));
    }
    changed |= moved;
  }
  // From the end: one may pass several.
  for (bool again = true; again;) {
    again = false;
    for (Node* node : graph.node_pointers()) {
      if (!node->is(quantized_decomposed::quantize_per_tensor)) continue;
      PETREL_ASSIGN_OR_RETURN(const bool moved, above(graph, *node));
      if (moved) {
        again = changed = true;
        break;  // another one may be gone
      }
    }
  }
  return changed;
}

}  // namespace petrel::exir
