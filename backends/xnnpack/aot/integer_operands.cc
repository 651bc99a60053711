// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/integer_operands.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/format/quantization.h"
#include "backends/xnnpack/format/scale_ratios.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using IrNode = exir::Node;

// A constant operand: levels of one scale.
struct Levels {
  exir::ConstantPtr constant;  // i8
  TensorQuant quant;
};

Levels one_level(int8_t level, float scale) {
  auto constant = std::make_shared<exir::Constant>();
  constant->kind = exir::Constant::Kind::kLiteral;
  constant->type = exir::TensorType::contiguous(exir::ScalarType::kChar, {1});
  constant->data = exir::Blob::owned({static_cast<uint8_t>(level)});
  return {std::move(constant), {scale, 0}};
}

// Sums are closest where the level is high, but ratios of scales have a least value: this
// is twice it. Products take a level of 1.
std::optional<Levels> levels_of_number(double value, NodeKind kind, float output_scale) {
  double level = 1;
  if (kind != NodeKind::Multiply) {
    level = std::clamp(std::floor(std::fabs(value) / (0x1p-9 * output_scale)), 1.0, 127.0);
  }
  const auto scale = static_cast<float>(std::fabs(value) / level);
  if (value == 0) return one_level(0, output_scale);
  if (!check_scale(scale).ok()) return std::nullopt;
  return one_level(static_cast<int8_t>(std::copysign(level, value)), scale);
}

std::optional<Levels> levels_of(const exir::Value* value) {
  const std::optional<StoredWeight> stored = stored_constant(value);
  if (!stored || stored->scales.size() != 1) return std::nullopt;
  return Levels{stored->constant, {stored->scales[0], stored->zero_point}};
}

// Whether XNNPACK has factors for these scales; `second` is null for nodes of one input.
bool are_scales_taken(NodeKind kind, const TensorQuant& first, const TensorQuant* second,
                      const TensorQuant& output) {
  Graph graph;
  Node node;
  node.kind = kind;
  const auto add = [&](const TensorQuant& quant) {
    Value value;
    value.datatype = Datatype::QINT8;
    value.quantization = Quantization::kPerTensor;
    value.quant = quant.params();
    graph.values.push_back(std::move(value));
    return static_cast<uint32_t>(graph.values.size() - 1);
  };
  node.inputs = {add(first)};
  if (second != nullptr) node.inputs.push_back(add(*second));
  node.outputs = {add(output)};
  return check_scale_ratios(graph, node).ok();
}

// `id`, which is of floats, as what levels of `quant` stand for.
uint32_t through_levels(Lowering& l, uint32_t id, const TensorQuant& quant) {
  const uint32_t levels = l.intermediate(Extents(l.sizes(id)));
  l.quantize(levels, quant.params());
  l.add_node(NodeKind::Convert, {id}, levels);
  const uint32_t floats = l.intermediate(Extents(l.sizes(id)));
  l.add_node(NodeKind::Convert, {levels}, floats);
  return floats;
}

absl::StatusOr<uint32_t> add_levels(Lowering& l, const IrNode& node, const Levels& levels) {
  return l.quantized_operand(levels.constant, l.result_layout(node), node.result()->tensor().rank(),
                             levels.quant.params());
}

float level_to_number(int32_t level, const TensorQuant& quant) {
  return static_cast<float>(level - quant.zero_point) * quant.scale;
}

}  // namespace

std::optional<IntegersAround> integers_around(const Lowering& l, const IrNode& node,
                                              const exir::Value* input) {
  const std::optional<TensorQuant> before = quantized_input(input);
  const std::optional<TensorQuant> after = quantized_by_user(l.effective_result(node));
  if (!before || !after) return std::nullopt;
  return IntegersAround{*before, *after};
}

