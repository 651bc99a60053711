// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/merge_equal_nodes.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <vector>

#include "absl/hash/hash.h"

namespace petrel::exir {
namespace {

bool may_merge(const Node& node) {
  return node.is_pure() && node.num_results() > 0 && node.regions().empty() &&
         node.delegate() == nullptr;
}

bool is_same(const Argument& a, const Argument& b) {
  // Zeros of either sign are equal numbers.
  if (a.is_float() && b.is_float() && std::signbit(a.as_float()) != std::signbit(b.as_float())) {
    return false;
  }
  return a == b;
}

bool compute_the_same(const Node& a, const Node& b) {
  if (&a.op() != &b.op() || a.num_results() != b.num_results() ||
      a.arguments().size() != b.arguments().size()) {
    return false;
  }
  for (size_t i = 0; i < a.arguments().size(); ++i) {
    if (!is_same(a.arguments()[i], b.arguments()[i])) return false;
  }
  for (size_t i = 0; i < a.num_results(); ++i) {
    if (a.result(i)->type() != b.result(i)->type()) return false;
  }
  return true;
}

// Numbers that are equal have one hash: zeros of either sign, and all NaN.
size_t hash_of(double number) { return std::isnan(number) ? 1 : absl::HashOf(number + 0.0); }

size_t hash_of(const Argument& argument) {
  if (argument.is_value()) return absl::HashOf(argument.value());
  if (argument.is_int()) return absl::HashOf(argument.as_int());
  if (argument.is_float()) return hash_of(argument.as_float());
  if (argument.is_bool()) return absl::HashOf(argument.as_bool());
  if (argument.is_string()) return absl::HashOf(argument.as_string());
  if (argument.is_scalar_type()) return absl::HashOf(argument.as_scalar_type());
  if (argument.is_memory_format()) return absl::HashOf(argument.as_memory_format());
  if (argument.is_ints()) return absl::HashOf(argument.as_ints());
  if (argument.is_bools()) return absl::HashOf(argument.as_bools());
  size_t hash = 0;
  if (argument.is_floats()) {
    for (const double number : argument.as_floats()) hash = absl::HashOf(hash, hash_of(number));
  }
  if (argument.is_list()) {
    for (const Argument& item : argument.as_list()) hash = absl::HashOf(hash, hash_of(item));
  }
  return hash;
}

// Of all that nodes may differ in: thousands of one operator may take one value, and have results
// of sizes of their own.
size_t hash_of(const Node& node) {
  size_t hash = absl::HashOf(&node.op());
  for (const Argument& argument : node.arguments()) hash = absl::HashOf(hash, hash_of(argument));
  for (size_t i = 0; i < node.num_results(); ++i) {
    const Type& type = node.result(i)->type();
    if (type.is_tensor() && type.tensor.is_dynamic()) {
      hash = absl::HashOf(hash, to_string(type));
    }
  }
  return hash;
}

struct IsBefore {
  bool operator()(const SizeExpression* a, const SizeExpression* b) const {
    return SizeExpression::compare(*a, *b) < 0;
  }
};

// What the only result is proven to be; null where it is no number that varies.
const SizeExpression* number_of(const Node& node) {
  if (node.num_results() != 1) return nullptr;
  const Type& type = node.result(0)->type();
  if (type.kind != Type::Kind::kInt || !type.number || type.number->is_constant()) return nullptr;
  return &*type.number;
}

}  // namespace

absl::StatusOr<bool> merge_equal_nodes(Graph& graph, const PassContext&) {
  bool changed = false;
  std::map<const SizeExpression*, Node*, IsBefore> numbers;
  std::unordered_map<size_t, std::vector<Node*>> kept;
  for (Node* node : graph.node_pointers()) {
    if (!may_merge(*node)) continue;
    if (const SizeExpression* number = number_of(*node); number != nullptr) {
      const auto [place, is_new] = numbers.emplace(number, node);
      if (is_new) continue;
      graph.replace_all_uses(node->result(0), place->second->result(0));
      graph.erase(node);
      changed = true;
      continue;
    }
    std::vector<Node*>& alike = kept[hash_of(*node)];
    Node* first = nullptr;
    for (Node* candidate : alike) {
      if (first == nullptr && compute_the_same(*candidate, *node)) first = candidate;
    }
    if (first == nullptr) {
      alike.push_back(node);
      continue;
    }
    for (size_t i = 0; i < node->num_results(); ++i) {
      graph.replace_all_uses(node->result(i), first->result(i));
    }
    graph.erase(node);
    changed = true;
  }
  return changed;
}

}  // namespace petrel::exir
