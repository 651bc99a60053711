// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/half_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/builder.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

bool is_float_tensor(const Value& value) {
  return value.type().is_tensor() && value.tensor().dtype == ScalarType::kFloat;
}

bool takes_half(const Node& node) {
  if (product_weight(node) != nullptr) return true;
  return node.is(aten::bmm, aten::scaled_dot_product_attention, aten::_softmax, aten::relu,
                 aten::relu6, aten::hardtanh, aten::clamp, aten::leaky_relu, aten::elu, aten::gelu,
                 aten::silu, aten::sigmoid, aten::tanh, aten::hardswish, aten::hardsigmoid,
                 aten::abs, aten::neg) ||
         node.is(aten::add_Tensor, aten::add_Scalar, aten::sub_Tensor, aten::sub_Scalar,
                 aten::mul_Tensor, aten::mul_Scalar, aten::div_Tensor, aten::div_Scalar,
                 aten::minimum, aten::maximum) ||
         node.is(aten::view, aten::permute, aten::transpose_int, aten::slice_Tensor,
                 aten::unsqueeze, aten::squeeze_dims, aten::expand, aten::cat,
                 aten::constant_pad_nd, aten::max_pool2d, aten::avg_pool2d,
                 aten::adaptive_avg_pool2d, aten::mean_dim, aten::upsample_bilinear2d_vec);
}

// Whether all that it computes with and makes is of f32, and nothing says so: what is
// written as a dtype stays what it is.
bool fits(const Node& node) {
  if (node.num_results() != 1 || !is_float_tensor(*node.result())) return false;
  bool computes = false;
  for (const Value* operand : node.operands()) {
    if (!is_float_tensor(*operand)) return false;
    if (operand->is_constant() && operand->constant()->is_mutable()) return false;
    computes = computes || !operand->is_constant();
  }
  const std::vector<Argument>& arguments = node.arguments();
  return computes && std::none_of(arguments.begin(), arguments.end(),
                                  [](const Argument& a) { return a.is_scalar_type(); });
}

void replace_in(Node* user, Value* value, Value* by) {
  for (size_t i = 0; i < user->arguments().size(); ++i) {
    Argument argument = user->arguments()[i];
    argument.replace(value, by);
    user->set_argument(i, std::move(argument));
  }
}

class Rewriter {
 public:
  Rewriter(Graph& graph, const std::vector<Node*>& nodes, StoredWeights* weights)
      : graph_(graph), nodes_(nodes.begin(), nodes.end()), weights_(*weights) {}

  absl::Status rewrite(Node* node) {
    for (Value* operand : node->operands()) {
      if (!is_float_tensor(*operand)) continue;  // another argument was the same value
      PETREL_ASSIGN_OR_RETURN(Value* const half, in_half(operand, node));
      replace_in(node, operand, half);
      if (operand->is_constant() && !operand->is_used()) graph_.erase_constant(operand);
    }
    Value* const result = node->result();
    TensorType type = result->tensor();
    type.dtype = ScalarType::kHalf;
    result->set_type(Type(type));
    return widen(node);
  }

 private:
  // Made once; a constant for all, a value where it is.
  BuiltValue in_half(Value* value, Node* user) {
    Value*& made = halves_[value];
    if (made != nullptr) return made;
    if (value->is_constant()) {
      PETREL_ASSIGN_OR_RETURN(const ConstantPtr half, weights_.in_half(value->constant()));
      return made = graph_.add_constant(half);
    }
    Node* const behind = value->producer() == nullptr ? graph_.nodes().front().get()
                                                      : graph_.next(value->producer());
    Builder builder(graph_, behind == nullptr ? user : behind);
    PETREL_ASSIGN_OR_RETURN(made, builder.cast(value, ScalarType::kHalf));
    return made;
  }

  // For users that stay in floats, and for outputs.
  absl::Status widen(Node* node) {
    Value* const result = node->result();
    const std::vector<Node*> users = result->users();
    const bool is_needed = result->output_uses() > 0 ||
                           std::any_of(users.begin(), users.end(),
                                       [&](Node* user) { return nodes_.count(user) == 0; });
    if (!is_needed) return absl::OkStatus();
    Builder builder(graph_, graph_.next(node));
    PETREL_ASSIGN_OR_RETURN(Value* const floats, builder.cast(result, ScalarType::kFloat));
    graph_.replace_all_uses(result, floats);
    floats->producer()->set_argument(0, Argument(result));
    for (Node* user : users) {
      if (nodes_.count(user) != 0) replace_in(user, floats, result);
    }
    return absl::OkStatus();
  }

  Graph& graph_;
  const std::set<const Node*> nodes_;
  StoredWeights& weights_;
  std::map<const Value*, Value*> halves_;
};

}  // namespace

HalfAnnotation annotate_half(const Graph& graph, const KeptFloat& keep_float) {
  std::vector<const Node*> candidates;
  for (const auto& node : graph.nodes()) {
    if (!takes_half(*node) || !fits(*node)) continue;
    if (keep_float.count(node->result()->name()) == 0) candidates.push_back(node.get());
  }
  const std::set<const Node*> connected = connected_to_products(candidates);
  HalfAnnotation annotation;
  for (Node* node : graph.node_pointers()) {
    if (connected.count(node) != 0) {
      annotation.nodes.push_back(node);
      continue;
    }
    if (node->num_results() == 0 || !is_float_tensor(*node->result())) continue;
    std::string reason = kept_reason(keep_float, *node);
    if (reason.empty() && !takes_half(*node)) {
      reason = absl::StrCat(node->op().name, " is not computed in half");
    }
    if (reason.empty() && !fits(*node)) reason = "does not compute with f32 alone";
    if (reason.empty()) reason = "no product is connected to it";
    annotation.left.push_back({node->result()->name(), node->op().full_name(), std::move(reason),
                               node->source().location()});
  }
  return annotation;
}

absl::Status store_in_half(Graph& graph, const std::vector<Node*>& nodes, StoredWeights* weights) {
  Rewriter rewriter(graph, nodes, weights);
  for (Node* node : nodes) {
    const std::string place = node->describe();
    const absl::Status done = rewriter.rewrite(node);
    if (!done.ok()) return annotate(done, place);
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
