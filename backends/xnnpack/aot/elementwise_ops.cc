// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/integer_operands.h"
#include "backends/xnnpack/aot/op_table.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using absl::Status;
using exir::Support;
using IrNode = exir::Node;

// Of the floats that a payload has.
constexpr double kLargest = std::numeric_limits<float>::max();

void bound(Node& node, const Range& range) {
  node.output_min = range.min;
  node.output_max = range.max;
}

// The first tensor in the layout of the result.
absl::StatusOr<uint32_t> self(Lowering& l, const IrNode& node) {
  return l.operand(node.input(arg::self), l.result_layout(node));
}

// The first tensor as f32, for an operator of several nodes.
absl::StatusOr<uint32_t> wide_self(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, self(l, node));
  return l.widened(x);
}

// --- one input ---

template <NodeKind kKind>
Status lower_unary(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, self(l, node));
  l.add_node(kKind, {x}, l.result(node));
  return absl::OkStatus();
}

Status lower_activation(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, self(l, node));
  bound(l.add_node(NodeKind::Clamp, {x}, l.result(node)), *activation_range(node));
  return absl::OkStatus();
}

Support check_activation(const IrNode& node) {
  if (activation_range(node)) return Support::yes();
  return Support::no("its bounds must be numbers, the lower one not above the upper one");
}

Status lower_leaky_relu(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, self(l, node));
  l.add_node(NodeKind::LeakyRelu, {x}, l.result(node)).scalar =
      static_cast<float>(*number_argument(node.argument(arg::negative_slope)));
  return absl::OkStatus();
}

Support check_leaky_relu(const IrNode& node) {
  const auto slope = number_argument(node.argument(arg::negative_slope));
  if (slope && std::fabs(*slope) <= kLargest) return Support::yes();
  return Support::no("negative_slope must be a finite f32");
}

Status lower_elu(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, wide_self(l, node));
  l.add_node(NodeKind::Elu, {x}, l.result(node)).scalar =
      static_cast<float>(*number_argument(node.argument(arg::alpha)));
  return absl::OkStatus();
}

Support check_elu(const IrNode& node) {
  const auto alpha = number_argument(node.argument(arg::alpha));
  if (!alpha || !(*alpha > 0 && *alpha <= kLargest)) {
    return Support::no("alpha must be a positive f32");
  }
  for (exir::ArgHandle name : {arg::scale, arg::input_scale}) {
    const auto value = number_argument(node.argument(name));
    if (!value || *value != 1) return Support::no(absl::StrCat(name.text, " must be 1"));
  }
  return Support::yes();
}

// XNNPACK's of half is two units in the last place off.
Status lower_sigmoid(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, wide_self(l, node));
  l.add_node(NodeKind::Sigmoid, {x}, l.result(node));
  return absl::OkStatus();
}

// x * sigmoid(x).
Status lower_silu(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, wide_self(l, node));
  const uint32_t gate = l.intermediate(l.result_sizes(node));
  l.add_node(NodeKind::Sigmoid, {x}, gate);
  bound(l.add_node(NodeKind::Multiply, {x, gate}, l.result(node)), l.range());
  return absl::OkStatus();
}

// clamp(x + 3, 0, 6) / 6.
Status lower_hardsigmoid(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, wide_self(l, node));
  PETREL_ASSIGN_OR_RETURN(const uint32_t three, l.scalar(3));
  PETREL_ASSIGN_OR_RETURN(const uint32_t sixth, l.scalar(1.0 / 6));
  const uint32_t clamped = l.intermediate(l.result_sizes(node));
  bound(l.add_node(NodeKind::Add, {x, three}, clamped), {0, 6});
  bound(l.add_node(NodeKind::Multiply, {clamped, sixth}, l.result(node)), l.range());
  return absl::OkStatus();
}

