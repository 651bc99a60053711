// SPDX-License-Identifier: Apache-2.0
//
// Operators of levels of 8 bits (docs/int8.md): no float is in their C, and every bit is that
// of the reference kernels.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/loop_nest.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

std::string number_at(const Node& node, ArgHandle name) {
  return number(node.argument(name).as_int());
}

// The types of input and output, and what the output is held within.
void bind_levels(KernelCall& call, const NodeCalls& calls, const Value* x) {
  call.tokens["IN_TYPE"] = c_type(x->tensor().dtype);
  call.tokens["OUT_TYPE"] = c_type(calls.out()->tensor().dtype);
  const Node& node = calls.node();
  if (node.op().find_arg(arg::least) < 0) return;
  call.tokens["OUT_ZERO"] = number_at(node, arg::zero_point);
  call.tokens["LEAST"] = number_at(node, arg::least);
  call.tokens["MOST"] = number_at(node, arg::most);
}

void bind_factor(KernelCall& call, const Node& node) {
  call.tokens["MULTIPLIER"] = number_at(node, arg::multiplier);
  call.tokens["SHIFT"] = number_at(node, arg::shift);
}

absl::Status table(const OperatorRow& row, NodeCalls& calls) {
  const Value* x = calls.node().input(arg::input);
  KernelCall& call = calls.add("kernels/int8_table.h", row.name());
  bind_levels(call, calls, x);
  call.tokens["FIRST"] = x->tensor().dtype == ScalarType::kChar ? "(-128)" : "0";
  call.arguments = {calls.read(x), calls.read(calls.node().input(arg::table)),
                    calls.write(calls.out()), calls.count(numel_of(calls.out()->tensor()))};
  return absl::OkStatus();
}

// Two tensors that broadcast; in `product` x and y less their zero points.
absl::Status pair(const OperatorRow& row, NodeCalls& calls, const std::string& product) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::self);
  const Value* y = node.input(arg::other);
  const TensorType& type = calls.out()->tensor();
  const Extents sizes = extents_of(type);
  const Extents x_strides = broadcast_strides(x->tensor(), sizes);
  const Extents y_strides = broadcast_strides(y->tensor(), sizes);
  LoopNest nest(2);
  for (size_t d = 0; d < type.rank(); ++d) nest.add(sizes[d], {x_strides[d], y_strides[d]});
  const bool is_dense = nest.is_dense();
  nest.make_not_empty();
  KernelCall& call = calls.add(is_dense ? "kernels/zip.h" : "kernels/zip_broadcast.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kInteger);
  NodeCalls::bind_read(call, "OTHER", y->tensor().dtype, Arithmetic::kInteger);
  NodeCalls::bind_write(call, "OUT", type.dtype, Arithmetic::kInteger);
  call.tokens["EXPRESSION"] =
      absl::StrCat("petrel_level(", product, ", ", number_at(node, arg::shift), ", ",
                   number_at(node, arg::zero_point), ", ", number_at(node, arg::least), ", ",
                   number_at(node, arg::most), ")");
  call.arguments = {calls.read(x), calls.read(y), calls.write(calls.out())};
  if (is_dense) {
    call.arguments.push_back(calls.count(numel_of(type)));
  } else {
    nest.bind_rows(call);
    NodeCalls::bind_list(call, "IN_STRIDES", nest.strides(0));
    NodeCalls::bind_list(call, "OTHER_STRIDES", nest.strides(1));
  }
  return absl::OkStatus();
}

std::string less_zero(const char* name, const Node& node, ArgHandle zero_point) {
  return absl::StrCat("(", name, " - ", number_at(node, zero_point), ")");
}

absl::Status add(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  return pair(row, calls,
              absl::StrCat(less_zero("x", node, arg::self_zero_point), " * ",
                           number_at(node, arg::self_multiplier), " + ",
                           less_zero("y", node, arg::other_zero_point), " * ",
                           number_at(node, arg::other_multiplier)));
}

absl::Status mul(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  return pair(row, calls,
              absl::StrCat(less_zero("x", node, arg::self_zero_point), " * ",
                           less_zero("y", node, arg::other_zero_point), " * ",
                           number_at(node, arg::multiplier)));
}

// input, weight, bias, multiplier, shift, out.
void bind_channels(KernelCall& call, const NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* bias = tensor_of(node.argument(arg::bias));
  call.tokens["IN_ZERO"] = number_at(node, arg::input_zero_point);
  call.arguments = {
      calls.read(node.input(arg::input)),          calls.read(node.input(arg::weight)),
      bias == nullptr ? "NULL" : calls.read(bias), calls.read(node.input(arg::multiplier)),
      calls.read(node.input(arg::shift)),          calls.write(calls.out())};
}

absl::Status linear(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Extents weight = extents_of(node.input(arg::weight)->tensor());
  const Extents sizes = extents_of(calls.out()->tensor());
  Extent rows = 1;
  for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
  KernelCall& call = calls.add("kernels/int8_linear.h", row.name());
  bind_levels(call, calls, node.input(arg::input));
  NodeCalls::bind(call, "ROWS", rows);
  NodeCalls::bind(call, "DEPTH", weight[1]);
  NodeCalls::bind(call, "COLUMNS", weight[0]);
  bind_channels(call, calls);
  return absl::OkStatus();
}

