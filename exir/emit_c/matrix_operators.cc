// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

struct Shape {
  Extent batches, rows, depth, columns;
  bool transposed = false;  // the second matrix is [columns, depth]
};

constexpr char kColumns[] = "kernels/product_columns.h";
constexpr char kNarrow[] = "kernels/product_narrow.h";
constexpr char kRow[] = "kernels/product_row.h";

// Whether it is a kernel that computes several columns at once.
bool takes_columns_at_once(const KernelCall& call) {
  return call.source == kColumns || call.source == kNarrow || call.source == kRow;
}

// Whether one row meets a matrix whose columns fill vectors, and sums of all of them fit on the
// stack. Precondition: columns can be computed side by side.
bool is_one_row(const NodeCalls& calls, const Shape& shape) {
  constexpr int64_t kMostColumns = 4096;
  const int64_t lanes = calls.is_fast() ? NodeCalls::kWideLanes : NodeCalls::kMostLanes;
  return shape.batches == 1 && shape.rows == 1 && shape.depth.is_number() &&
         shape.columns.is_number() && shape.columns.number() % lanes == 0 &&
         shape.columns.number() <= kMostColumns &&
         shape.depth.number() * shape.columns.number() <= INT32_MAX;
}

// Whether columns of floats can be computed side by side: as many as a processor takes at once
// are there, whatever the sizes of a call are.
bool has_columns_at_once(const Value* a, const Shape& shape) {
  return is_floating(a) && !shape.transposed && shape.rows.range().low >= 1 &&
         shape.columns.range().low >= NodeCalls::kMostLanes;
}

// Whether there are fewer, but more than one.
bool is_narrow(const Value* a, const Shape& shape) {
  return is_floating(a) && !shape.transposed && shape.columns.is_number() &&
         shape.columns.number() > 1 && shape.columns.number() < NodeCalls::kMostLanes;
}

// How many rows are computed at once, and how many of them, and how much of their depth, the stack
// holds as numbers of the type of sums. A panel of columns is worth as many where three tiles share
// it.
void bind_tile(KernelCall& call, const Shape& shape) {
  constexpr int64_t kMostRows = 4, kMostHeld = 2048, kMostDeep = 256, kPanel = 64;
  const int64_t tile = std::min(shape.rows.range().low, kMostRows);
  const int64_t deep = std::clamp<int64_t>(shape.depth.range().high, 1, kMostDeep);
  const bool is_fixed = shape.rows.is_number() && shape.depth.is_number();
  const bool is_held =
      is_fixed && shape.depth.number() <= kMostDeep && shape.rows.number() <= kMostHeld / deep;
  const int64_t held = is_held ? std::max(shape.rows.number(), tile) : tile;
  NodeCalls::bind(call, "TILE", tile);
  NodeCalls::bind(call, "LEAST_COLUMNS", shape.columns.range().low);
  NodeCalls::bind(call, "HELD", held);
  NodeCalls::bind(call, "PART", deep);
  NodeCalls::bind(call, "HAS_PANEL", is_fixed && deep <= kPanel && held >= 3 * tile ? 1 : 0);
}

// The element of the bias that belongs to an output, as the kernel has it.
std::string bias_text(const KernelCall& call) {
  if (!takes_columns_at_once(call)) return "b";
  return absl::StrCat(call.tokens.at("LOAD_SUM"), "(bias[r * ", call.tokens.at("BIAS_ROW_STRIDE"),
                      " + c * ", call.tokens.at("BIAS_COLUMN_STRIDE"), "])");
}

// Whether many elements are 0: of what cuts off numbers below it, also where that is viewed or
// pooled.
bool has_many_zeros(const Value* value) {
  constexpr int kMostSteps = 4;
  for (int step = 0; step < kMostSteps && value->producer() != nullptr; ++step) {
    const Node& node = *value->producer();
    if (node.is(aten::relu, aten::relu6, aten::hardtanh, aten::clamp)) return true;
    const bool passes =
        node.op().has(kView) || node.op().has(kIdentity) || node.is(aten::max_pool2d_with_indices);
    if (!passes || node.operands().empty() || !node.operands()[0]->type().is_tensor()) return false;
    value = node.operands()[0];
  }
  return false;
}