Support check_gelu(const IrNode& node) {
  const exir::Argument& approximate = node.argument(arg::approximate);
  if (approximate.is_string() &&
      (approximate.as_string() == "none" || approximate.as_string() == "tanh")) {
    return Support::yes();
  }
  return Support::no("approximate must be 'none' or 'tanh'");
}

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
Status lower_tanh_gelu(Lowering& l, const IrNode& node, uint32_t x) {
  const Extents sizes = l.result_sizes(node);
  const auto binary = [&](NodeKind kind, uint32_t a, uint32_t b) {
    const uint32_t out = l.intermediate(sizes);
    l.add_node(kind, {a, b}, out);
    return out;
  };
  PETREL_ASSIGN_OR_RETURN(const uint32_t half, l.scalar(0.5));
  PETREL_ASSIGN_OR_RETURN(const uint32_t one, l.scalar(1));
  PETREL_ASSIGN_OR_RETURN(const uint32_t linear, l.scalar(std::sqrt(2 / M_PI)));
  PETREL_ASSIGN_OR_RETURN(const uint32_t cubic, l.scalar(0.044715 * std::sqrt(2 / M_PI)));
  const uint32_t square = l.intermediate(sizes);
  l.add_node(NodeKind::Square, {x}, square);
  const uint32_t factor = binary(NodeKind::Add, binary(NodeKind::Multiply, square, cubic), linear);
  const uint32_t inner = binary(NodeKind::Multiply, x, factor);
  const uint32_t tanh = l.intermediate(sizes);
  l.add_node(NodeKind::Tanh, {inner}, tanh);
  const uint32_t gate = binary(NodeKind::Add, tanh, one);
  const uint32_t scaled = binary(NodeKind::Multiply, x, half);
  bound(l.add_node(NodeKind::Multiply, {scaled, gate}, l.result(node)), l.range());
  return absl::OkStatus();
}

Status lower_gelu(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, self(l, node));
  if (node.argument(arg::approximate).as_string() == "tanh") {
    PETREL_ASSIGN_OR_RETURN(const bool is_lowered, lower_gelu_of_integers(l, node));
    return is_lowered ? absl::OkStatus() : lower_tanh_gelu(l, node, l.widened(x));
  }
  l.add_node(NodeKind::Gelu, {x}, l.result(node));
  return absl::OkStatus();
}

// 1 / sqrt(x): in the ExecuTorch wheel ReciprocalSquareRoot makes a NaN of 0 and of
// infinity.
Status lower_rsqrt(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, wide_self(l, node));
  PETREL_ASSIGN_OR_RETURN(const uint32_t one, l.scalar(1));
  const uint32_t root = l.intermediate(l.result_sizes(node));
  l.add_node(NodeKind::SquareRoot, {x}, root);
  bound(l.add_node(NodeKind::Div, {one, root}, l.result(node)), l.range());
  return absl::OkStatus();
}

Support check_pow(const IrNode& node) {
  const auto exponent = number_argument(node.argument(arg::exponent));
  if (exponent && (*exponent == 2 || *exponent == 3 || *exponent == 0.5 || *exponent == -0.5)) {
    return Support::yes();
  }
  return Support::no(absl::StrCat("exponent is ",
                                  exponent ? number_text(*exponent) : "not a number",
                                  ", must be 2, 3, 0.5 or -0.5"));
}

// As PyTorch multiplies.
Status lower_cube(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, wide_self(l, node));
  const uint32_t square = l.intermediate(l.result_sizes(node));
  l.add_node(NodeKind::Square, {x}, square);
  bound(l.add_node(NodeKind::Multiply, {square, x}, l.result(node)), l.range());
  return absl::OkStatus();
}

Status lower_pow(Lowering& l, const IrNode& node) {
  const double exponent = *number_argument(node.argument(arg::exponent));
  if (exponent == 2) return lower_unary<NodeKind::Square>(l, node);
  if (exponent == 3) return lower_cube(l, node);
  if (exponent == 0.5) return lower_unary<NodeKind::SquareRoot>(l, node);
  return lower_rsqrt(l, node);
}

// Below 0 where there are no bounds.
std::optional<double> logit_eps(const IrNode& node) {
  return number_argument(node.argument(arg::eps), -1.0);
}

Support check_logit(const IrNode& node) {
  const auto eps = logit_eps(node);
  if (eps && *eps <= 0.5) return Support::yes();
  return Support::no(
      absl::StrCat("eps is ", eps ? number_text(*eps) : "not a number", ", must be at most 0.5"));
}

