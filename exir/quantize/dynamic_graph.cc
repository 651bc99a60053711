// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/dynamic_graph.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/builder.h"
#include "exir/quantize/group_scheme.h"
#include "exir/quantize/scheme.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

Value* rows_of(const Node& layer) {
  return layer.is(aten::addmm) ? layer.input(arg::mat1) : layer.input(arg::input, arg::self);
}

bool is_transposed(const Node& layer) { return !layer.is(aten::linear); }

// "" or why the product stays float.
std::string reason_of(const Node& node, const MethodQuantization& method) {
  std::string kept = kept_reason(method.keep_float, node);
  return kept.empty() ? misfit_of_rows(node, method) : kept;
}

class Rewriter {
 public:
  Rewriter(Graph& graph, const MethodQuantization& method, StoredWeights* weights)
      : graph_(graph), method_(method), weights_(*weights) {}

  absl::Status rewrite(Node& layer) {
    Builder builder(graph_, &layer);
    Value* const weight = product_weight(layer);
    PETREL_ASSIGN_OR_RETURN(Value* const rows, quantised(rows_of(layer)));
    PETREL_ASSIGN_OR_RETURN(Value* const stored,
                            store(builder, weight->constant(), is_transposed(layer)));
    Argument bias;
    if (layer.is(aten::linear)) bias = layer.argument(arg::bias);
    if (layer.is(aten::addmm)) bias = layer.argument(arg::self);
    PETREL_ASSIGN_OR_RETURN(Value* const made,
                            builder.call(aten::linear, {rows, stored, std::move(bias)}));
    PETREL_RETURN_IF_ERROR(builder.replace(layer, made));
    if (!weight->is_used()) graph_.erase_constant(weight);
    return absl::OkStatus();
  }

 private:
  // Made once, where the value is; what reads it follows.
  BuiltValue quantised(Value* value) {
    Value*& made = quantised_[value];
    if (made != nullptr) return made;
    Node* const behind = value->producer() == nullptr ? graph_.nodes().front().get()
                                                      : graph_.next(value->producer());
    Builder builder(graph_, behind);
    PETREL_ASSIGN_OR_RETURN(Node* const chosen,
                            builder.node(quantized_decomposed::choose_qparams_per_token_asymmetric,
                                         {value, ScalarType::kChar}));
    Value* const scale = chosen->result(0);
    Value* const zero = chosen->result(1);
    PETREL_ASSIGN_OR_RETURN(
        Value* const levels,
        builder.call(quantized_decomposed::quantize_per_token,
                     {value, scale, zero, kLeastLevel, kMostLevel, ScalarType::kChar}));
    PETREL_ASSIGN_OR_RETURN(made, builder.call(quantized_decomposed::dequantize_per_token,
                                               {levels, scale, zero, kLeastLevel, kMostLevel,
                                                ScalarType::kChar, ScalarType::kFloat}));
    return made;
  }

  BuiltValue store(Builder& builder, const ConstantPtr& weight, bool is_transposed) {
    if (method_.scheme == QuantScheme::kDynamicInt4) {
      PETREL_ASSIGN_OR_RETURN(const StoredWeight stored,
                              weights_.in_groups(weight, is_transposed, method_.group));
      return builder.call(torchao::dequantize_affine,
                          {graph_.add_constant(stored.levels), Ints{1, method_.group},
                           graph_.add_constant(stored.scales), none(), ScalarType::kChar,
                           kLeastLevel4, kMostLevel4, ScalarType::kFloat});
    }
    PETREL_ASSIGN_OR_RETURN(const StoredWeight stored, is_transposed
                                                           ? weights_.transposed(weight)
                                                           : weights_.per_channel(weight, 0));
    return builder.call(quantized_decomposed::dequantize_per_channel,
                        {graph_.add_constant(stored.levels), graph_.add_constant(stored.scales),
                         none(), 0, kLeastLevel + 1, kMostLevel, ScalarType::kChar, none()});
  }

  Graph& graph_;
  const MethodQuantization& method_;
  StoredWeights& weights_;
  std::map<const Value*, Value*> quantised_;
};

}  // namespace

std::string misfit_of_rows(const Node& node, const MethodQuantization& method) {
  if (node.is(aten::convolution)) return "is a convolution: only rows get scales at run time";
  const Value* rows = rows_of(node);
  if (rows->is_constant() || rows->tensor().dtype != ScalarType::kFloat ||
      rows->tensor().rank() < 2) {
    return "its input is not a matrix of f32 that is computed";
  }
  const Sizes& sizes = product_weight(node)->tensor().sizes;
  if (node.is(aten::addmm)) {
    const Value* bias = node.input(arg::self);
    if (bias->tensor().dtype != ScalarType::kFloat || bias->tensor().sizes != Sizes{sizes[1]}) {
      return "what it adds is not one number for each column";
    }
  }
  const int64_t elements = sizes[is_transposed(node) ? 0 : 1];
  if (method.scheme == QuantScheme::kDynamicInt4 && elements % method.group != 0) {
    return absl::StrCat("rows of its weight have ", elements, " elements, no multiple of ",
                        method.group);
  }
  return "";
}

DynamicAnnotation annotate_dynamic(const Graph& graph, const MethodQuantization& method) {
  DynamicAnnotation annotation;
  for (Node* node : graph.node_pointers()) {
    if (product_weight(*node) == nullptr) continue;
    std::string reason = reason_of(*node, method);
    if (reason.empty()) {
      annotation.layers.push_back(node);
      continue;
    }
    annotation.left.push_back({node->result()->name(), node->op().full_name(), std::move(reason),
                               node->source().location()});
  }
  return annotation;
}

std::vector<RowProduct> row_products(const Graph& graph, const MethodQuantization& method) {
  std::vector<RowProduct> products;
  for (const Node* layer : annotate_dynamic(graph, method).layers) {
    products.push_back(
        {rows_of(*layer), product_weight(*layer)->constant(), is_transposed(*layer)});
  }
  return products;
}

absl::Status quantize_layers(Graph& graph, const std::vector<Node*>& layers,
                             const MethodQuantization& method, StoredWeights* weights) {
  Rewriter rewriter(graph, method, weights);
  for (Node* layer : layers) {
    const std::string place = layer->describe();
    const absl::Status done = rewriter.rewrite(*layer);
    if (!done.ok()) return annotate(done, place);
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
