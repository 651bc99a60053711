// SPDX-License-Identifier: Apache-2.0
//
// Reductions over some dims.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

// Dims of one loop, of which neighbours that lie densely are one.
struct Loop {
  std::vector<int64_t> sizes, strides;
  int64_t count = 1;

  void add(int64_t size, int64_t stride) {
    count *= size;
    if (size == 1) return;
    if (!sizes.empty() && strides.back() == size * stride) {
      sizes.back() *= size;
      strides.back() = stride;
      return;
    }
    sizes.push_back(size);
    strides.push_back(stride);
  }
};

void bind_loop(KernelCall& call, const std::string& prefix, const char* count, const Loop& loop) {
  call.tokens[prefix + "SIZES"] = list(loop.sizes);
  call.tokens[prefix + "STRIDES"] = list(loop.strides);
  NodeCalls::bind(call, prefix + "RANK", static_cast<int64_t>(loop.sizes.size()));
  NodeCalls::bind(call, count, loop.count);
}

// Which dims of `x` the node reduces; none or an empty list means all.
std::vector<bool> reduced_dims(const Node& node, const Value* x) {
  const size_t rank = x->tensor().rank();
  std::vector<int64_t> dims;
  if (node.op().find_arg(arg::dim) >= 0) dims = ints_of(node.argument(arg::dim));
  std::vector<bool> reduced(rank, dims.empty());
  for (const int64_t dim : dims) {
    if (rank > 0)
      reduced[static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim)] = true;
  }
  return reduced;
}

KernelCall& reduce(const OperatorRow& row, NodeCalls& calls, Arithmetic arithmetic,
                   int64_t* reduced_count) {
  const Value* x = calls.node().input(arg::self);
  const std::vector<bool> reduced = reduced_dims(calls.node(), x);
  const std::vector<int64_t> strides = strides_of(x->tensor());
  Loop outer, inner;
  for (size_t d = 0; d < reduced.size(); ++d) {
    (reduced[d] ? inner : outer).add(x->tensor().sizes[d], strides[d]);
  }
  KernelCall& call = calls.add("kernels/reduce.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, arithmetic);
  NodeCalls::bind_write(call, "OUT", calls.out()->tensor().dtype, arithmetic);
  bind_loop(call, "KEPT_", "KEPT", outer);
  bind_loop(call, "", "REDUCED", inner);
  call.tokens["STEP"] = row.expression;
  call.tokens["FINISH"] = "value";
  call.arguments = {calls.read(x), calls.write(calls.out())};
  *reduced_count = inner.count;
  return call;
}

absl::Status mean(const OperatorRow& row, NodeCalls& calls) {
  int64_t count = 0;
  KernelCall& call = reduce(row, calls, Arithmetic::kDouble, &count);
  call.tokens["START"] = "0.0";
  call.tokens["FINISH"] = absl::StrCat("value / ", number(static_cast<double>(count)));
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"aten::mean.out", mean, "value + x"},
    {"aten::mean.dtype_out", mean, "value + x"},
};

}  // namespace

absl::Span<const OperatorRow> reduction_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
