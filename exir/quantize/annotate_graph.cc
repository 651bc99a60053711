// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/annotate_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "exir/ir/disjoint_sets.h"
#include "exir/ops/handles.h"
#include "exir/quantize/between_products.h"
#include "exir/quantize/of_bytes.h"

namespace petrel::exir {
namespace {

using Nodes = std::set<const Node*>;

bool is_in(const Nodes& nodes, const Node* node) { return nodes.count(node) != 0; }

// Backends merge activations into products and sums.
bool takes_activation(const Node& node) {
  return product_weight(node) != nullptr ||
         node.is(aten::add_Tensor, aten::sub_Tensor, aten::add_Scalar, aten::sub_Scalar);
}

using Tails = std::set<const Value*>;

// A form of integers holds its result within clamps, and in any scale: what they and it make, but
// for the last. In the order of the graph, as thousands may stand in a row.
Tails find_tails(const Graph& graph, const Nodes& nodes) {
  Tails tails;
  for (const auto& node : graph.nodes()) {
    if (!is_in(nodes, node.get())) continue;
    const bool is_form = !is_table(*node) && !moves_levels(*node) && !joins_levels(*node);
    const bool follows = (is_clamp(*node) || is_scaling(*node)) &&
                         tails.count(level_inputs(*node, QuantTarget::kIntegers)[0]) != 0;
    for (size_t i = 0; (is_form || follows) && i < node->num_results(); ++i) {
      const Value* const value = node->result(i);
      if (!value->has_single_user()) continue;
      const Node* const user = value->users()[0];
      if (is_in(nodes, user) && (is_clamp(*user) || is_scaling(*user))) tails.insert(value);
    }
  }
  return tails;
}

// Two functions in a row are one table, unless the first goes into a form.
bool is_in_table(const Value& value, const Nodes& nodes, const Tails& tails) {
  const Node* const producer = value.producer();
  if (producer == nullptr || !value.has_single_user()) return false;
  const Node* const user = value.users()[0];
  return is_in(nodes, producer) && is_in(nodes, user) && is_table(*producer) && is_table(*user) &&
         tails.count(level_inputs(*producer, QuantTarget::kIntegers)[0]) == 0;
}

// Whether the only user of a value makes it one node of integers with what made it.
bool is_merged(const Value& value, const Nodes& nodes, const Tails& tails, QuantTarget target) {
  const Node* const producer = value.producer();
  if (target == QuantTarget::kIntegers) {
    return tails.count(&value) != 0 || is_in_table(value, nodes, tails) ||
           (producer != nullptr && is_in(nodes, producer) && masks_softmax(*producer) &&
            is_in(nodes, value.users()[0]));
  }
  if (producer == nullptr || !value.has_single_user()) return false;
  const Node* const user = value.users()[0];
  return is_clamp(*user) && is_in(nodes, user) && is_in(nodes, producer) &&
         takes_activation(*producer);
}

std::vector<std::vector<Value*>> group_values(const Graph& graph, const Nodes& nodes,
                                              const BytesInGraph& bytes, QuantTarget target) {
  std::vector<Value*> values;
  std::unordered_map<const Value*, size_t> index;
  const Tails tails = target == QuantTarget::kIntegers ? find_tails(graph, nodes) : Tails();
  const auto add = [&](Value* value) {
    // Bytes are levels already.
    if (target == QuantTarget::kIntegers && bytes.kind_of(*value) == OfBytes::kLevels) return;
    if (!is_merged(*value, nodes, tails, target) && index.emplace(value, values.size()).second) {
      values.push_back(value);
    }
  };
  for (const auto& node : graph.nodes()) {
    if (!is_in(nodes, node.get())) continue;
    for (Value* input : level_inputs(*node, target)) add(input);
    add(node->result());
  }
  DisjointSets joined(values.size());
  const auto join = [&](const Value* a, const Value* b) {
    const auto first = index.find(a), second = index.find(b);
    if (first != index.end() && second != index.end()) joined.join(first->second, second->second);
  };
  for (const auto& node : graph.nodes()) {
    if (!is_in(nodes, node.get()) || role_of(*node, target) != IntegerRole::kMove) continue;
    for (const Value* input : level_inputs(*node, target)) join(input, node->result());
  }
  for (const BufferWrite& write : graph.buffer_writes()) join(write.buffer, write.value);
  std::map<size_t, std::vector<Value*>> by_root;
  for (size_t i = 0; i < values.size(); ++i) by_root[joined.least(i)].push_back(values[i]);
  std::vector<std::vector<Value*>> groups;
  for (auto& [root, members] : by_root) groups.push_back(std::move(members));
  return groups;
}

bool has_form(const Node& node, const MethodQuantization& method, QuantTarget target) {
  return target == QuantTarget::kBackends && node.num_results() > 0 &&
         method.on_backends.count(node.result()->name()) != 0;
}

bool is_of_rows(const Node& node, const MethodQuantization& method, QuantTarget target) {
  return has_form(node, method, target) && method.keep_float.count(node.result()->name()) == 0 &&
         method.on_backends.at(node.result()->name()) == BackendForm::kRows;
}

// `connected` are nodes that integers could compute, next to products.
std::string reason_of(const Node& node, const MethodQuantization& method, const Nodes& connected,
                      QuantTarget target) {
  std::string kept = kept_reason(method.keep_float, node);
  if (!kept.empty()) return kept;
  if (has_form(node, method, target)) return "is recurrent, and errs too much with integers";
  if (std::string misfit = misfit_of(node); !misfit.empty()) return misfit;
  if (role_of(node, target) == IntegerRole::kFloat) {
    return absl::StrCat(node.op().name, " is not computed with integers");
  }
  if (!fits_integers(node, target)) return "computes with a constant, or not with f32 alone";
  if (is_in(connected, &node)) return "no product reads it, or floats alone are read";
  return "no product is connected to it";
}

}  // namespace

std::set<const Node*> connected_to_products(const std::vector<const Node*>& candidates) {
  return connected_to(candidates, [](const Node& node) { return product_weight(node) != nullptr; });
}

std::set<const Node*> connected_to(const std::vector<const Node*>& candidates,
                                   bool (*is_seed)(const Node&)) {
  std::unordered_map<const Node*, size_t> index;
  for (size_t i = 0; i < candidates.size(); ++i) index[candidates[i]] = i;
  DisjointSets joined(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (const Value* input : level_inputs(*candidates[i], QuantTarget::kBackends)) {
      const auto producer = index.find(input->producer());
      if (producer != index.end()) joined.join(i, producer->second);
    }
  }
  std::set<size_t> with_seed;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (is_seed(*candidates[i])) with_seed.insert(joined.least(i));
  }
  std::set<const Node*> nodes;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (with_seed.count(joined.least(i)) != 0) nodes.insert(candidates[i]);
  }
  return nodes;
}

