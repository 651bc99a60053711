// SPDX-License-Identifier: Apache-2.0
//
// Between floats and the levels that stand for them, as the reference kernels do it: bit for
// bit eager PyTorch. What lies between them computes with floats; weights stay in their bits
// until they are used.
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

absl::Status missing(const std::string& what) { return absl::UnimplementedError(what); }

absl::Status check_numbers(const Node& node) {
  const bool known =
      node.argument(arg::scale).is_number() && node.argument(arg::zero_point).is_int();
  return known ? absl::OkStatus() : missing("its scale or zero point is found at run time");
}

absl::Status check_f32(const Value* value, const char* what) {
  if (value->tensor().dtype == ScalarType::kFloat) return absl::OkStatus();
  return missing(absl::StrCat(what, " is ", std::string(scalar_type_name(value->tensor().dtype)),
                              ", must be f32"));
}

double zero_point_of(const Node& node) {
  return static_cast<double>(node.argument(arg::zero_point).as_int());
}

absl::Status quantize(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  for (const absl::Status& status : {check_numbers(node), check_f32(x, "what it quantises")}) {
    if (!status.ok()) return status;
  }
  KernelCall& call = calls.add("kernels/quantise.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", calls.out()->tensor().dtype, Arithmetic::kDouble);
  const double inverse = 1.0 / node.argument(arg::scale).as_number();
  call.tokens["INVERSE"] = number(static_cast<double>(static_cast<float>(inverse)));
  call.tokens["ZERO_POINT"] = number(zero_point_of(node));
  call.tokens["LEAST"] = number(static_cast<double>(node.argument(arg::quant_min).as_int()));
  call.tokens["MOST"] = number(static_cast<double>(node.argument(arg::quant_max).as_int()));
  call.arguments = {calls.read(x), calls.write(calls.out()),
                    calls.count(numel_of(calls.out()->tensor()))};
  return absl::OkStatus();
}

absl::Status dequantize(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  for (const absl::Status& status : {check_numbers(node), check_f32(calls.out(), "its result")}) {
    if (!status.ok()) return status;
  }
  const auto scale = static_cast<float>(node.argument(arg::scale).as_number());
  KernelCall& call = calls.add("kernels/map.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", calls.out()->tensor().dtype, Arithmetic::kDouble);
  call.tokens["EXPRESSION"] =
      absl::StrCat("(double)(float)((double)(float)x - ", number(zero_point_of(node)), ") * ",
                   number(static_cast<double>(scale)));
  call.arguments = {calls.read(x), calls.write(calls.out()),
                    calls.count(numel_of(calls.out()->tensor()))};
  return absl::OkStatus();
}

absl::Status dequantize_channels(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const Value* scales = node.input(arg::scales);
  if (!node.argument(arg::zero_points).is_none()) return missing("its channels have zero points");
  for (const absl::Status& status :
       {check_f32(scales, "its scales"), check_f32(calls.out(), "its result")}) {
    if (!status.ok()) return status;
  }
  if (!x->tensor().is_contiguous())
    return missing("its elements are not in the order of its sizes");
  const Split split = split_at(x->tensor(), dim_of(node.argument(arg::axis), x->tensor()));
  KernelCall& call = calls.add("kernels/dequantise_channels.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_read(call, "SCALE", scales->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", calls.out()->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind(call, "OUTER", split.outer);
  NodeCalls::bind(call, "CHANNELS", split.size);
  NodeCalls::bind(call, "INNER", split.inner);
  call.arguments = {calls.read(x), calls.read(scales), calls.write(calls.out())};
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"quantized_decomposed::quantize_per_tensor.out", quantize},
    {"quantized_decomposed::dequantize_per_tensor.out", dequantize},
    {"quantized_decomposed::dequantize_per_channel.out", dequantize_channels},
};

}  // namespace

absl::Span<const OperatorRow> quantized_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
