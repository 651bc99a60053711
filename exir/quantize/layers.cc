// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/layers.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/dynamic_graph.h"
#include "exir/quantize/half_graph.h"
#include "exir/quantize/quantize_graph.h"

namespace petrel::exir {
namespace {

bool makes_floats(const Node& node) {
  return node.num_results() > 0 && node.result()->type().is_tensor() &&
         node.result()->tensor().dtype == ScalarType::kFloat;
}

// The bytes of a weight as integers, and of its scales: floats for channels, numbers of
// bfloat16 for groups.
int64_t stored_bytes(const TensorType& weight, size_t axis, const MethodQuantization& method) {
  const int64_t count = weight.numel();
  if (method.scheme == QuantScheme::kHalf) return count * 2;
  if (method.scheme == QuantScheme::kDynamicInt4) return count / 2 + count / method.group * 2;
  return count + weight.sizes[axis] * static_cast<int64_t>(sizeof(float));
}

class Collector {
 public:
  Collector(const Graph& graph, const MethodQuantization& method, QuantTarget target)
      : method_(method) {
    for (const Node* node : quantizable_nodes(graph, method, target)) quantised_.insert(node);
    if (method.scheme == QuantScheme::kStaticInt8) {
      QuantAnnotation annotation = annotate_method(graph, method, target);
      scaled_by_rows_.insert(annotation.rows.begin(), annotation.rows.end());
      for (const auto& group : annotation.groups) scaled_.insert(group.begin(), group.end());
      note(annotation.left);
    } else {
      note(method.scheme == QuantScheme::kHalf ? annotate_half(graph, method.keep_float).left
                                               : annotate_dynamic(graph, method).left);
    }
  }

  std::vector<Layer> collect(const Graph& graph) {
    std::vector<Layer> layers;
    std::map<const Value*, Layer> open;  // by the value that an activation takes
    for (const auto& node : graph.nodes()) {
      if (!makes_floats(*node) || node->op().has(kView)) continue;
      Layer layer;
      for (const Value* operand : node->operands()) {
        const auto before = open.find(operand);
        if (before == open.end()) continue;
        layer = std::move(before->second);
        open.erase(before);
        break;
      }
      add(*node, &layer);
      if (is_merged(*node)) {
        open[node->result()] = std::move(layer);
      } else {
        layers.push_back(std::move(layer));
      }
    }
    return layers;
  }

 private:
  void note(const std::vector<LeftFloat>& left) {
    for (const LeftFloat& node : left) reasons_[node.node] = node.reason;
  }

  // Integers that it makes are those of its one user.
  bool is_merged(const Node& node) const {
    return method_.scheme == QuantScheme::kStaticInt8 && quantised_.count(&node) != 0 &&
           scaled_.count(node.result()) == 0 && scaled_by_rows_.count(&node) == 0;
  }

  void add(const Node& node, Layer* layer) {
    layer->nodes.push_back(&node);
    layer->is_quantised = quantised_.count(&node) != 0;
    if (!layer->is_quantised) {
      const auto reason = reasons_.find(node.result()->name());
      layer->float_reason =
          reason != reasons_.end() ? reason->second : "is not a product with a constant weight";
    }
    const Value* weight = layer->is_quantised ? product_weight(node) : nullptr;
    for (const Value* operand : node.operands()) {
      if (!operand->is_constant() || !seen_.insert(operand->constant().get()).second) continue;
      const int64_t bytes = operand->tensor().nbytes();
      layer->float_bytes += bytes;
      layer->stored_bytes +=
          operand == weight ? stored_bytes(operand->tensor(), weight_axis(node), method_) : bytes;
    }
  }

  const MethodQuantization& method_;
  std::set<const Node*> quantised_;
  std::set<const Value*> scaled_;
  std::set<const Node*> scaled_by_rows_;
  std::map<std::string, std::string> reasons_;
  std::set<const Constant*> seen_;
};

}  // namespace

std::string Layer::operators() const {
  return absl::StrJoin(nodes, ", ", [](std::string* out, const Node* node) {
    absl::StrAppend(out, absl::StripPrefix(node->op().name, "aten::"));
  });
}

std::vector<Layer> layers_of(const Graph& graph, const MethodQuantization& method,
                             QuantTarget target) {
  return Collector(graph, method, target).collect(graph);
}

}  // namespace petrel::exir