absl::Status matmul(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* a = node.input(arg::self);
  const Value* b = node.input(arg::other);
  const Extents sizes = extents_of(a->tensor());
  const bool batched = sizes.size() == 3;
  KernelCall& call = calls.add("kernels/int8_matmul.h", row.name());
  bind_levels(call, calls, a);
  bind_factor(call, node);
  call.tokens["OTHER_TYPE"] = c_type(b->tensor().dtype);
  call.tokens["IN_ZERO"] = number_at(node, arg::self_zero_point);
  call.tokens["OTHER_ZERO"] = number_at(node, arg::other_zero_point);
  NodeCalls::bind(call, "BATCHES", batched ? sizes[0] : 1);
  NodeCalls::bind(call, "ROWS", sizes[batched]);
  NodeCalls::bind(call, "DEPTH", sizes[batched + 1u]);
  NodeCalls::bind(call, "COLUMNS", extents_of(b->tensor()).back());
  call.arguments = {calls.read(a), calls.read(b), calls.write(calls.out())};
  return absl::OkStatus();
}

// One spatial dim is read as two of which the first is 1.
Extents as_plane(Extents sizes) {
  if (sizes.size() == 3) sizes.insert(sizes.begin() + 2, 1);
  return sizes;
}

void bind_pair(KernelCall& call, const std::string& height, const std::string& width,
               const Argument& argument, bool is_flat, int64_t neutral) {
  std::vector<int64_t> pair = ints_of(argument, is_flat ? 1 : 2);
  if (is_flat) pair.insert(pair.begin(), neutral);
  NodeCalls::bind(call, height, pair[0]);
  NodeCalls::bind(call, width, pair[1]);
}

absl::Status convolution(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const bool is_flat = x->tensor().rank() == 3;
  const Extents in = as_plane(extents_of(x->tensor()));
  const Extents filters = as_plane(extents_of(node.input(arg::weight)->tensor()));
  const Extents out = as_plane(extents_of(calls.out()->tensor()));
  const int64_t groups = node.argument(arg::groups).as_int();
  KernelCall& call = calls.add("kernels/int8_convolution.h", row.name());
  bind_levels(call, calls, x);
  const std::pair<const char*, Extent> sizes[] = {{"BATCH", in[0]},
                                                  {"GROUPS", groups},
                                                  {"CHANNELS", filters[1]},
                                                  {"IN_HEIGHT", in[2]},
                                                  {"IN_WIDTH", in[3]},
                                                  {"FILTERS", filters[0] / groups},
                                                  {"OUT_HEIGHT", out[2]},
                                                  {"OUT_WIDTH", out[3]},
                                                  {"KERNEL_HEIGHT", filters[2]},
                                                  {"KERNEL_WIDTH", filters[3]}};
  for (const auto& [token, size] : sizes) NodeCalls::bind(call, token, size);
  bind_pair(call, "STRIDE_HEIGHT", "STRIDE_WIDTH", node.argument(arg::stride), is_flat, 1);
  bind_pair(call, "PADDING_TOP", "PADDING_LEFT", node.argument(arg::padding), is_flat, 0);
  bind_pair(call, "DILATION_HEIGHT", "DILATION_WIDTH", node.argument(arg::dilation), is_flat, 1);
  bind_channels(call, calls);
  return absl::OkStatus();
}

// What both pools begin with: windows are in lists.
KernelCall& windows(const OperatorRow& row, NodeCalls& calls, const char* source) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const Extents sizes = extents_of(x->tensor());
  const Extents out = extents_of(calls.out()->tensor());
  const size_t last = sizes.size() - 1;
  Extent planes = 1;
  for (size_t d = 0; d + 2 < sizes.size(); ++d) planes *= sizes[d];
  KernelCall& call = calls.add(source, row.name());
  bind_levels(call, calls, x);
  call.tokens["WINDOWS_OF_ROWS"] = list(ints_of(node.argument(arg::rows)));
  call.tokens["WINDOWS_OF_COLUMNS"] = list(ints_of(node.argument(arg::columns)));
  NodeCalls::bind(call, "PLANES", planes);
  NodeCalls::bind(call, "IN_HEIGHT", sizes[last - 1]);
  NodeCalls::bind(call, "IN_WIDTH", sizes[last]);
  NodeCalls::bind(call, "OUT_HEIGHT", out[last - 1]);
  NodeCalls::bind(call, "OUT_WIDTH", out[last]);
  call.arguments = {calls.read(x), calls.write(calls.out())};
  return call;
}

absl::Status average(const OperatorRow& row, NodeCalls& calls) {
  KernelCall& call = windows(row, calls, "kernels/int8_average.h");
  bind_factor(call, calls.node());
  call.tokens["IN_ZERO"] = number_at(calls.node(), arg::input_zero_point);
  return absl::OkStatus();
}

absl::Status max_pool(const OperatorRow& row, NodeCalls& calls) {
  windows(row, calls, "kernels/int8_max_pool.h");
  return absl::OkStatus();
}

absl::Status softmax(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const Split split = split_at(x->tensor(), dim_of(node.argument(arg::dim), x->tensor()));
  KernelCall& call = calls.add("kernels/int8_softmax.h", row.name());
  bind_levels(call, calls, x);
  bind_factor(call, node);
  NodeCalls::bind(call, "OUTER", split.outer);
  NodeCalls::bind(call, "SIZE", split.size);
  NodeCalls::bind(call, "INNER", split.inner);
  call.arguments = {calls.read(x), calls.read(node.input(arg::table)), calls.write(calls.out())};
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"petrel::int8_table.out", table},
    {"petrel::int8_add.out", add},
    {"petrel::int8_mul.out", mul},
    {"petrel::int8_linear.out", linear},
    {"petrel::int8_matmul.out", matmul},
    {"petrel::int8_convolution.out", convolution},
    {"petrel::int8_average.out", fixed(average)},
    {"petrel::int8_max_pool.out", fixed(max_pool)},
    {"petrel::int8_softmax.out", softmax},
};

}  // namespace

absl::Span<const OperatorRow> int8_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
