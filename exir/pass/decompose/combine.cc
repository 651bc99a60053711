// SPDX-License-Identifier: Apache-2.0
//
// Operators of exir/ops/combine_ops.cc that make tensors of others.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "exir/pass/decompose/decompose.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// Each block between zeros, as rows of the whole width.
Rewritten block_diag(Builder& b, Node& node) {
  const TensorType type = node.result()->tensor();
  const Size columns = sizes_of(node.result())[1];
  std::vector<Value*> rows;
  Size before = 0;
  for (Value* block : node.argument(arg::tensors).values()) {
    Sizes sizes = sizes_of(block);
    sizes.insert(sizes.begin(), 2 - sizes.size(), 1);
    PETREL_ASSIGN_OR_RETURN(block, b.cast(block, type.dtype));
    PETREL_ASSIGN_OR_RETURN(block, b.view(block, sizes));
    const Size after = columns - before - sizes[1];
    PETREL_ASSIGN_OR_RETURN(block, b.call(aten::constant_pad_nd, {block, Sizes{before, after}, 0}));
    rows.push_back(block);
    before += sizes[1];
  }
  return done(b, node, b.call(aten::cat, {rows, 0}));
}

// Every element of each line beside every one of the others; the last changes fastest. Line i is
// seen as [1, n, 1] between the products of the others' lengths: as many dims for any number.
Rewritten cartesian_prod(Builder& b, Node& node) {
  const std::vector<Value*> lines = node.argument(arg::tensors).values();
  if (lines.size() == 1) return done(b, node, lines[0]);
  std::vector<Size> behind(lines.size(), 1);
  for (size_t i = lines.size() - 1; i > 0; --i) behind[i - 1] = behind[i] * sizes_of(lines[i])[0];
  const Size rows = sizes_of(node.result())[0];
  Size before = 1;
  std::vector<Value*> columns;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Size own = sizes_of(lines[i])[0];
    PETREL_ASSIGN_OR_RETURN(Value * column, b.view(lines[i], {1, own, 1}));
    PETREL_ASSIGN_OR_RETURN(column, b.expand(column, {before, own, behind[i]}));
    PETREL_ASSIGN_OR_RETURN(column, b.view(column, {rows, 1}));
    columns.push_back(column);
    before *= own;
  }
  return done(b, node, b.call(aten::cat, {columns, 1}));
}

// [a0, 1, a1, 1] x [1, b0, 1, b1], seen as [a0 b0, a1 b1]
Rewritten kron(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  const size_t rank = node.result()->tensor().rank();
  Value* factors[] = {tensor_at(node, arg::self), tensor_at(node, arg::other)};
  for (size_t i = 0; i < 2; ++i) {
    PETREL_ASSIGN_OR_RETURN(factors[i], b.cast(factors[i], dtype));
    Sizes sizes = sizes_of(factors[i]);
    sizes.insert(sizes.begin(), rank - sizes.size(), 1);
    Sizes spread;
    for (const Size& size : sizes) {
      spread.push_back(i == 0 ? size : Size(1));
      spread.push_back(i == 0 ? Size(1) : size);
    }
    PETREL_ASSIGN_OR_RETURN(factors[i], b.view(factors[i], spread));
  }
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::mul_Tensor, factors[0], factors[1]));
  return done(b, node, b.view(y, sizes_of(node.result())));
}

Rewritten pad_sequence(Builder& b, Node& node) {
  const bool batch_first = node.argument(arg::batch_first) == Argument(true);
  const bool at_the_end = node.argument(arg::padding_side) == Argument(std::string("right"));
  const Size longest = sizes_of(node.result())[batch_first ? 1 : 0];
  std::vector<Value*> parts;
  for (Value* part : node.argument(arg::sequences).values()) {
    Sizes pads(2 * part->tensor().rank(), 0);  // the last dim in front
    pads[pads.size() - (at_the_end ? 1 : 2)] = longest - sizes_of(part)[0];
    PETREL_ASSIGN_OR_RETURN(
        part, b.call(aten::constant_pad_nd, {part, pads, node.argument(arg::padding_value)}));
    parts.push_back(part);
  }
  return done(b, node, b.call(aten::stack, {parts, batch_first ? 0 : 1}));
}

