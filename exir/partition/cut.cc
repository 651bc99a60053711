// SPDX-License-Identifier: Apache-2.0
#include "exir/partition/cut.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "absl/strings/strip.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"

namespace petrel::exir {
namespace {

bool is_partition_constant(const Value& value) {
  return value.is_constant() && !value.constant()->is_mutable();
}

// A weight that is stored as integers: it goes with all who use it, as constants do.
bool is_stored_weight(const Value& value, const Partitioner& partitioner) {
  const Node* node = value.producer();
  if (node == nullptr ||
      !node->is(quantized_decomposed::dequantize_per_tensor,
                quantized_decomposed::dequantize_per_channel,
                quantized_decomposed::dequantize_per_channel_group, torchao::dequantize_affine)) {
    return false;
  }
  const std::vector<Value*> operands = node->operands();
  return std::all_of(operands.begin(), operands.end(),
                     [](const Value* operand) { return is_partition_constant(*operand); }) &&
         support_of(partitioner, *node).supported;
}

Value* copy_stored_weight(const Value& value, Graph& graph) {
  const Node& node = *value.producer();
  std::vector<Argument> arguments = node.arguments();
  for (Argument& argument : arguments) {
    for (Value* operand : argument.values()) {
      argument.replace(operand, graph.add_constant(operand->constant()));
    }
  }
  return graph.append(node.op(), std::move(arguments), {value.type()}, value.name(), node.source())
      ->result();
}

// The name that results of `node` were made from.
std::string stem_of(const Node& node) {
  const std::string& first = node.result(0)->name();
  if (node.num_results() == 1) return first;
  return std::string(absl::StripSuffix(first, "_r0"));
}

}  // namespace

Partition copy_partition(const std::vector<Node*>& group, const std::string& name,
                         const Partitioner& partitioner) {
  const std::set<const Node*> members(group.begin(), group.end());
  Partition partition;
  partition.graph = std::make_unique<Graph>(name);
  std::map<Value*, Value*> copies;
  const auto copy_of = [&](Value* value) {
    Value*& copy = copies[value];
    if (copy != nullptr) return copy;
    if (is_partition_constant(*value)) {
      copy = partition.graph->add_constant(value->constant());
    } else if (is_stored_weight(*value, partitioner)) {
      copy = copy_stored_weight(*value, *partition.graph);
    } else {
      copy = partition.graph->add_input(value->type(), value->name());
      partition.inputs.push_back(value);
    }
    return copy;
  };

  std::vector<Value*> outputs;
  for (Node* node : group) {
    std::vector<Argument> arguments = node->arguments();
    for (Argument& argument : arguments) {
      for (Value* value : argument.values()) {
        argument.replace(value, copy_of(value));
      }
    }
    std::vector<Type> types;
    for (size_t i = 0; i < node->num_results(); ++i) {
      types.push_back(node->result(i)->type());
    }
    const Node* copy = partition.graph->append(node->op(), std::move(arguments), std::move(types),
                                               stem_of(*node), node->source());
    for (size_t i = 0; i < node->num_results(); ++i) {
      Value* result = node->result(i);
      copies[result] = copy->result(i);
      const bool leaves = result->output_uses() > 0 ||
                          std::any_of(result->users().begin(), result->users().end(),
                                      [&](Node* user) { return members.count(user) == 0; });
      if (!leaves) continue;
      partition.outputs.push_back(result);
      outputs.push_back(copy->result(i));
    }
  }
  partition.graph->set_outputs(std::move(outputs));
  return partition;
}

void make_contiguous(Graph& graph, const std::vector<std::vector<Node*>>& groups) {
  // A unit is a group or a node alone. Units are numbered by the place of their
  // last node, before which none of them can run, and drawn in that order as
  // soon as their operands are there.
  const std::vector<Node*> nodes = graph.node_pointers();
  if (nodes.empty()) return;
  std::unordered_map<const Node*, size_t> place;
  for (size_t i = 0; i < nodes.size(); ++i) place[nodes[i]] = i;
  std::vector<size_t> unit_of(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) unit_of[i] = i;
  for (const std::vector<Node*>& group : groups) {
    for (const Node* node : group) {
      unit_of[place.at(node)] = place.at(group.back());
    }
  }
  std::vector<std::vector<Node*>> members(nodes.size());
  std::vector<std::set<size_t>> users(nodes.size());
  std::vector<size_t> missing(nodes.size(), 0);
  const auto goes_before = [&](const Node* first, size_t i) {
    const size_t unit = unit_of[place.at(first)];
    if (unit != unit_of[i] && users[unit].insert(unit_of[i]).second) ++missing[unit_of[i]];
  };
  const Node* last_random = nullptr;
  for (size_t i = 0; i < nodes.size(); ++i) {
    members[unit_of[i]].push_back(nodes[i]);
    for (const Value* operand : nodes[i]->operands()) {
      if (operand->producer() != nullptr) goes_before(operand->producer(), i);
    }
    if (!nodes[i]->is_random()) continue;
    if (last_random != nullptr) goes_before(last_random, i);
    last_random = nodes[i];
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<size_t>> ready;
  for (size_t unit = 0; unit < nodes.size(); ++unit) {
    if (!members[unit].empty() && missing[unit] == 0) ready.push(unit);
  }
  std::vector<Node*> order;
  while (!ready.empty()) {
    const size_t unit = ready.top();
    ready.pop();
    order.insert(order.end(), members[unit].begin(), members[unit].end());
    for (size_t user : users[unit]) {
      if (--missing[user] == 0) ready.push(user);
    }
  }
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    graph.move_before(order[i], order.back());
  }
}

std::vector<Node*> replace_partitions(Graph& graph, const std::vector<std::vector<Node*>>& groups,
                                      const std::vector<Partition>& partitions) {
  // All calls are there before values are replaced, so that a call whose
  // operand is computed in another partition gets that partition's result.
  std::vector<Node*> calls;
  for (size_t i = 0; i < groups.size(); ++i) {
    std::vector<Type> types;
    for (const Value* output : partitions[i].outputs) {
      types.push_back(output->type());
    }
    calls.push_back(graph.insert_after(groups[i].back(), op(petrel_ops::delegate_call),
                                       {Argument::of_values(partitions[i].inputs)},
                                       std::move(types), "delegate"));
  }
  std::set<const Node*> replaced;
  for (size_t i = 0; i < groups.size(); ++i) {
    replaced.insert(groups[i].begin(), groups[i].end());
    for (size_t r = 0; r < partitions[i].outputs.size(); ++r) {
      graph.replace_all_uses(partitions[i].outputs[r], calls[i]->result(r));
    }
  }
  const std::vector<Node*> nodes = graph.node_pointers();
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (replaced.count(*node) != 0) graph.erase(*node);
  }
  return calls;
}

}  // namespace petrel::exir
