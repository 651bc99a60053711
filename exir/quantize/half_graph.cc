// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/half_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/quantize/integer_roles.h"
#include "exir/quantize/retype_graph.h"
#include "exir/quantize/scheme.h"

namespace petrel::exir {
namespace {

constexpr double kLargestHalf = 65504;

bool has_number_beyond_half(const Node& node) {
  if (!node.is(aten::add_Scalar, aten::sub_Scalar, aten::mul_Scalar)) return false;
  const Argument& number = node.argument(arg::other);
  return number.is_number() && std::isfinite(number.as_number()) &&
         std::abs(number.as_number()) > kLargestHalf;
}

// Whatever it takes, it gives none beyond half of that alone.
bool gives_near_numbers(const Node& node) {
  return product_weight(node) != nullptr ||
         node.is(aten::_softmax, aten::sigmoid, aten::tanh, aten::hardsigmoid, aten::relu6,
                 aten::native_layer_norm, aten::native_group_norm);
}

// Numbers beyond half, and what is computed of them: they would be infinite in half, and so no
// numbers behind a softmax of nothing else. Masks are often 1 - m times -1e9.
class FarNumbers {
 public:
  explicit FarNumbers(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      const std::vector<Value*> operands = node->operands();
      const bool reads = std::any_of(operands.begin(), operands.end(),
                                     [&](const Value* operand) { return holds(*operand); });
      if (reads) readers_.insert(node.get());
      if (!(reads || has_number_beyond_half(*node)) || gives_near_numbers(*node)) continue;
      if (node->is(aten::scaled_dot_product_attention) && !holds(*node->input(arg::value))) {
        continue;
      }
      for (size_t i = 0; i < node->num_results(); ++i) values_.insert(node->result(i));
    }
  }

  bool are_read_by(const Node& node) const { return readers_.count(&node) != 0; }

 private:
  bool holds(const Value& value) {
    if (!is_float_tensor(value)) return false;
    if (!value.is_constant()) return values_.count(&value) != 0;
    const auto [found, is_new] = constants_.emplace(value.constant().get(), false);
    if (is_new && value.tensor().is_contiguous()) {
      const absl::StatusOr<Range> range = range_of(*value.constant());
      found->second = range.ok() && std::max(-range->min, range->max) > kLargestHalf;
    }
    return found->second;
  }

  std::set<const Value*> values_;
  std::map<const Constant*, bool> constants_;
  std::set<const Node*> readers_;
};

bool takes_half(const Node& node, const FarNumbers& far) {
  if (has_number_beyond_half(node) || far.are_read_by(node)) return false;
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

}  // namespace

HalfAnnotation annotate_half(const Graph& graph, const KeptFloat& keep_float) {
  std::vector<const Node*> candidates;
  const FarNumbers far(graph);
  for (const auto& node : graph.nodes()) {
    if (!takes_half(*node, far) || !computes_in(*node, ScalarType::kFloat)) continue;
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
    if (reason.empty() && has_number_beyond_half(*node)) {
      reason = absl::StrCat("has a number beyond half, whose largest is ", kLargestHalf);
    }
    if (reason.empty() && far.are_read_by(*node)) {
      reason = absl::StrCat("reads numbers beyond half, whose largest is ", kLargestHalf);
    }
    if (reason.empty() && !takes_half(*node, far)) {
      reason = absl::StrCat(node->op().name, " is not computed in half");
    }
    if (reason.empty() && !computes_in(*node, ScalarType::kFloat))
      reason = "does not compute with f32 alone";
    if (reason.empty()) reason = "no product is connected to it";
    annotation.left.push_back({node->result()->name(), node->op().full_name(), std::move(reason),
                               node->source().location()});
  }
  return annotation;
}

absl::Status store_in_half(Graph& graph, const std::vector<Node*>& nodes, StoredWeights* weights) {
  const auto in_half = [&](const ConstantPtr& constant) { return weights->in_half(constant); };
  return retype(graph, nodes, {ScalarType::kFloat, ScalarType::kHalf, in_half});
}

}  // namespace petrel::exir