KernelCall& product(NodeCalls& calls, const OperatorRow& row, const Value* a, const Value* b,
                    const Value* bias, const Shape& shape) {
  const bool in_doubles = is_floating(a);
  const bool at_once = has_columns_at_once(a, shape);
  const Arithmetic arithmetic = in_doubles ? Arithmetic::kDouble : Arithmetic::kModular;
  const bool in_row = at_once && is_one_row(calls, shape);
  const bool narrow = is_narrow(a, shape);
  KernelCall& call = calls.add(in_row            ? kRow
                               : narrow          ? kNarrow
                               : at_once         ? kColumns
                               : bias == nullptr ? "kernels/product.h"
                                                 : "kernels/product_bias.h",
                               row.name());
  NodeCalls::bind_read(call, "IN", a->tensor().dtype, arithmetic);
  NodeCalls::bind_write(call, "OUT", calls.out()->tensor().dtype, arithmetic);
  if (narrow) calls.bind_sums(call, a->tensor().dtype, false);
  if (at_once) {
    calls.bind_sums(call, a->tensor().dtype, shape.columns.range().low >= NodeCalls::kWideLanes);
    bind_tile(call, shape);
    if (in_row) {
      constexpr int64_t kMostKept = 1024;
      NodeCalls::bind(call, "PART", std::clamp<int64_t>(shape.depth.number(), 1, kMostKept));
      NodeCalls::bind(call, "LEAVES_ZEROS", calls.is_finite(b) && has_many_zeros(a) ? 1 : 0);
    }
  }
  NodeCalls::bind(call, "BATCHES", shape.batches);
  NodeCalls::bind(call, "ROWS", shape.rows);
  NodeCalls::bind(call, "DEPTH", shape.depth);
  NodeCalls::bind(call, "COLUMNS", shape.columns);
  NodeCalls::bind(call, "DEPTH_STRIDE", shape.transposed ? Extent(1) : shape.columns);
  NodeCalls::bind(call, "COLUMN_STRIDE", shape.transposed ? shape.depth : Extent(1));
  call.tokens["FINISH"] = "sum";
  call.arguments = {calls.read(a), calls.read(b)};
  if (bias != nullptr) call.arguments.push_back(calls.read(bias));
  if (bias == nullptr && takes_columns_at_once(call)) call.arguments.push_back("NULL");
  call.arguments.push_back(calls.write(calls.out()));
  return call;
}

absl::Status mm(const OperatorRow& row, NodeCalls& calls) {
  const Value* a = calls.node().input(arg::self);
  const Value* b = calls.node().input(arg::mat2);
  const Extents sizes = extents_of(a->tensor());
  const bool batched = sizes.size() == 3;
  product(calls, row, a, b, nullptr,
          {batched ? sizes[0] : 1, sizes[batched], sizes[batched + 1u],
           extents_of(b->tensor()).back()});
  return absl::OkStatus();
}

// "sum" times `factor`, as it is where that is 1.
std::string scaled(const std::string& what, const Argument& factor, const KernelCall& call) {
  if (factor.as_number() == 1) return what;
  const bool in_columns = takes_columns_at_once(call);
  const std::string text =
      in_columns ? absl::StrCat("(", call.tokens.at("SUM_TYPE"), ")", number(factor.as_number()))
      : call.tokens.at("ARITHMETIC") == "double"
          ? number(factor.as_number())
          : absl::StrCat("(uint64_t)", number(factor.as_int()));
  return absl::StrCat(text, " * ", what);
}

absl::Status addmm(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* bias = node.input(arg::self);
  const Value* a = node.input(arg::mat1);
  const Value* b = node.input(arg::mat2);
  const Argument& alpha = node.argument(arg::alpha);
  const Argument& beta = node.argument(arg::beta);
  const Extents sizes = extents_of(a->tensor());
  // Eager multiplies halves by 0, but leaves out products of others.
  const bool has_product = alpha.as_number() != 0 || item_size(a->tensor().dtype) == 2;
  const Shape shape = {1, sizes[0], has_product ? sizes[1] : Extent(0), extents_of(b->tensor())[1]};
  // A bias that does not count may hold NaN.
  if (beta.as_number() == 0) {
    KernelCall& call = product(calls, row, a, b, nullptr, shape);
    call.tokens["FINISH"] = scaled("sum", alpha, call);
    return absl::OkStatus();
  }
  KernelCall& call = product(calls, row, a, b, bias, shape);
  const Extents repeated = extents_of(bias->tensor());
  const size_t rank = repeated.size();
  const bool has_columns = rank >= 1 && repeated[rank - 1] != 1;
  const bool has_rows = rank == 2 && repeated[0] != 1;
  NodeCalls::bind(call, "BIAS_COLUMN_STRIDE", has_columns ? 1 : 0);
  NodeCalls::bind(call, "BIAS_ROW_STRIDE", has_rows ? repeated[1] : Extent(0));
  call.tokens["FINISH"] =
      absl::StrCat(scaled("sum", alpha, call), " + ", scaled(bias_text(call), beta, call));
  return absl::OkStatus();
}

absl::Status linear(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const Value* weight = node.input(arg::weight);
  const Value* bias = tensor_of(node.argument(arg::bias));
  const Extents filters = extents_of(weight->tensor());
  const Extent& columns = filters[0];
  const Extent& depth = filters[1];
  Extent rows = 1;
  const Extents sizes = extents_of(calls.out()->tensor());
  for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
  KernelCall& call = product(calls, row, x, weight, bias, {1, rows, depth, columns, true});
  if (bias == nullptr) return absl::OkStatus();
  NodeCalls::bind(call, "BIAS_COLUMN_STRIDE", 1);
  NodeCalls::bind(call, "BIAS_ROW_STRIDE", 0);
  call.tokens["FINISH"] = "sum + b";
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"aten::mm.out", mm},
    {"aten::bmm.out", mm},
    {"aten::addmm.out", addmm},
    {"aten::linear.out", linear},
};

}  // namespace

absl::Span<const OperatorRow> matrix_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