Rewritten diagflat(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {numel_of(x)}));
  return done(b, node, b.call(aten::diag_embed, {x, node.argument(arg::offset)}));
}

Rewritten triangle_indices(Builder& b, Node& node) {
  const int64_t rows = fixed_int(node.argument(arg::row));
  const int64_t columns = fixed_int(node.argument(arg::col));
  const int64_t shift = fixed_int(node.argument(arg::offset));
  const bool is_lower = node.is(aten::tril_indices);
  const int64_t count = sizes_of(node.result())[1];
  PETREL_RETURN_IF_ERROR(check_table({2, count}));
  // Of rows that have a place.
  const int64_t first = is_lower ? std::clamp<int64_t>(-shift, 0, rows) : 0;
  const int64_t last = is_lower ? rows : std::clamp<int64_t>(columns - shift, 0, rows);
  std::vector<double> table;
  std::vector<double> seconds;
  for (int64_t row = first; count > 0 && row < last; ++row) {
    const int64_t below = std::clamp<int64_t>(row + shift + (is_lower ? 1 : 0), 0, columns);
    for (int64_t j = is_lower ? 0 : below; j < (is_lower ? below : columns); ++j) {
      table.push_back(static_cast<double>(row));
      seconds.push_back(static_cast<double>(j));
    }
  }
  table.insert(table.end(), seconds.begin(), seconds.end());
  return done(
      b, node,
      computed_constant(b, "triangle.places", node.result()->tensor().dtype, {2, count}, table));
}

// x on diagonal `offset` of zeros, of rows x columns: its last two dims.
BuiltValue on_diagonal(Builder& b, Value* x, int64_t shift, const Size& rows, const Size& columns) {
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::diag_embed, {x, shift}));
  const Size size = sizes_of(x).back();
  return b.call(aten::constant_pad_nd, {x, Sizes{0, columns - size, 0, rows - size}, 0});
}

// What is on the diagonal from `src`, all else from `self`.
Rewritten diagonal_scatter(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* line = tensor_at(node, arg::src);
  const size_t rank = x->tensor().rank();
  const int64_t shift = fixed_int(node.argument(arg::offset));
  const int64_t first = wrap_dim(fixed_int(node.argument(arg::dim1)), rank);
  const int64_t second = wrap_dim(fixed_int(node.argument(arg::dim2)), rank);
  const Size rows = sizes_of(x)[static_cast<size_t>(first)];
  const Size columns = sizes_of(x)[static_cast<size_t>(second)];
  Ints back(rank);
  Ints order;
  Sizes whole;
  for (int64_t dim : all_dims(rank)) {
    if (dim == first || dim == second) continue;
    order.push_back(dim);
    whole.push_back(sizes_of(x)[static_cast<size_t>(dim)]);
  }
  const Size length =
      smallest(rows + std::min<int64_t>(shift, 0), columns - std::max<int64_t>(shift, 0));
  if (length < 1) return done(b, node, x);
  whole.push_back(length);
  order.insert(order.end(), {first, second});
  for (size_t i = 0; i < rank; ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  PETREL_ASSIGN_OR_RETURN(line, b.cast(line, x->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(line, b.expand(line, whole));
  PETREL_ASSIGN_OR_RETURN(Value * mask,
                          b.call(aten::full, {Sizes{length}, true, ScalarType::kBool}));
  PETREL_ASSIGN_OR_RETURN(mask, on_diagonal(b, mask, shift, rows, columns));
  PETREL_ASSIGN_OR_RETURN(line, on_diagonal(b, line, shift, rows, columns));
  PETREL_ASSIGN_OR_RETURN(x, b.permute(x, order));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::where_self, {mask, line, x}));
  return done(b, node, b.permute(x, back));
}

constexpr Rewrite kRows[] = {
    {aten::pad_sequence, pad_sequence},
    {aten::block_diag, block_diag},
    {aten::cartesian_prod, cartesian_prod},
    {aten::kron, kron},
    {aten::diagflat, diagflat},
    {aten::tril_indices, triangle_indices},
    {aten::triu_indices, triangle_indices},
    {aten::diagonal_scatter, diagonal_scatter},
};

}  // namespace

Rewrites combine_decompositions() { return kRows; }

}  // namespace petrel::exir