std::string misfit_of(const Node& node) {
  if (!node.is(aten::convolution, aten::linear, aten::mm, aten::addmm)) return "";
  if (product_weight(node) != nullptr) return "";
  const Value* weight =
      node.is(aten::convolution, aten::linear) ? node.input(arg::weight) : node.input(arg::mat2);
  if (!weight->is_constant() || weight->constant()->is_mutable() ||
      weight->tensor().dtype != ScalarType::kFloat) {
    return "has no constant weight of f32";
  }
  if (!node.is(aten::convolution)) return "has a weight or factors that integers have no form for";
  return weight->tensor().rank() > 4 ? "is a convolution of volumes"
                                     : "is a transposed convolution of groups";
}

std::string kept_reason(const KeptFloat& keep_float, const Node& node) {
  const auto kept = keep_float.find(node.result()->name());
  if (kept == keep_float.end()) return "";
  return kept->second.empty() ? "is kept float" : absl::StrCat("is kept float: ", kept->second);
}

QuantAnnotation annotate_graph(const Graph& graph, const KeptFloat& keep_float,
                               QuantTarget target) {
  MethodQuantization method;
  method.keep_float = keep_float;
  return annotate_method(graph, method, target);
}

QuantAnnotation annotate_method(const Graph& graph, const MethodQuantization& method,
                                QuantTarget target) {
  QuantAnnotation annotation;
  std::vector<const Node*> candidates;
  const BytesInGraph bytes(graph);
  const auto is_of_bytes = [&](const Node& node) {
    return target == QuantTarget::kIntegers && node.num_results() > 0 &&
           bytes.kind_of(*node.result()) != OfBytes::kNone;
  };
  for (const auto& node : graph.nodes()) {
    if (is_of_bytes(*node)) continue;
    if (role_of(*node, target) == IntegerRole::kFloat || !fits_integers(*node, target)) continue;
    if (is_of_rows(*node, method, target)) annotation.rows.push_back(node.get());
    const bool is_kept = method.keep_float.count(node->result()->name()) != 0;
    if (!is_kept && !has_form(*node, method, target)) candidates.push_back(node.get());
  }
  const Nodes connected = target == QuantTarget::kIntegers
                              ? Nodes(candidates.begin(), candidates.end())
                              : connected_to_products(candidates);
  annotation.nodes =
      target == QuantTarget::kBackends ? between_products(graph, connected) : connected;
  annotation.groups = group_values(graph, annotation.nodes, bytes, target);
  for (const auto& node : graph.nodes()) {
    if (is_in(annotation.nodes, node.get()) || node->num_results() == 0) continue;
    if (is_of_bytes(*node)) continue;
    if (is_of_rows(*node, method, target)) continue;
    if (target == QuantTarget::kIntegers && chooses_among_levels(*node)) continue;
    const Type& type = node->result()->type();
    if (!type.is_tensor() || type.tensor.dtype != ScalarType::kFloat) continue;
    annotation.left.push_back({node->result()->name(), node->op().full_name(),
                               reason_of(*node, method, connected, target),
                               node->source().location()});
  }
  return annotation;
}

}  // namespace petrel::exir
