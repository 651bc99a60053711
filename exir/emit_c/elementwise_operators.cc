// SPDX-License-Identifier: Apache-2.0
//
// out[i] = f(x[i]) and out = f(x, y) with broadcasting.
#include "absl/strings/str_cat.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

absl::Status unary(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::self);
  const Value* out = calls.out();
  const bool in_integers =
      !is_floating(x) && !is_floating(out) && row.integer_expression[0] != '\0';
  const Arithmetic arithmetic = in_integers ? Arithmetic::kInteger : Arithmetic::kDouble;
  KernelCall& call = calls.add("kernels/map.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, arithmetic);
  NodeCalls::bind_write(call, "OUT", out->tensor().dtype, arithmetic);
  call.tokens["EXPRESSION"] = in_integers ? row.integer_expression : row.expression;
  call.arguments = {calls.read(x), calls.write(out), number(out->tensor().numel())};
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"aten::relu.out", unary, "x < 0.0 ? 0.0 : x", "x < 0 ? 0 : x"},
};

}  // namespace

absl::Span<const OperatorRow> elementwise_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
