// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and pools.
#include <vector>

#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

// One spatial dim is read as two of which the first is 1.
Sizes as_plane(Sizes sizes) {
  if (sizes.size() == 3) sizes.insert(sizes.begin() + 2, 1);
  return sizes;
}

// One number per direction; where there is one dim, `neutral` for the other.
void bind_pair(KernelCall& call, const std::string& height, const std::string& width,
               const Argument& argument, bool flat, int64_t neutral) {
  std::vector<int64_t> pair = ints_of(argument, flat ? 1 : 2);
  if (flat) pair.insert(pair.begin(), neutral);
  NodeCalls::bind(call, height, pair[0]);
  NodeCalls::bind(call, width, pair[1]);
}

void bind_sizes(KernelCall& call, const Sizes& in, const Sizes& out) {
  NodeCalls::bind(call, "IN_HEIGHT", in[in.size() - 2]);
  NodeCalls::bind(call, "IN_WIDTH", in[in.size() - 1]);
  NodeCalls::bind(call, "OUT_HEIGHT", out[out.size() - 2]);
  NodeCalls::bind(call, "OUT_WIDTH", out[out.size() - 1]);
}

absl::Status convolution(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const Value* weight = node.input(arg::weight);
  const Value* bias = tensor_of(node.argument(arg::bias));
  const bool flat = x->tensor().rank() == 3;
  const Sizes in = as_plane(x->tensor().sizes);
  const Sizes filters = as_plane(weight->tensor().sizes);
  const Sizes out = as_plane(calls.out()->tensor().sizes);
  if (node.argument(arg::transposed).as_bool()) {
    return absl::UnimplementedError("transposed convolutions do not exist in C yet");
  }
  KernelCall& call = calls.add("kernels/convolution.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", x->tensor().dtype, Arithmetic::kDouble);
  bind_sizes(call, in, out);
  NodeCalls::bind(call, "BATCH", in[0]);
  NodeCalls::bind(call, "GROUPS", node.argument(arg::groups).as_int());
  NodeCalls::bind(call, "CHANNELS", filters[1]);
  NodeCalls::bind(call, "OUT_CHANNELS", out[1]);
  NodeCalls::bind(call, "KERNEL_HEIGHT", filters[2]);
  NodeCalls::bind(call, "KERNEL_WIDTH", filters[3]);
  bind_pair(call, "STRIDE_HEIGHT", "STRIDE_WIDTH", node.argument(arg::stride), flat, 1);
  bind_pair(call, "PADDING_TOP", "PADDING_LEFT", node.argument(arg::padding), flat, 0);
  bind_pair(call, "DILATION_HEIGHT", "DILATION_WIDTH", node.argument(arg::dilation), flat, 1);
  call.arguments = {calls.read(x), calls.read(weight), bias == nullptr ? "NULL" : calls.read(bias),
                    calls.write(calls.out())};
  return absl::OkStatus();
}

// Of all dims but the last two.
int64_t planes_of(const Sizes& sizes) {
  int64_t planes = 1;
  for (size_t d = 0; d + 2 < sizes.size(); ++d) planes *= sizes[d];
  return planes;
}

absl::Status max_pool(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::self);
  const Argument& stride = node.argument(arg::stride);
  KernelCall& call = calls.add("kernels/max_pool.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind(call, "PLANES", planes_of(x->tensor().sizes));
  bind_sizes(call, x->tensor().sizes, calls.out()->tensor().sizes);
  const Argument& kernel = node.argument(arg::kernel_size);
  bind_pair(call, "KERNEL_HEIGHT", "KERNEL_WIDTH", kernel, false, 1);
  bind_pair(call, "STRIDE_HEIGHT", "STRIDE_WIDTH", ints_of(stride).empty() ? kernel : stride, false,
            1);
  bind_pair(call, "PADDING_TOP", "PADDING_LEFT", node.argument(arg::padding), false, 0);
  bind_pair(call, "DILATION_HEIGHT", "DILATION_WIDTH", node.argument(arg::dilation), false, 1);
  call.arguments = {calls.read(x), calls.write(calls.out(0)), calls.write(calls.out(1))};
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"aten::convolution.out", convolution},
    {"aten::max_pool2d_with_indices.out", max_pool},
};

}  // namespace

absl::Span<const OperatorRow> window_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
