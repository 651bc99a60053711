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

absl::StatusOr<uint32_t> add_levels(Lowering& l, const IrNode& node, const Levels& levels) {
  return l.quantized_operand(levels.constant, l.result_layout(node), node.result()->tensor().rank(),
                             levels.quant.params());
}

float level_to_number(int32_t level, const TensorQuant& quant) {
  return static_cast<float>(level - quant.zero_point) * quant.scale;
}

double nearest_level(double number, const TensorQuant& quant) {
  return std::clamp(std::nearbyint(number / quant.scale) + quant.zero_point, double{INT8_MIN},
                    double{INT8_MAX});
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

absl::StatusOr<bool> lower_gelu_of_integers(Lowering& l, const IrNode& node) {
  const exir::Value* input = node.input(arg::self);
  const std::optional<IntegersAround> around = integers_around(l, node, input);
  if (!around) return false;
  for (int32_t level = INT8_MIN; level <= INT8_MAX; ++level) {
    const double x = level_to_number(level, around->input);
    const double by_tanh =
        x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    const double by_erf = x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    if (nearest_level(by_tanh, around->output) != nearest_level(by_erf, around->output))
      return false;
  }
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, l.operand(input, l.result_layout(node)));
  l.add_node(NodeKind::Gelu, {x}, l.result(node));
  return true;
}

}  // namespace petrel::backends::xnnpack::aot