absl::StatusOr<std::optional<BinaryOperands>> integer_operands(Lowering& l, const IrNode& node,
                                                               NodeKind kind) {
  const std::optional<BinaryOperands> none;
  if (kind != NodeKind::Add && kind != NodeKind::Subtract && kind != NodeKind::Multiply &&
      kind != NodeKind::Div) {
    return none;
  }
  if (node.op().find_arg(arg::alpha) >= 0 && *number_argument(node.argument(arg::alpha)) != 1) {
    return none;
  }
  const exir::Value* value = node.input(arg::self);
  const exir::Argument& other = node.argument(arg::other);
  const bool is_first = other.is_value() && levels_of(value).has_value();  // the constant
  if (is_first) value = other.value();
  const std::optional<IntegersAround> around = integers_around(l, node, value);
  if (!around) return none;
  std::optional<Levels> levels;
  if (!other.is_value()) {
    double number = *number_argument(other);
    if (kind == NodeKind::Div) number = 1 / number;
    if (kind == NodeKind::Div) kind = NodeKind::Multiply;
    levels = levels_of_number(number, kind, around->output.scale);
  } else if (kind != NodeKind::Div) {
    levels = levels_of(is_first ? node.input(arg::self) : other.value());
  }
  if (!levels) return none;
  const TensorQuant& first = is_first ? levels->quant : around->input;
  const TensorQuant& second = is_first ? around->input : levels->quant;
  if (!are_scales_taken(kind, first, &second, around->output)) return none;
  PETREL_ASSIGN_OR_RETURN(const uint32_t x,
                          l.operand(value, l.result_layout(node), node.result()->tensor().rank()));
  PETREL_ASSIGN_OR_RETURN(const uint32_t c, add_levels(l, node, *levels));
  return std::make_optional(BinaryOperands{kind, is_first ? c : x, is_first ? x : c});
}

absl::StatusOr<bool> lower_silu_of_integers(Lowering& l, const IrNode& node) {
  const exir::Value* input = node.input(arg::self);
  const std::optional<IntegersAround> around = integers_around(l, node, input);
  if (!around) return false;
  const TensorQuant gate_quant = {1.0f / 255, INT8_MIN};
  // A gate errs by half a level, and is rounded to the right 0 beyond this.
  constexpr float kClosedGate = 6.24f;
  const float largest = std::max(std::min(-level_to_number(INT8_MIN, around->input), kClosedGate),
                                 level_to_number(INT8_MAX, around->input));
  if (largest * gate_quant.scale / 2 > 0.95f * around->output.scale ||
      !are_scales_taken(NodeKind::Multiply, around->input, &gate_quant, around->output)) {
    return false;
  }
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, l.operand(input, l.result_layout(node)));
  const uint32_t gate = l.intermediate(l.result_sizes(node));
  l.add_node(NodeKind::Sigmoid, {x}, gate);
  const uint32_t rounded = through_levels(l, gate, gate_quant);
  Node& product = l.add_node(NodeKind::Multiply, {x, rounded}, l.result(node));
  product.output_min = l.range().min;
  product.output_max = l.range().max;
  return true;
}

// x / 6 has the levels of x; 0.5 is added to it, and the sum is cut at 0 and 1.
absl::StatusOr<bool> lower_hardsigmoid_of_integers(Lowering& l, const IrNode& node) {
  const exir::Value* input = node.input(arg::self);
  const std::optional<IntegersAround> around = integers_around(l, node, input);
  if (!around) return false;
  const Levels sixth = one_level(1, 1.0f / 6);
  const Levels half = one_level(127, 0.5f / 127);
  const TensorQuant divided = {around->input.scale * sixth.quant.scale, around->input.zero_point};
  if (!check_scale(divided.scale).ok() ||
      !are_scales_taken(NodeKind::Multiply, around->input, &sixth.quant, divided) ||
      !are_scales_taken(NodeKind::Add, divided, &half.quant, around->output)) {
    return false;
  }
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, l.operand(input, l.result_layout(node)));
  PETREL_ASSIGN_OR_RETURN(const uint32_t factor, add_levels(l, node, sixth));
  PETREL_ASSIGN_OR_RETURN(const uint32_t summand, add_levels(l, node, half));
  const uint32_t product = l.intermediate(l.result_sizes(node));
  l.add_node(NodeKind::Multiply, {x, factor}, product);
  const uint32_t rounded = through_levels(l, product, divided);
  Node& sum = l.add_node(NodeKind::Add, {rounded, summand}, l.result(node));
  sum.output_min = std::clamp(l.range().min, 0.0f, 1.0f);
  sum.output_max = std::clamp(l.range().max, 0.0f, 1.0f);
  return true;
}

absl::StatusOr<bool> lower_gelu_of_integers(Lowering& l, const IrNode& node) {
  const exir::Value* input = node.input(arg::self);
  const std::optional<IntegersAround> around = integers_around(l, node, input);
  // The two ways to compute it differ by less than 0.0005.
  if (!around || around->output.scale < 0x1p-9f) return false;
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, l.operand(input, l.result_layout(node)));
  l.add_node(NodeKind::Gelu, {x}, l.result(node));
  return true;
}

}  // namespace petrel::backends::xnnpack::aot
