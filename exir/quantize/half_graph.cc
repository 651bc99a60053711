// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/half_graph.h"

#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/quantize/retype_graph.h"

namespace petrel::exir {
namespace {

constexpr double kLargestHalf = 65504;

bool is_float_tensor(const Value& value) {
  return value.type().is_tensor() && value.tensor().dtype == ScalarType::kFloat;
}

// It would be infinite in half, and no number times 0: masks are often 1 - m times -1e9.
bool has_number_beyond_half(const Node& node) {
  if (!node.is(aten::add_Scalar, aten::sub_Scalar, aten::mul_Scalar)) return false;
  const Argument& number = node.argument(arg::other);
  return number.is_number() && std::isfinite(number.as_number()) &&
         std::abs(number.as_number()) > kLargestHalf;
}

bool takes_half(const Node& node) {
  if (has_number_beyond_half(node)) return false;
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
  for (const auto& node : graph.nodes()) {
    if (!takes_half(*node) || !computes_in(*node, ScalarType::kFloat)) continue;
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
    if (reason.empty() && !takes_half(*node)) {
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