// log(x / (1 - x)), of x in [eps, 1 - eps] where there is an eps.
Status lower_logit(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(uint32_t x, wide_self(l, node));
  PETREL_ASSIGN_OR_RETURN(const uint32_t one, l.scalar(1));
  const Extents sizes = l.result_sizes(node);
  if (const auto eps = static_cast<float>(*logit_eps(node)); eps >= 0) {
    const uint32_t inside = l.intermediate(sizes);
    bound(l.add_node(NodeKind::Clamp, {x}, inside), {eps, 1.0f - eps});
    x = inside;
  }
  const uint32_t rest = l.intermediate(sizes);
  const uint32_t odds = l.intermediate(sizes);
  l.add_node(NodeKind::Subtract, {one, x}, rest);
  l.add_node(NodeKind::Div, {x, rest}, odds);
  l.add_node(NodeKind::Log, {odds}, l.result(node));
  return absl::OkStatus();
}

// --- two inputs ---

Support check_binary(const IrNode& node) {
  if (node.op().find_arg(arg::alpha) >= 0) {
    const auto value = number_argument(node.argument(arg::alpha));
    if (!value || !std::isfinite(*value)) return Support::no("alpha must be a finite number");
  }
  if (!node.argument(arg::other).is_value() && !number_argument(node.argument(arg::other))) {
    return Support::no("other must be a tensor or a number");
  }
  return Support::yes();
}

double alpha_of(const IrNode& node) {
  return node.op().find_arg(arg::alpha) < 0 ? 1 : *number_argument(node.argument(arg::alpha));
}

absl::StatusOr<uint32_t> other(Lowering& l, const IrNode& node) {
  const exir::Argument& argument = node.argument(arg::other);
  const double alpha = alpha_of(node);
  if (!argument.is_value()) return l.scalar(*number_argument(argument) * alpha);
  const size_t rank = node.result()->tensor().rank();
  PETREL_ASSIGN_OR_RETURN(const uint32_t id,
                          l.operand(argument.value(), l.result_layout(node), rank));
  if (alpha == 1) return id;
  PETREL_ASSIGN_OR_RETURN(const uint32_t factor, l.scalar(alpha));
  const uint32_t scaled = l.intermediate(l.sizes(id));
  l.add_node(NodeKind::Multiply, {id, factor}, scaled);
  return scaled;
}

template <NodeKind kKind>
Status lower_binary(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const std::optional<BinaryOperands> integers,
                          integer_operands(l, node, kKind));
  if (integers) {
    bound(l.add_node(integers->kind, {integers->a, integers->b}, l.result(node)), l.range());
    return absl::OkStatus();
  }
  const size_t rank = node.result()->tensor().rank();
  PETREL_ASSIGN_OR_RETURN(const uint32_t a,
                          l.operand(node.input(arg::self), l.result_layout(node), rank));
  PETREL_ASSIGN_OR_RETURN(const uint32_t b, other(l, node));
  bound(l.add_node(kKind, {a, b}, l.result(node)), l.range());
  return absl::OkStatus();
}

Support check_prelu(const IrNode& node) {
  if (node.input(arg::weight)->is_constant()) return Support::yes();
  return Support::no("its weight is computed at run time");
}

// A slope for each channel lies along the channels of `x`, which are dim 1 of the IR.
absl::StatusOr<uint32_t> slopes(Lowering& l, const IrNode& node) {
  const exir::Value* weight = node.input(arg::weight);
  const Layout layout = l.result_layout(node);
  const size_t rank = node.result()->tensor().rank();
  const exir::Constant& constant = *weight->constant();
  const int64_t count = constant.type.numel();
  // That of _prelu_kernel has a dim for each of x.
  if (node.is(aten::_prelu_kernel) || count == 1) return l.operand(weight, layout, rank);
  Dims dims = {static_cast<uint32_t>(count)};
  if (layout == Layout::kPlain && rank > 2) dims.resize(rank - 1, 1);
  return l.constant(weight, WeightView::of(constant), dims);
}

// x where x is not below 0, else slope * x.
Status lower_prelu(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, self(l, node));
  PETREL_ASSIGN_OR_RETURN(const uint32_t slope, slopes(l, node));
  l.add_node(NodeKind::PRelu, {x, slope}, l.result(node));
  return absl::OkStatus();
}

constexpr OpRow unary(exir::OpHandle op, Status (*lower)(Lowering&, const IrNode&),
                      Support (*check)(const IrNode&) = &accept) {
  return {op, check, &follows, lower};
}
constexpr OpRow binary(exir::OpHandle op, Status (*lower)(Lowering&, const IrNode&)) {
  return {op, &check_binary, &follows, lower, /*takes_activation=*/true};
}

