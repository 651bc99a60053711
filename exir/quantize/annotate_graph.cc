// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/annotate_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "exir/ir/disjoint_sets.h"
#include "exir/ops/handles.h"

namespace petrel::exir {
namespace {

enum class Role { kFloat, kProduct, kJoin, kMove, kOne };

bool is_float_tensor(const Value& value) {
  return value.type().is_tensor() && value.tensor().dtype == ScalarType::kFloat;
}

bool is_activation(const Node& node) {
  return node.is(aten::relu, aten::hardtanh, aten::relu6, aten::clamp);
}

bool is_number(const Node& node, ArgHandle name, double value) {
  const Argument& argument = node.argument(name);
  return argument.is_number() && argument.as_number() == value;
}

// 0 is exact in levels of any scale.
bool pads_with_zeros(const Node& node) {
  if (!node.is(aten::constant_pad_nd) || !node.argument(arg::pad).is_ints()) return false;
  const std::vector<int64_t>& pad = node.argument(arg::pad).as_ints();
  return is_number(node, arg::value, 0) &&
         std::all_of(pad.begin(), pad.end(), [](int64_t amount) { return amount >= 0; });
}

bool moves_elements(const Node& node) {
  return pads_with_zeros(node) ||
         node.is(aten::view, aten::permute, aten::transpose_int, aten::slice_Tensor,
                 aten::unsqueeze, aten::squeeze_dims, aten::max_pool2d);
}

bool computes_one_by_one(const Node& node) {
  if (node.is(aten::elu)) {
    const Argument& alpha = node.argument(arg::alpha);
    return alpha.is_number() && std::isfinite(alpha.as_number()) && alpha.as_number() > 0 &&
           is_number(node, arg::scale, 1) && is_number(node, arg::input_scale, 1);
  }
  return is_activation(node) || node.is(aten::mean_dim, aten::avg_pool2d, aten::adaptive_avg_pool2d,
                                        aten::sigmoid, aten::tanh, aten::leaky_relu,
                                        aten::hardswish, aten::hardsigmoid, aten::gelu, aten::silu);
}

// A sum or product of two; a number may stand for one of them.
bool is_arithmetic(const Node& node) {
  const bool is_sum =
      node.is(aten::add_Tensor, aten::sub_Tensor, aten::add_Scalar, aten::sub_Scalar);
  if (is_sum && !is_number(node, arg::alpha, 1)) return false;
  if (node.is(aten::add_Scalar, aten::sub_Scalar, aten::mul_Scalar, aten::div_Scalar)) {
    const Argument& other = node.argument(arg::other);
    return other.is_number() && std::isfinite(other.as_number()) &&
           !(node.is(aten::div_Scalar) && other.as_number() == 0);
  }
  return is_sum || node.is(aten::mul_Tensor);
}

Role role_of(const Node& node) {
  if (product_weight(node) != nullptr) return Role::kProduct;
  if (node.is(aten::cat) || is_arithmetic(node)) return Role::kJoin;
  if (moves_elements(node)) return Role::kMove;
  return computes_one_by_one(node) ? Role::kOne : Role::kFloat;
}

// What is computed: not weights, and each value once.
std::vector<Value*> inputs_of(const Node& node) {
  if (product_weight(node) != nullptr) {
    return {node.is(aten::addmm) ? node.input(arg::mat1) : node.input(arg::input, arg::self)};
  }
  return node.operands();
}

// Whether levels of its own can stand for a constant.
bool can_be_stored(const Value& constant) {
  return !constant.constant()->is_mutable() && constant.tensor().is_contiguous() &&
         constant.tensor().numel() > 0;
}

// Whether integers can stand for all that the node computes with and makes.
bool fits(const Node& node) {
  const std::vector<Value*> inputs = inputs_of(node);
  if (node.num_results() != 1 || !is_float_tensor(*node.result())) return false;
  bool computes = false;
  for (const Value* input : inputs) {
    if (!is_float_tensor(*input)) return false;
    if (input->is_constant() && !(is_arithmetic(node) && can_be_stored(*input))) return false;
    computes = computes || !input->is_constant();
  }
  return computes;
}

// A product or a sum whose only user is an activation: one node of integers.
bool is_merged(const Value& value, const std::set<const Node*>& nodes) {
  const Node* producer = value.producer();
  if (producer == nullptr || !value.has_single_user()) return false;
  const Node* user = value.users()[0];
  return is_activation(*user) && nodes.count(user) != 0 && nodes.count(producer) != 0 &&
         (product_weight(*producer) != nullptr ||
          producer->is(aten::add_Tensor, aten::sub_Tensor, aten::add_Scalar, aten::sub_Scalar));
}

std::vector<std::vector<Value*>> group_values(const Graph& graph,
                                              const std::set<const Node*>& nodes) {
  std::vector<Value*> values;
  std::unordered_map<const Value*, size_t> index;
  const auto add = [&](Value* value) {
    if (!is_merged(*value, nodes) && index.emplace(value, values.size()).second) {
      values.push_back(value);
    }
  };
  for (const auto& node : graph.nodes()) {
    if (nodes.count(node.get()) == 0) continue;
    for (Value* input : inputs_of(*node)) add(input);
    add(node->result());
  }
  DisjointSets joined(values.size());
  for (const auto& node : graph.nodes()) {
    const auto result = index.find(node->result());
    if (nodes.count(node.get()) == 0 || result == index.end()) continue;
    if (!moves_elements(*node) && !node->is(aten::cat)) continue;
    for (const Value* input : inputs_of(*node)) {
      const auto found = index.find(input);
      if (found != index.end()) joined.join(found->second, result->second);
    }
  }
  std::map<size_t, std::vector<Value*>> by_root;
  for (size_t i = 0; i < values.size(); ++i) by_root[joined.least(i)].push_back(values[i]);
  std::vector<std::vector<Value*>> groups;
  for (auto& [root, members] : by_root) groups.push_back(std::move(members));
  return groups;
}

std::string reason_of(const Node& node, const KeptFloat& keep_float) {
  std::string kept = kept_reason(keep_float, node);
  if (!kept.empty()) return kept;
  if (std::string misfit = misfit_of(node); !misfit.empty()) return misfit;
  if (role_of(node) == Role::kFloat) {
    return absl::StrCat(node.op().name, " is not computed with integers");
  }
  if (!fits(node)) return "computes with a constant, or not with f32 alone";
  return "no product is connected to it";
}

}  // namespace

std::set<const Node*> connected_to_products(const std::vector<const Node*>& candidates) {
  std::unordered_map<const Node*, size_t> index;
  for (size_t i = 0; i < candidates.size(); ++i) index[candidates[i]] = i;
  DisjointSets joined(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (const Value* input : inputs_of(*candidates[i])) {
      const auto producer = index.find(input->producer());
      if (producer != index.end()) joined.join(i, producer->second);
    }
  }
  std::set<size_t> with_product;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (product_weight(*candidates[i]) != nullptr) with_product.insert(joined.least(i));
  }
  std::set<const Node*> nodes;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (with_product.count(joined.least(i)) != 0) nodes.insert(candidates[i]);
  }
  return nodes;
}

