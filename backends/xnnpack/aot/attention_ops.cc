// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"
#include "exir/ops/read_sizes.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using absl::Status;
using exir::Support;
using exir::Value;
using IrNode = exir::Node;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// A causal mask becomes a constant, which must not dwarf the model.
constexpr int64_t kMaxCausalElements = int64_t{1} << 20;

bool is_true(const IrNode& node, exir::ArgHandle name) {
  return node.op().find_arg(name) >= 0 && node.argument(name) == exir::Argument(true);
}

Support check_attention(const IrNode& node) {
  const Extents query = exir::sizes_of(node.input(arg::query));
  const size_t rank = query.size();
  if (rank < 3) return Support::no(absl::StrCat("query has rank ", rank, ", must be 3 or more"));
  for (exir::ArgHandle name : {arg::query, arg::key, arg::value}) {
    const Value* value = node.input(name);
    if (value->is_constant()) return Support::no(absl::StrCat(name.text, " is a constant"));
    const Extents sizes = exir::sizes_of(value);
    if (sizes.size() != rank ||
        !exir::is_always(exir::leading(sizes, 2), exir::leading(query, 2))) {
      return Support::no(absl::StrCat(name.text, " is ", exir::to_string(value->tensor()),
                                      ", must have the leading sizes of query"));
    }
  }
  const auto dropout = number_argument(node.argument(arg::dropout_p));
  if (!dropout || *dropout != 0) return Support::no("dropout_p must be 0");
  if (!number_argument(node.argument(arg::scale), 1.0))
    return Support::no("scale must be a number");
  if (node.argument(arg::scale).is_none() && !fixed(query.back())) {
    return Support::no("its scale depends on sizes that vary");
  }
  if (is_true(node, arg::enable_gqa)) return Support::no("enable_gqa is true");
  const exir::Argument& mask = node.argument(arg::attn_mask);
  if (!is_true(node, arg::is_causal)) return Support::yes();
  if (mask.is_value()) return Support::no("it has a mask and is causal");
  const auto rows = fixed(query[rank - 2]);
  const auto columns = fixed(exir::sizes_of(node.input(arg::key))[rank - 2]);
  if (!rows || !columns) return Support::no("its causal mask depends on sizes that vary");
  if (*rows <= kMaxCausalElements / *columns) return Support::yes();
  return Support::no(absl::StrCat("its causal mask of ", *rows, " x ", *columns, " is too large"));
}

// Row i sees columns up to i.
absl::StatusOr<uint32_t> causal_mask(Lowering& l, size_t rows, size_t columns) {
  PETREL_RETURN_IF_ERROR(
      exir::check_table({static_cast<int64_t>(rows), static_cast<int64_t>(columns)}));
  std::vector<float> mask(rows * columns, 0);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = row + 1; column < columns; ++column) {
      mask[row * columns + column] = -kInfinity;
    }
  }
  return l.floats({}, {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns)}, mask);
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
  PETREL_ASSIGN_OR_RETURN(const uint32_t highest, l.scalar(-l.lowest()));
  const uint32_t low = l.intermediate(l.sizes(mask));
  bounded(l.add_node(NodeKind::Multiply, {mask, quarter}, low), l.lowest(), kInfinity);
  const uint32_t seen = l.intermediate(l.sizes(mask));
  bounded(l.add_node(NodeKind::Add, {low, highest}, seen), 0, 1);
  return seen;
}

// XNNPACK's of half is some units in the last place off.
uint32_t add_softmax(Lowering& l, uint32_t scores, const Extents& sizes) {
  const uint32_t wide = l.widened(scores);
  const uint32_t shares = l.intermediate(sizes);
  l.add_node(NodeKind::Softmax, {wide}, shares);
  return wide == scores ? shares : l.narrowed(shares);
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
  const auto given = number_argument(node.argument(arg::scale));
  const double scale = given ? *given : 1 / std::sqrt(*fixed(l.sizes(q).back()));
  PETREL_ASSIGN_OR_RETURN(const uint32_t factor, l.scalar(scale));
  const uint32_t scaled = l.intermediate(l.sizes(q));
  l.add_node(NodeKind::Multiply, {q, factor}, scaled);

  Extents sizes = l.sizes(q);
  const size_t rank = sizes.size();
  sizes.back() = l.sizes(k)[rank - 2];
  uint32_t scores = l.intermediate(sizes);
  l.add_node(NodeKind::BatchMatrixMultiply, {scaled, k}, scores).flags = kTransposeWeights;
  const auto add_mask = [&](uint32_t mask) -> Node& {
    const uint32_t sum = l.intermediate(sizes);
    const uint32_t before = scores;
    scores = sum;
    return l.add_node(NodeKind::Add, {before, mask}, sum);
  };
  if (is_true(node, arg::is_causal)) {
    PETREL_ASSIGN_OR_RETURN(const uint32_t mask,
                            causal_mask(l, static_cast<size_t>(*fixed(sizes[rank - 2])),
                                        static_cast<size_t>(*fixed(sizes.back()))));
    add_mask(mask);
  }
  uint32_t seen = kNoId;
  if (node.argument(arg::attn_mask).is_value()) {
    PETREL_ASSIGN_OR_RETURN(const uint32_t mask,
                            l.operand(node.input(arg::attn_mask), Layout::kPlain));
    bounded(add_mask(mask), l.lowest(), kInfinity);
    PETREL_ASSIGN_OR_RETURN(seen, seen_by(l, mask));
  }
  uint32_t shares = add_softmax(l, scores, sizes);
  if (seen != kNoId) {
    const uint32_t all = shares;
    shares = l.intermediate(sizes);
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