Support check_cast(const IrNode& node) {
  const exir::Argument& dtype = node.argument(arg::dtype);
  const bool is_known = dtype == exir::Argument(exir::ScalarType::kFloat) ||
                        dtype == exir::Argument(exir::ScalarType::kHalf);
  if (!is_known) return Support::no("it must cast to f32 or f16");
  if (node.input(arg::self)->tensor().dtype == node.result()->tensor().dtype) {
    return Support::no("it casts nothing");
  }
  return node.argument(arg::memory_format).is_none() ? Support::yes()
                                                     : Support::no("memory_format must be none");
}

constexpr OpRow kRows[] = {
    {aten::_to_copy, &check_cast, &follows, &lower_unary<NodeKind::Convert>,
     /*takes_activation=*/false, /*needs_company=*/true},
    unary(aten::abs, &lower_unary<NodeKind::Abs>),
    unary(aten::ceil, &lower_unary<NodeKind::Ceiling>),
    unary(aten::cos, &lower_unary<NodeKind::Cos>),
    unary(aten::exp, &lower_unary<NodeKind::Exp>),
    unary(aten::floor, &lower_unary<NodeKind::Floor>),
    unary(aten::hardswish, &lower_unary<NodeKind::Hardswish>),
    unary(aten::log, &lower_unary<NodeKind::Log>),
    unary(aten::neg, &lower_unary<NodeKind::Negate>),
    unary(aten::rsqrt, &lower_rsqrt),
    unary(aten::sigmoid, &lower_sigmoid),
    unary(aten::sin, &lower_unary<NodeKind::Sin>),
    unary(aten::sqrt, &lower_unary<NodeKind::SquareRoot>),
    unary(aten::tanh, &lower_unary<NodeKind::Tanh>),
    unary(aten::relu, &lower_activation, &check_activation),
    unary(aten::relu6, &lower_activation, &check_activation),
    unary(aten::hardtanh, &lower_activation, &check_activation),
    unary(aten::clamp, &lower_activation, &check_activation),
    unary(aten::leaky_relu, &lower_leaky_relu, &check_leaky_relu),
    unary(aten::elu, &lower_elu, &check_elu),
    unary(aten::gelu, &lower_gelu, &check_gelu),
    unary(aten::pow_Tensor_Scalar, &lower_pow, &check_pow),
    unary(aten::logit, &lower_logit, &check_logit),
    unary(aten::prelu, &lower_prelu, &check_prelu),
    unary(aten::_prelu_kernel, &lower_prelu, &check_prelu),
    {aten::silu, &accept, &follows, &lower_silu, true},
    {aten::hardsigmoid, &accept, &follows, &lower_hardsigmoid, true},
    binary(aten::add_Tensor, &lower_binary<NodeKind::Add>),
    binary(aten::add_Scalar, &lower_binary<NodeKind::Add>),
    binary(aten::sub_Tensor, &lower_binary<NodeKind::Subtract>),
    binary(aten::sub_Scalar, &lower_binary<NodeKind::Subtract>),
    binary(aten::mul_Tensor, &lower_binary<NodeKind::Multiply>),
    binary(aten::mul_Scalar, &lower_binary<NodeKind::Multiply>),
    binary(aten::div_Tensor, &lower_binary<NodeKind::Div>),
    binary(aten::div_Scalar, &lower_binary<NodeKind::Div>),
    {aten::minimum, &check_binary, &follows, &lower_binary<NodeKind::Minimum>},
    {aten::maximum, &check_binary, &follows, &lower_binary<NodeKind::Maximum>},
};

}  // namespace

std::optional<Range> activation_range(const exir::Node& node) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double min = -kInfinity;
  double max = kInfinity;
  if (node.is(aten::relu)) {
    min = 0;
  } else if (node.is(aten::relu6)) {
    min = 0;
    max = 6;
  } else if (node.is(aten::hardtanh, aten::clamp)) {
    const auto low = number_argument(node.argument(arg::min, arg::min_val), -kInfinity);
    const auto high = number_argument(node.argument(arg::max, arg::max_val), kInfinity);
    if (!low || !high) return std::nullopt;
    min = *low;
    max = *high;
  } else {
    return std::nullopt;
  }
  if (!(min <= max)) return std::nullopt;
  return Range{static_cast<float>(min), static_cast<float>(max)};
}

absl::Span<const OpRow> elementwise_ops() { return kRows; }

}  // namespace petrel::backends::xnnpack::aot