Value* product_weight(const Node& node) {
  if (!node.is(aten::convolution, aten::linear, aten::mm, aten::addmm)) return nullptr;
  Value* weight =
      node.is(aten::convolution, aten::linear) ? node.input(arg::weight) : node.input(arg::mat2);
  const bool is_weight = weight->is_constant() && !weight->constant()->is_mutable() &&
                         is_float_tensor(*weight) && weight->tensor().is_contiguous() &&
                         weight->tensor().numel() > 0;
  if (!is_weight) return nullptr;
  if (node.is(aten::convolution)) {
    const Argument& transposed = node.argument(arg::transposed);
    const Argument& groups = node.argument(arg::groups);
    if (!transposed.is_bool() || !groups.is_int()) return nullptr;
    // Of transposed groups the channels lie in two dimensions.
    if (transposed.as_bool() && groups.as_int() != 1) return nullptr;
    if (weight->tensor().rank() > 4) return nullptr;
  }
  if (node.is(aten::addmm)) {
    for (const ArgHandle factor : {arg::alpha, arg::beta}) {
      const Argument& value = node.argument(factor);
      if (!value.is_number() || value.as_number() != 1) return nullptr;
    }
  }
  return weight;
}

std::string misfit_of(const Node& node) {
  if (!node.is(aten::convolution, aten::linear, aten::mm, aten::addmm)) return "";
  if (product_weight(node) != nullptr) return "";
  const Value* weight =
      node.is(aten::convolution, aten::linear) ? node.input(arg::weight) : node.input(arg::mat2);
  if (!weight->is_constant() || weight->constant()->is_mutable() || !is_float_tensor(*weight)) {
    return "has no constant weight of f32";
  }
  if (!node.is(aten::convolution)) return "has a weight or factors that integers have no form for";
  return weight->tensor().rank() > 4 ? "is a convolution of volumes"
                                     : "is a transposed convolution of groups";
}

size_t weight_axis(const Node& product) {
  if (product.is(aten::mm, aten::addmm)) return 1;
  return product.is(aten::convolution) && product.argument(arg::transposed).as_bool() ? 1 : 0;
}

std::string kept_reason(const KeptFloat& keep_float, const Node& node) {
  const auto kept = keep_float.find(node.result()->name());
  if (kept == keep_float.end()) return "";
  return kept->second.empty() ? "is kept float" : absl::StrCat("is kept float: ", kept->second);
}

QuantAnnotation annotate_graph(const Graph& graph, const KeptFloat& keep_float) {
  std::vector<const Node*> candidates;
  for (const auto& node : graph.nodes()) {
    if (role_of(*node) == Role::kFloat || !fits(*node)) continue;
    if (keep_float.count(node->result()->name()) == 0) candidates.push_back(node.get());
  }
  QuantAnnotation annotation;
  annotation.nodes = connected_to_products(candidates);
  annotation.groups = group_values(graph, annotation.nodes);
  for (const auto& node : graph.nodes()) {
    if (annotation.nodes.count(node.get()) != 0 || node->num_results() == 0) continue;
    if (!is_float_tensor(*node->result())) continue;
    annotation.left.push_back({node->result()->name(), node->op().full_name(),
                               reason_of(*node, keep_float), node->source().location()});
  }
  return annotation;
}

}  // namespace petrel::exir
