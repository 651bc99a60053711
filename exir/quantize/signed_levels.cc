// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/signed_levels.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "exir/ops/handles.h"

namespace petrel::exir {
namespace {

constexpr int64_t kShift = 128;
constexpr ArgHandle kShifted[] = {arg::zero_point, arg::quant_min, arg::quant_max};

// Whether its levels are of u8, zero point and range within.
bool is_of_bytes(const Node& node) {
  const Argument& dtype = node.argument(arg::dtype);
  return dtype.is_scalar_type() && dtype.as_scalar_type() == ScalarType::kByte &&
         std::all_of(std::begin(kShifted), std::end(kShifted), [&](ArgHandle name) {
           const Argument& number = node.argument(name);
           return number.is_int() && number.as_int() >= 0 && number.as_int() <= UINT8_MAX;
         });
}

bool is_within(const Graph& graph, const Node& quantize) {
  const Value& levels = *quantize.result();
  const bool is_state =
      std::any_of(graph.buffer_writes().begin(), graph.buffer_writes().end(),
                  [&](const BufferWrite& write) { return write.value == &levels; });
  return is_of_bytes(quantize) && levels.output_uses() == 0 && !is_state &&
         std::all_of(levels.users().begin(), levels.users().end(), [](const Node* user) {
           return user->is(quantized_decomposed::dequantize_per_tensor) && is_of_bytes(*user);
         });
}

void shift(Node& node) {
  const auto set = [&node](ArgHandle name, Argument argument) {
    node.set_argument(static_cast<size_t>(node.op().find_arg(name)), std::move(argument));
  };
  for (const ArgHandle name : kShifted) {
    set(name, Argument(node.argument(name).as_int() - kShift));
  }
  set(arg::dtype, Argument(ScalarType::kChar));
}

}  // namespace

bool sign_levels(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.node_pointers()) {
    if (!node->is(quantized_decomposed::quantize_per_tensor) || !is_within(graph, *node)) continue;
    shift(*node);
    for (Node* user : node->result()->users()) shift(*user);
    TensorType type = node->result()->tensor();
    type.dtype = ScalarType::kChar;
    node->result()->set_type(Type(std::move(type)));
    changed = true;
  }
  return changed;
}

}  // namespace petrel::exir
