// SPDX-License-Identifier: Apache-2.0
//
// Between floats and the levels that stand for them, as the reference kernels do it: bit for
// bit eager PyTorch. What lies between them computes with floats; weights stay in their bits
// until they are used.
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

absl::Status missing(const std::string& what) { return absl::UnimplementedError(what); }

std::string real(int64_t value) { return number(static_cast<double>(value)); }

std::string as_float(double value) {
  return number(static_cast<double>(static_cast<float>(value)));
}

std::string rounded_to(ScalarType type, double value) {
  return type == ScalarType::kDouble ? number(value) : as_float(value);
}

// Elements of a node that names levels: of the tensor, or of groups along its middle.
void bind_levels(KernelCall& call, const Node& node) {
  call.tokens["LEAST"] = real(node.argument(arg::quant_min).as_int());
  call.tokens["MOST"] = real(node.argument(arg::quant_max).as_int());
}

// Levels, with a scale and a zero point that are numbers.
absl::Status quantize(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  if (!node.argument(arg::scale).is_number() || !node.argument(arg::zero_point).is_int()) {
    return missing("its scale or zero point is computed from sizes");
  }
  KernelCall& call = calls.add("kernels/quantise.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", calls.out()->tensor().dtype, Arithmetic::kDouble);
  call.tokens["INVERSE"] = as_float(1.0 / node.argument(arg::scale).as_number());
  call.tokens["ZERO_POINT"] = real(node.argument(arg::zero_point).as_int());
  bind_levels(call, node);
  call.arguments = {calls.read(x), calls.write(calls.out()),
                    calls.count(numel_of(calls.out()->tensor()))};
  return absl::OkStatus();
}

absl::Status dequantize(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  if (!node.argument(arg::scale).is_number() || !node.argument(arg::zero_point).is_int()) {
    return missing("its scale or zero point is computed from sizes");
  }
  const ScalarType type = calls.out()->tensor().dtype;
  const std::string rounding = NodeCalls::rounding(type);
  KernelCall& call = calls.add("kernels/map.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", type, Arithmetic::kDouble);
  call.tokens["EXPRESSION"] =
      absl::StrCat(rounding, "(", rounding, "(x) - ", real(node.argument(arg::zero_point).as_int()),
                   ") * ", rounded_to(type, node.argument(arg::scale).as_number()));
  call.arguments = {calls.read(x), calls.write(calls.out()),
                    calls.count(numel_of(calls.out()->tensor()))};
  return absl::OkStatus();
}

// Scales and zero points that are tensors: one each, or of groups.
struct Groups {
  const Value* scales;
  const Value* zeros;  // null where they are 0
  Extent outer = 1, count = 1, inner = 1;
};

Groups one_group(const Node& node) {
  return {node.input(arg::scale), node.input(arg::zero_point), 1, 1,
          numel_of(node.input(arg::input)->tensor())};
}

Groups groups_of_channels(const Node& node) {
  const TensorType& type = node.input(arg::input)->tensor();
  const Split split = split_at(type, dim_of(node.argument(arg::axis), type));
  return {node.input(arg::scales), tensor_of(node.argument(arg::zero_points)), split.outer,
          split.size, split.inner};
}

Groups groups_of_rows(const Node& node) {
  Groups groups = {node.input(arg::scales), node.input(arg::zero_points), 1, 1, 1};
  const Extents sizes = extents_of(node.input(arg::input)->tensor());
  for (size_t d = 0; d + 1 < sizes.size(); ++d) groups.count *= sizes[d];
  groups.inner = sizes.back();
  return groups;
}

