// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using absl::Status;
using exir::Sizes;
using exir::Support;
using exir::Value;
using IrNode = exir::Node;

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
// A causal mask becomes a constant, which must not dwarf the model.
constexpr int64_t kMaxCausalElements = int64_t{1} << 20;

bool is_true(const IrNode& node, exir::ArgHandle name) {
  return node.op().find_arg(name) >= 0 && node.argument(name) == exir::Argument(true);
}

Support check_attention(const IrNode& node) {
  const Sizes& query = node.input(arg::query)->tensor().sizes;
  const size_t rank = query.size();
  if (rank < 3) return Support::no(absl::StrCat("query has rank ", rank, ", must be 3 or more"));
  for (exir::ArgHandle name : {arg::query, arg::key, arg::value}) {
    const Value* value = node.input(name);
    if (value->is_constant()) return Support::no(absl::StrCat(name.text, " is a constant"));
    const Sizes& sizes = value->tensor().sizes;
    if (sizes.size() != rank || !std::equal(sizes.begin(), sizes.end() - 2, query.begin())) {
      return Support::no(absl::StrCat(name.text, " is ", exir::to_string(value->tensor()),
                                      ", must have the leading sizes of query"));
    }
  }
  const auto dropout = number_argument(node.argument(arg::dropout_p));
  if (!dropout || *dropout != 0) return Support::no("dropout_p must be 0");
  if (!number_argument(node.argument(arg::scale), 1.0))
    return Support::no("scale must be a number");
  if (is_true(node, arg::enable_gqa)) return Support::no("enable_gqa is true");
  const exir::Argument& mask = node.argument(arg::attn_mask);
  if (!is_true(node, arg::is_causal)) return Support::yes();
  if (mask.is_value()) return Support::no("it has a mask and is causal");
  const int64_t rows = query[rank - 2];
  const int64_t columns = node.input(arg::key)->tensor().sizes[rank - 2];
  if (rows <= kMaxCausalElements / columns) return Support::yes();
  return Support::no(absl::StrCat("its causal mask of ", rows, " x ", columns, " is too large"));
}

// Row i sees columns up to i.
absl::StatusOr<uint32_t> causal_mask(Lowering& l, uint32_t rows, uint32_t columns) {
  std::vector<float> mask(size_t{rows} * columns, 0);
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = row + 1; column < columns; ++column) {
      mask[size_t{row} * columns + column] = -kInfinity;
    }
  }
  return l.floats({rows, columns}, mask);
}

Node& bounded(Node& node, float min, float max) {
  node.output_min = min;
  node.output_max = max;
  return node;
}

// 0 where `mask` is -inf, else 1. A quarter of the lowest number is not the
// lowest number, but a quarter of -inf is -inf.
absl::StatusOr<uint32_t> seen_by(Lowering& l, uint32_t mask) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t quarter, l.scalar(0.25));
  PETREL_ASSIGN_OR_RETURN(const uint32_t highest, l.scalar(-kLowest));
  const uint32_t low = l.intermediate(l.dims(mask));
  bounded(l.add_node(NodeKind::Multiply, {mask, quarter}, low), kLowest, kInfinity);
  const uint32_t seen = l.intermediate(l.dims(mask));
  bounded(l.add_node(NodeKind::Add, {low, highest}, seen), 0, 1);
  return seen;
}

// softmax(query * scale x key^T + mask) x value
//
// A row that sees no column gives zeros: its scores are bounded below, so that
// its softmax is a number, and what is not seen is made zero after it.
Status lower_attention(Lowering& l, const IrNode& node) {
  const Value* query = node.input(arg::query);
  PETREL_ASSIGN_OR_RETURN(uint32_t q, l.operand(query, Layout::kPlain));
  PETREL_ASSIGN_OR_RETURN(const uint32_t k, l.operand(node.input(arg::key), Layout::kPlain));
  PETREL_ASSIGN_OR_RETURN(const uint32_t v, l.operand(node.input(arg::value), Layout::kPlain));
  const double depth = static_cast<double>(query->tensor().sizes.back());
  const double scale = *number_argument(node.argument(arg::scale), 1 / std::sqrt(depth));
  PETREL_ASSIGN_OR_RETURN(const uint32_t factor, l.scalar(scale));
  const uint32_t scaled = l.intermediate(l.dims(q));
  l.add_node(NodeKind::Multiply, {q, factor}, scaled);

  Dims dims = l.dims(q);
  dims.back() = l.dims(k)[dims.size() - 2];
  const uint32_t rows = dims[dims.size() - 2];
  uint32_t scores = l.intermediate(dims);
  l.add_node(NodeKind::BatchMatrixMultiply, {scaled, k}, scores).flags = kTransposeWeights;
  const auto add_mask = [&](uint32_t mask) -> Node& {
    const uint32_t sum = l.intermediate(dims);
    const uint32_t before = scores;
    scores = sum;
    return l.add_node(NodeKind::Add, {before, mask}, sum);
  };
  if (is_true(node, arg::is_causal)) {
    PETREL_ASSIGN_OR_RETURN(const uint32_t mask, causal_mask(l, rows, dims.back()));
    add_mask(mask);
  }
  uint32_t seen = kNoId;
  if (node.argument(arg::attn_mask).is_value()) {
    PETREL_ASSIGN_OR_RETURN(const uint32_t mask,
                            l.operand(node.input(arg::attn_mask), Layout::kPlain));
    bounded(add_mask(mask), kLowest, kInfinity);
    PETREL_ASSIGN_OR_RETURN(seen, seen_by(l, mask));
  }
  uint32_t shares = l.intermediate(dims);
  l.add_node(NodeKind::Softmax, {scores}, shares);
  if (seen != kNoId) {
    const uint32_t all = shares;
    shares = l.intermediate(dims);
    l.add_node(NodeKind::Multiply, {all, seen}, shares);
  }
  l.add_node(NodeKind::BatchMatrixMultiply, {shares, v}, l.result(node));
  return absl::OkStatus();
}

constexpr OpRow kRows[] = {
    {aten::scaled_dot_product_attention, &check_attention, &plain, &lower_attention},
};

}  // namespace

absl::Span<const OpRow> attention_ops() { return kRows; }

}  // namespace petrel::backends::xnnpack::aot
