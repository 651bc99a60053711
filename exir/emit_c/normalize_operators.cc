// SPDX-License-Identifier: Apache-2.0
//
// Normalisations.
#include "exir/emit_c/literal.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

std::string optional(NodeCalls& calls, const Value* value) {
  return value == nullptr ? "NULL" : calls.read(value);
}

// All tensors have the input's type, or the node is refused.
absl::Status check_types(const NodeCalls& calls) {
  const ScalarType type = calls.out()->tensor().dtype;
  for (const Value* operand : calls.node().operands()) {
    if (operand->tensor().dtype != type) {
      return absl::UnimplementedError(
          "weights of another type than the input do not exist in C yet");
    }
  }
  return absl::OkStatus();
}

struct Groups {
  Extent groups, count;
  Extent repeated;  // neighbours that share a weight
  Extent cycle;     // groups after which weights begin anew
};

absl::Status normalize(const OperatorRow& row, NodeCalls& calls, const Groups& groups) {
  const absl::Status status = check_types(calls);
  if (!status.ok()) return status;
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  if (numel_of(x->tensor()) == 0) return absl::OkStatus();
  const bool in_floats = calls.is_fast() && x->tensor().dtype == ScalarType::kFloat;
  KernelCall& call =
      calls.add(in_floats ? "kernels/fast_normalize.h" : "kernels/normalize.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind(call, "GROUPS", groups.groups);
  NodeCalls::bind(call, "COUNT", groups.count);
  NodeCalls::bind(call, "REPEATED", groups.repeated);
  NodeCalls::bind(call, "CYCLE", groups.cycle);
  call.tokens["EPSILON"] = number(node.argument(arg::eps).as_number());
  call.arguments = {calls.read(x),
                    optional(calls, tensor_of(node.argument(arg::weight))),
                    optional(calls, tensor_of(node.argument(arg::bias))),
                    calls.write(calls.out(0)),
                    calls.write(calls.out(1)),
                    calls.write(calls.out(2))};
  return absl::OkStatus();
}

absl::Status layer_norm(const OperatorRow& row, NodeCalls& calls) {
  const Extents sizes = extents_of(calls.node().input(arg::input)->tensor());
  const size_t normalized = ints_of(calls.node().argument(arg::normalized_shape)).size();
  Groups groups = {1, 1, 1, 1};
  for (size_t d = 0; d < sizes.size(); ++d) {
    (d + normalized < sizes.size() ? groups.groups : groups.count) *= sizes[d];
  }
  return normalize(row, calls, groups);
}

absl::Status group_norm(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const int64_t group = node.argument(arg::group).as_int();
  const Extent plane = extent_of(node.argument(arg::HxW));
  const Extent per_group = extent_of(node.argument(arg::C)) / group;
  return normalize(row, calls,
                   {extent_of(node.argument(arg::N)) * group, per_group * plane, plane, group});
}

// Results that only training needs have no elements.
absl::Status batch_norm(const OperatorRow& row, NodeCalls& calls) {
  const absl::Status status = check_types(calls);
  if (!status.ok()) return status;
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const Split split = split_at(x->tensor(), 1);
  KernelCall& call = calls.add("kernels/batch_norm.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind(call, "BATCH", split.outer);
  NodeCalls::bind(call, "CHANNELS", split.size);
  NodeCalls::bind(call, "INNER", split.inner);
  call.tokens["EPSILON"] = number(node.argument(arg::eps).as_number());
  call.arguments = {calls.read(x),
                    optional(calls, tensor_of(node.argument(arg::weight))),
                    optional(calls, tensor_of(node.argument(arg::bias))),
                    calls.read(node.input(arg::running_mean)),
                    calls.read(node.input(arg::running_var)),
                    calls.write(calls.out())};
  return absl::OkStatus();
}

// By the mean and the deviation of the input itself.
absl::Status batch_norm_alone(const OperatorRow& row, NodeCalls& calls) {
  const absl::Status status = check_types(calls);
  if (!status.ok()) return status;
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  if (numel_of(x->tensor()) == 0) return absl::OkStatus();
  const Split split = split_at(x->tensor(), 1);
  KernelCall& call = calls.add("kernels/batch_norm_alone.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind(call, "BATCH", split.outer);
  NodeCalls::bind(call, "CHANNELS", split.size);
  NodeCalls::bind(call, "INNER", split.inner);
  call.tokens["EPSILON"] = number(node.argument(arg::eps).as_number());
  call.arguments = {calls.read(x),
                    optional(calls, tensor_of(node.argument(arg::weight))),
                    optional(calls, tensor_of(node.argument(arg::bias))),
                    calls.write(calls.out(0)),
                    calls.write(calls.out(1)),
                    calls.write(calls.out(2))};
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"aten::native_layer_norm.out", layer_norm},
    {"aten::native_group_norm.out", group_norm},
    {"aten::_native_batch_norm_legit_no_training.out", batch_norm},
    {"aten::_native_batch_norm_legit.no_stats_out", batch_norm_alone},
};

}  // namespace

absl::Span<const OperatorRow> normalize_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