absl::StatusOr<KernelCall*> add_groups(const OperatorRow& row, NodeCalls& calls, const char* source,
                                       const Groups& groups) {
  const Value* x = calls.node().input(arg::input);
  const bool is_whole = groups.count == 1;
  for (const Value* value : {x, static_cast<const Value*>(calls.out())}) {
    if (!is_whole && !value->tensor().is_contiguous()) {
      return missing("its elements are not in the order of its sizes");
    }
  }
  KernelCall& call = calls.add(source, row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_read(call, "SCALE", groups.scales->tensor().dtype, Arithmetic::kDouble);
  const Value* zeros = groups.zeros == nullptr ? groups.scales : groups.zeros;
  NodeCalls::bind_read(call, "ZERO", zeros->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", calls.out()->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind(call, "OUTER", groups.outer);
  NodeCalls::bind(call, "COUNT", groups.count);
  NodeCalls::bind(call, "INNER", groups.inner);
  call.arguments = {calls.read(x), calls.read(groups.scales),
                    groups.zeros == nullptr ? "NULL" : calls.read(zeros), calls.write(calls.out())};
  return &call;
}

// A row rounds the sum of steps and zero point, others add it to rounded steps.
absl::Status quantize_groups(const OperatorRow& row, NodeCalls& calls, const Groups& groups,
                             bool is_of_tensor, bool is_of_rows) {
  absl::StatusOr<KernelCall*> made = add_groups(row, calls, "kernels/quantise_groups.h", groups);
  if (!made.ok()) return made.status();
  KernelCall& call = **made;
  bind_levels(call, calls.node());
  const ScalarType type = calls.node().input(arg::input)->tensor().dtype;
  const ScalarType scale = groups.scales->tensor().dtype;
  const bool is_double =
      scale == ScalarType::kDouble || (is_of_rows && type == ScalarType::kDouble);
  const ScalarType steps = is_of_tensor                  ? ScalarType::kFloat
                           : is_of_rows && type == scale ? type
                           : is_double                   ? ScalarType::kDouble
                                                         : ScalarType::kFloat;
  const std::string round = NodeCalls::rounding(steps);
  call.tokens["ROUND"] = round;
  call.tokens["ROUND_IN"] = is_of_tensor ? NodeCalls::rounding(ScalarType::kFloat) : "(double)";
  call.tokens["ROUND_SCALE"] = NodeCalls::rounding(is_of_tensor ? ScalarType::kFloat : scale);
  call.tokens["LEVEL"] = is_of_rows ? absl::StrCat("petrel_rounded(", round, "(steps + zero))")
                                    : absl::StrCat(round, "(petrel_rounded(steps) + zero)");
  return absl::OkStatus();
}

absl::Status dequantize_groups(const OperatorRow& row, NodeCalls& calls, const Groups& groups,
                               bool is_of_tensor) {
  absl::StatusOr<KernelCall*> made = add_groups(row, calls, "kernels/dequantise_groups.h", groups);
  if (!made.ok()) return made.status();
  KernelCall& call = **made;
  const ScalarType levels = calls.node().input(arg::input)->tensor().dtype;
  const ScalarType out = calls.out()->tensor().dtype;
  const ScalarType steps = is_of_tensor ? out : groups.scales->tensor().dtype;
  call.tokens["ROUND"] = NodeCalls::rounding(steps);
  call.tokens["ROUND_IN"] = is_of_tensor ? NodeCalls::rounding(steps) : "(double)";
  call.tokens["ROUND_SCALE"] = is_of_tensor && out != ScalarType::kDouble
                                   ? NodeCalls::rounding(ScalarType::kFloat)
                                   : "(double)";
  // Of one type, the difference is of that type and wraps in it.
  const bool wraps =
      !is_of_tensor && groups.zeros != nullptr && groups.zeros->tensor().dtype == levels;
  call.tokens["WRAP"] =
      wraps ? absl::StrCat("(double)(", c_type(levels), ")petrel_to_integer") : "(double)";
  return absl::OkStatus();
}

absl::Status quantize_by_tensors(const OperatorRow& row, NodeCalls& calls) {
  return quantize_groups(row, calls, one_group(calls.node()), true, false);
}

absl::Status dequantize_by_tensors(const OperatorRow& row, NodeCalls& calls) {
  return dequantize_groups(row, calls, one_group(calls.node()), true);
}

absl::Status quantize_channels(const OperatorRow& row, NodeCalls& calls) {
  return quantize_groups(row, calls, groups_of_channels(calls.node()), false, false);
}

absl::Status dequantize_channels(const OperatorRow& row, NodeCalls& calls) {
  return dequantize_groups(row, calls, groups_of_channels(calls.node()), false);
}

absl::Status quantize_rows(const OperatorRow& row, NodeCalls& calls) {
  return quantize_groups(row, calls, groups_of_rows(calls.node()), false, true);
}

absl::Status dequantize_rows(const OperatorRow& row, NodeCalls& calls) {
  return dequantize_groups(row, calls, groups_of_rows(calls.node()), false);
}

// What levels there are is known, and what they stand for found at run time.
absl::StatusOr<KernelCall*> add_choice(const OperatorRow& row, NodeCalls& calls, const char* source,
                                       double least_step) {
  const Value* x = calls.node().input(arg::input);
  if (!x->tensor().is_contiguous())
    return missing("its elements are not in the order of its sizes");
  KernelCall& call = calls.add(source, row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  call.tokens["ROUND"] = NodeCalls::rounding(x->tensor().dtype);
  call.tokens["LEAST_STEP"] = number(least_step);
  call.arguments = {calls.read(x), calls.write(calls.out(0)), calls.write(calls.out(1))};
  return &call;
}

absl::Status choose(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const auto least_step = static_cast<float>(node.argument(arg::eps).as_number());
  absl::StatusOr<KernelCall*> call =
      add_choice(row, calls, "kernels/choose_levels.h", static_cast<double>(least_step));
  if (!call.ok()) return call.status();
  bind_levels(**call, node);
  (*call)->arguments.push_back(calls.count(numel_of(node.input(arg::input)->tensor())));
  return absl::OkStatus();
}

absl::Status choose_for_rows(const OperatorRow& row, NodeCalls& calls) {
  // A power of 2, in every type.
  constexpr auto kLeastStep = static_cast<double>(std::numeric_limits<float>::epsilon());
  absl::StatusOr<KernelCall*> call =
      add_choice(row, calls, "kernels/choose_levels_of_rows.h", kLeastStep);
  if (!call.ok()) return call.status();
  const Extents sizes = extents_of(calls.node().input(arg::input)->tensor());
  NodeCalls::bind(**call, "ROWS", numel_of(calls.out(0)->tensor()));
  NodeCalls::bind(**call, "COLUMNS", sizes.back());
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"quantized_decomposed::quantize_per_tensor.out", quantize},
    {"quantized_decomposed::dequantize_per_tensor.out", dequantize},
    {"quantized_decomposed::quantize_per_tensor.Tensor_out", quantize_by_tensors},
    {"quantized_decomposed::dequantize_per_tensor.Tensor_out", dequantize_by_tensors},
    {"quantized_decomposed::quantize_per_channel.out", quantize_channels},
    {"quantized_decomposed::dequantize_per_channel.out", dequantize_channels},
    {"quantized_decomposed::quantize_per_token.out", quantize_rows},
    {"quantized_decomposed::dequantize_per_token.out", dequantize_rows},
    {"quantized_decomposed::choose_qparams.Tensor_out", choose},
    {"quantized_decomposed::choose_qparams_per_token_asymmetric.out", choose_for_rows},
};

}  // namespace

absl::Span<const OperatorRow> quantized_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
