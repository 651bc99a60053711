// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/wide_graph.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/dequantised.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/retype_graph.h"

namespace petrel::exir {
namespace {

bool is_product(const Node& node) {
  return node.is(aten::convolution, aten::linear, aten::mm, aten::addmm, aten::bmm,
                 aten::scaled_dot_product_attention);
}

// Whether it goes on with what other nodes computed in f32, and that was rounded for it: behind a
// product of levels, say, whose sums are f32.
bool reads_rounded(const Node& node) {
  const std::vector<Value*> operands = node.operands();
  return std::any_of(operands.begin(), operands.end(), [](const Value* operand) {
    const Node* const cast = operand->producer();
    if (cast == nullptr || !cast->is(aten::_to_copy)) return false;
    const Value* const source = cast->input(arg::self);
    return source->producer() != nullptr && source->tensor().dtype == ScalarType::kFloat;
  });
}

bool is_seed(const Node& node) { return is_product(node) || reads_rounded(node); }

// `narrow` in f32, lying as it does.
ConstantPtr in_floats(const Constant& narrow) {
  auto wide = std::make_shared<Constant>();
  wide->kind = narrow.kind;
  wide->fqn = absl::StrCat(narrow.fqn, "@f32");
  wide->type = narrow.type;
  wide->type.dtype = ScalarType::kFloat;
  wide->made_of = narrow.sources();
  const auto count = static_cast<size_t>(narrow.type.numel());
  const auto produce = [data = narrow.data, type = narrow.type.dtype,
                        count](absl::Span<uint8_t> out) {
    const Blob::Bytes bytes = data.bytes();
    for (size_t i = 0; i < count; ++i) {
      const auto value =
          static_cast<float>(decode_element(bytes.data() + i * item_size(type), type));
      std::memcpy(out.data() + i * sizeof(value), &value, sizeof(value));
    }
  };
  wide->data = Blob::produced(count * sizeof(float), produce);
  return wide;
}

bool makes_levels(const Node& node) {
  return node.is(
      quantized_decomposed::quantize_per_tensor, quantized_decomposed::quantize_per_tensor_tensor,
      quantized_decomposed::quantize_per_token, quantized_decomposed::choose_qparams_tensor,
      quantized_decomposed::choose_qparams_per_token_asymmetric,
      quantized_decomposed::choose_qparams_per_token, torchao::quantize_affine,
      torchao::choose_qparams_affine);
}

bool is_tensor_of(const Value* value, ScalarType type) {
  return value->type().is_tensor() && value->tensor().dtype == type;
}

bool has_floats_of(const Node& node, ScalarType type) {
  for (size_t i = 0; i < node.num_results(); ++i) {
    if (is_tensor_of(node.result(i), type)) return true;
  }
  const std::vector<Value*> operands = node.operands();
  return std::any_of(operands.begin(), operands.end(),
                     [type](const Value* operand) { return is_tensor_of(operand, type); });
}

// Whether it computes in f32 with numbers of `type` as well: a norm whose weight is narrow.
bool mixes(const Node& node, ScalarType type) {
  if (!node.op().has(kElementwise) || node.num_results() != 1) return false;
  bool has_float = false;
  bool has_narrow = false;
  for (const Value* operand : node.operands()) {
    has_float = has_float || is_tensor_of(operand, ScalarType::kFloat);
    has_narrow = has_narrow || is_tensor_of(operand, type);
  }
  return has_float && has_narrow && is_tensor_of(node.result(), ScalarType::kFloat);
}

bool has_state(const Node& node) {
  const std::vector<Value*> operands = node.operands();
  return std::any_of(operands.begin(), operands.end(), [](const Value* operand) {
    return operand->is_constant() && operand->constant()->is_mutable();
  });
}

// Whether another operand of a product by `weight` is dequantised as well, when it is there.
bool multiplies_levels(const Node& product, const Value* weight) {
  const std::vector<Value*> operands = product.operands();
  return std::any_of(operands.begin(), operands.end(), [&](const Value* operand) {
    return operand != weight && operand->producer() != nullptr && dequantises(*operand->producer());
  });
}

// Of what is stored as levels, that products of levels read, and with a scale for each row: no
// backend takes other weights in f32, nor tables, whose floats are many.
bool is_worth_it(const Node& node) {
  const std::vector<Value*> operands = node.operands();
  if (!dequantises(node) || !operands[0]->is_constant()) return true;
  const TensorType& levels = operands[0]->tensor();
  const bool is_by_row = levels.rank() > 0 &&
                         (operands.size() < 2 || operands[1]->tensor().numel() <= levels.sizes[0]);
  const std::vector<Node*> users = node.result()->users();
  return std::any_of(users.begin(), users.end(), [&](const Node* user) {
    return is_product(*user) && (is_by_row || multiplies_levels(*user, node.result()));
  });
}

// Nodes of a method that are to compute in f32, in the order of the graph.
using Choose = std::function<std::vector<Node*>(const std::string& method, const Graph& graph)>;

absl::Status widen(Program& program, ScalarType type, const Choose& choose) {
  std::map<ConstantPtr, ConstantPtr> made;
  const auto constant = [&](const ConstantPtr& narrow) -> absl::StatusOr<ConstantPtr> {
    ConstantPtr& wide = made[narrow];
    if (wide == nullptr) wide = in_floats(*narrow);
    return wide;
  };
  for (auto& [name, method] : program.methods) {
    const std::vector<Node*> nodes = choose(name, *method.graph);
    if (nodes.empty()) continue;
    const absl::Status done = retype(*method.graph, nodes, {type, ScalarType::kFloat, constant});
    if (!done.ok()) return annotate(done, absl::StrCat("method '", name, "'"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status widen_floats(Program& program, ScalarType type, const MayWiden& may_widen) {
  return widen(program, type, [&](const std::string& name, const Graph& graph) {
    std::vector<const Node*> candidates;
    for (const auto& node : graph.nodes()) {
      if (computes_in(*node, type) && node->regions().empty() && may_widen(name, *node)) {
        candidates.push_back(node.get());
      }
    }
    const std::set<const Node*> connected = connected_to(candidates, is_seed);
    std::vector<Node*> nodes;
    for (Node* node : graph.node_pointers()) {
      if (connected.count(node) != 0) nodes.push_back(node);
    }
    return nodes;
  });
}

absl::Status widen_levels(Program& program, ScalarType type, const MayWiden& may_widen) {
  return widen(program, type, [&](const std::string& name, const Graph& graph) {
    std::vector<Node*> nodes;
    for (Node* node : graph.node_pointers()) {
      const bool converts = (makes_levels(*node) || dequantises(*node)) &&
                            has_floats_of(*node, type) && is_worth_it(*node);
      if ((converts || mixes(*node, type)) && !has_state(*node) && may_widen(name, *node)) {
        nodes.push_back(node);
      }
    }
    return nodes;
  });
}

bool is_product_of_levels(const Node& node) {
  if (!is_product(node)) return false;
  const std::vector<Value*> operands = node.operands();
  return std::any_of(operands.begin(), operands.end(), [](const Value* operand) {
    const Node* const cast = operand->producer();
    if (cast == nullptr || !cast->is(aten::_to_copy)) return false;
    const Node* const made = cast->input(arg::self)->producer();
    return made != nullptr && dequantises(*made) && made->operands()[0]->is_constant();
  });
}

}  // namespace petrel::exir
