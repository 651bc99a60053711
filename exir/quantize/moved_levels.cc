// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/moved_levels.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "exir/ops/handles.h"
#include "exir/pass/framework/builder.h"
#include "exir/quantize/integer_roles.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr ArgHandle kNumbers[] = {arg::scale, arg::zero_point, arg::quant_min, arg::quant_max,
                                  arg::dtype};

bool have_same_numbers(const Node& a, const Node& b) {
  return std::all_of(std::begin(kNumbers), std::end(kNumbers), [&](ArgHandle name) {
    return !a.argument(name).is_value() && a.argument(name) == b.argument(name);
  });
}

// Whether quantising what it dequantises gives the same levels again: none is cut off.
bool gives_levels_back(const Node& dequantize) {
  const Node* const made = dequantize.input(arg::input)->producer();
  if (made != nullptr && made->is(quantized_decomposed::quantize_per_tensor)) {
    return have_same_numbers(*made, dequantize);
  }
  const Argument& least = dequantize.argument(arg::quant_min);
  const Argument& most = dequantize.argument(arg::quant_max);
  const bool is_byte = dequantize.argument(arg::dtype) == Argument(ScalarType::kByte);
  return least == Argument(int64_t{is_byte ? 0 : -128}) &&
         most == Argument(int64_t{is_byte ? 255 : 127});
}

bool moves(const Node& node) { return picks_elements(node) && node.result()->has_single_user(); }

// The nodes from what `quantize` reads up to what dequantises, both left out, last first; empty
// when there are none.
std::vector<Node*> moves_before(const Node& quantize, const std::function<bool(const Node&)>& stays,
                                const Node** dequantize) {
  std::vector<Node*> found;
  Node* node = quantize.input(arg::input)->producer();
  while (node != nullptr && moves(*node) && !stays(*node)) {
    found.push_back(node);
    node = node->input(arg::input, arg::self)->producer();
  }
  if (node == nullptr || !node->is(quantized_decomposed::dequantize_per_tensor)) return {};
  *dequantize = node;
  return found;
}

}  // namespace

void take_sizes_by_data(const Node& node, const Node& made) {
  if (!made.op().has(kDataSized)) return;
  TensorType type = node.result()->tensor();
  type.dtype = made.result()->tensor().dtype;
  made.result()->set_type(std::move(type));
}

absl::StatusOr<bool> move_levels_as_they_are(Graph& graph,
                                             const std::function<bool(const Node&)>& stays) {
  bool changed = false;
  for (Node* quantize : graph.node_pointers()) {
    if (!quantize->is(quantized_decomposed::quantize_per_tensor)) continue;
    const Node* dequantize = nullptr;
    const std::vector<Node*> moved = moves_before(*quantize, stays, &dequantize);
    if (moved.empty() || !have_same_numbers(*dequantize, *quantize) ||
        !gives_levels_back(*dequantize)) {
      continue;
    }
    Value* levels = dequantize->input(arg::input);
    for (auto node = moved.rbegin(); node != moved.rend(); ++node) {
      Builder b(graph, *node);
      std::vector<Argument> arguments = (*node)->arguments();
      arguments[0] = Argument(levels);
      PETREL_ASSIGN_OR_RETURN(Node * made, b.node((*node)->op(), std::move(arguments)));
      take_sizes_by_data(**node, *made);
      levels = made->result();
    }
    Builder b(graph, quantize);
    PETREL_RETURN_IF_ERROR(b.replace(*quantize, levels));
    for (Node* node : moved) graph.erase(node);
    changed = true;
  }
  return changed;
}

}  // namespace petrel::exir
