// SPDX-License-Identifier: Apache-2.0
//
// Rows of tables of 8, 4 or 2 bits.
#include "exir/emit_c/literal.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

// The expression is of element k of a row, the other one how many of them a byte holds.
absl::Status embedding(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* weight = node.input(arg::weight);
  const Value* scales = node.input(arg::weight_scales);
  const Value* zeros = tensor_of(node.argument(arg::weight_zero_points));
  const Value* indices = node.input(arg::indices);
  if (calls.out()->tensor().numel() == 0) return absl::OkStatus();
  const int64_t width = weight->tensor().sizes[1];
  const int64_t columns = width * (row.integer_expression[0] - '0');
  const Sizes& groups = scales->tensor().sizes;
  KernelCall& call = calls.add("kernels/quantised_rows.h", row.name());
  const Value* typed_zeros = zeros == nullptr ? scales : zeros;
  NodeCalls::bind_read(call, "IN", weight->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_read(call, "SCALE", scales->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_read(call, "ZERO", typed_zeros->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", calls.out()->tensor().dtype, Arithmetic::kDouble);
  call.tokens["INDEX_TYPE"] = c_type(indices->tensor().dtype);
  call.tokens["ROUND"] = NodeCalls::rounding(scales->tensor().dtype);
  call.tokens["EXPRESSION"] = row.expression;
  NodeCalls::bind(call, "COUNT", numel_of(indices->tensor()));
  NodeCalls::bind(call, "SIZE", weight->tensor().sizes[0]);
  NodeCalls::bind(call, "WIDTH", width);
  NodeCalls::bind(call, "COLUMNS", columns);
  NodeCalls::bind(call, "GROUP", groups.size() == 2 ? columns / groups[1] : columns);
  call.arguments = {calls.read(weight), calls.read(scales),
                    zeros == nullptr ? "NULL" : calls.read(zeros), calls.read(indices),
                    calls.write(calls.out())};
  call.can_fail = true;
  return absl::OkStatus();
}

// From the high bits on, and from the low bits on; the smallest is stored as 0.
constexpr char kByte[] = "row[k]";
constexpr char kHalves[] = "((int32_t)row[k / 2] >> (k % 2 == 0 ? 4 : 0) & 15) - 8";
constexpr char kQuarters[] = "((int32_t)row[k / 4] >> k % 4 * 2 & 3) - 2";

constexpr OperatorRow kRows[] = {
    {"quantized_decomposed::embedding_byte.out", embedding, kByte, "1"},
    {"quantized_decomposed::embedding_byte.dtype_out", embedding, kByte, "1"},
    {"quantized_decomposed::embedding_4bit.out", embedding, kHalves, "2"},
    {"quantized_decomposed::embedding_4bit.dtype_out", embedding, kHalves, "2"},
    {"quantized_decomposed::embedding_2bit.out", embedding, kQuarters, "4"},
    {"quantized_decomposed::embedding_2bit.dtype_out", embedding, kQuarters, "4"},
};

}  // namespace

absl::Span<const OperatorRow> quantized_table_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
