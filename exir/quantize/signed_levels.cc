// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/signed_levels.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/once_per_constant.h"

namespace petrel::exir {
namespace {

constexpr int64_t kShift = 128;
constexpr ArgHandle kShifted[] = {arg::zero_point, arg::quant_min, arg::quant_max};

bool is_byte(double number) { return number >= 0 && number <= UINT8_MAX; }

struct ZeroPointsAnswer {
  bool are_bytes = false;
  bool are_in_the_middle = false;  // all become 0, as of symmetric weights
};

ZeroPointsAnswer answer_of(const Constant& zero_points) {
  const auto numbers = decode_constant(zero_points);
  if (!numbers.ok()) return {};
  const auto is_middle = [](double number) { return number == kShift; };
  return {std::all_of(numbers->begin(), numbers->end(), is_byte),
          std::all_of(numbers->begin(), numbers->end(), is_middle)};
}

using ZeroPoints = OncePerConstant<ZeroPointsAnswer>;

// Whether its zero points are constants, each of them a level of u8.
bool has_zero_points_of_bytes(const Node& node, ZeroPoints& zero_points) {
  const Argument& points = node.argument(arg::zero_points);
  if (!points.is_value() || !points.value()->is_constant()) return false;
  const ConstantPtr& constant = points.value()->constant();
  const ScalarType type = constant->type.dtype;
  return !constant->is_mutable() && (type == ScalarType::kLong || type == ScalarType::kInt) &&
         zero_points.of(constant).are_bytes;
}

// Whether its levels are of u8, zero points and range within.
bool is_of_bytes(const Node& node, ZeroPoints& zero_points) {
  const Argument& dtype = node.argument(arg::dtype);
  return dtype.is_scalar_type() && dtype.as_scalar_type() == ScalarType::kByte &&
         std::all_of(std::begin(kShifted), std::end(kShifted), [&](ArgHandle name) {
           if (node.op().find_arg(name) < 0) return has_zero_points_of_bytes(node, zero_points);
           const Argument& number = node.argument(name);
           return number.is_int() && is_byte(static_cast<double>(number.as_int()));
         });
}

bool is_weight_of_bytes(const Value& weight, ZeroPoints& zero_points) {
  if (weight.tensor().dtype != ScalarType::kByte || weight.constant()->is_mutable() ||
      weight.output_uses() > 0 || !weight.is_used()) {
    return false;
  }
  const std::vector<Node*> users = weight.users();
  return std::all_of(users.begin(), users.end(), [&](const Node* user) {
    return user->is(quantized_decomposed::dequantize_per_tensor,
                    quantized_decomposed::dequantize_per_channel) &&
           user->input(arg::input) == &weight && is_of_bytes(*user, zero_points);
  });
}

// `constant` less 128, as `type`: of levels, or of zero points, which keep theirs.
ConstantPtr lowered(const Constant& constant, ScalarType type) {
  auto made = std::make_shared<Constant>();
  made->kind = constant.kind;
  made->fqn = absl::StrCat(constant.fqn, "@signed");
  made->type = constant.type;
  made->type.dtype = type;
  made->made_of = constant.sources();
  const size_t size = item_size(type);
  const auto count = static_cast<size_t>(constant.type.numel());
  const auto produce = [data = constant.data, size, count](absl::Span<uint8_t> out) {
    const Blob::Bytes bytes = data.bytes();
    for (size_t i = 0; i < count; ++i) {
      int64_t number = 0;  // little-endian, not negative
      std::memcpy(&number, bytes.data() + i * size, size);
      number -= kShift;
      std::memcpy(out.data() + i * size, &number, size);
    }
  };
  made->data = Blob::produced(count * size, produce);
  return made;
}

Value* lowered_in(Graph& graph, const Value& value, ScalarType type, SignedConstants& made) {
  ConstantPtr& constant = made[value.constant()];
  if (constant == nullptr) constant = lowered(*value.constant(), type);
  return graph.add_constant(constant);
}

bool is_within(const Graph& graph, const Node& quantize, ZeroPoints& zero_points) {
  const Value& levels = *quantize.result();
  const bool is_state =
      std::any_of(graph.buffer_writes().begin(), graph.buffer_writes().end(),
                  [&](const BufferWrite& write) { return write.value == &levels; });
  return is_of_bytes(quantize, zero_points) && levels.output_uses() == 0 && !is_state &&
         std::all_of(levels.users().begin(), levels.users().end(), [&](const Node* user) {
           return user->is(quantized_decomposed::dequantize_per_tensor) &&
                  is_of_bytes(*user, zero_points);
         });
}

void shift(Node& node) {
  const auto set = [&node](ArgHandle name, Argument argument) {
    node.set_argument(static_cast<size_t>(node.op().find_arg(name)), std::move(argument));
  };
  for (const ArgHandle name : kShifted) {
    if (node.op().find_arg(name) < 0) continue;
    set(name, Argument(node.argument(name).as_int() - kShift));
  }
  set(arg::dtype, Argument(ScalarType::kChar));
}

void sign_weight(Graph& graph, Value* weight, ZeroPoints& zero_points, SignedConstants& made) {
  Value* const levels = lowered_in(graph, *weight, ScalarType::kChar, made);
  const std::vector<Node*> users = weight->users();
  for (Node* user : users) {
    shift(*user);
    if (user->op().find_arg(arg::zero_points) < 0) continue;
    Value* const old = user->input(arg::zero_points);
    user->set_argument(static_cast<size_t>(user->op().find_arg(arg::zero_points)),
                       zero_points.of(old->constant()).are_in_the_middle
                           ? Argument()
                           : Argument(lowered_in(graph, *old, old->tensor().dtype, made)));
    if (!old->is_used()) graph.erase_constant(old);
  }
  graph.replace_all_uses(weight, levels);
  graph.erase_constant(weight);
}

}  // namespace

bool sign_levels(Graph& graph, SignedConstants& made) {
  ZeroPoints zero_points(answer_of);
  std::vector<Value*> weights;
  for (Value* constant : graph.constants()) {
    if (is_weight_of_bytes(*constant, zero_points)) weights.push_back(constant);
  }
  for (Value* weight : weights) sign_weight(graph, weight, zero_points, made);
  bool changed = !weights.empty();
  for (Node* node : graph.node_pointers()) {
    if (!node->is(quantized_decomposed::quantize_per_tensor) ||
        !is_within(graph, *node, zero_points)) {
      continue;
    }
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
