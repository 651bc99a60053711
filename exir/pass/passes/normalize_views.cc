// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/normalize_views.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

size_t at(int64_t dim) { return static_cast<size_t>(dim); }

Rewritten view(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes& sizes = sizes_of(node.result());
  if (!is_always(sizes_of(x), sizes) && holds(node.argument(arg::size), sizes)) {
    return false;
  }
  return done(b, node, b.view(x, sizes));
}

Rewritten to_view(Builder& b, Node& node) {
  return done(b, node, b.view(tensor_at(node, arg::self), sizes_of(node.result())));
}

Rewritten reshape(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes& sizes = sizes_of(node.result());
  if (is_always(sizes_of(x), sizes)) return done(b, node, x);
  if (holds(node.argument(arg::shape), sizes)) return false;
  return done(b, node, b.call(aten::reshape, {x, sizes}));
}

Rewritten to_reshape(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes& sizes = sizes_of(node.result());
  if (is_always(sizes_of(x), sizes)) return done(b, node, x);
  return done(b, node, b.call(aten::reshape, {x, sizes}));
}

Rewritten to_expand(Builder& b, Node& node) {
  return done(b, node, b.expand(tensor_at(node, arg::self), sizes_of(node.result())));
}

Rewritten expand(Builder& b, Node& node) {
  const Sizes& sizes = sizes_of(node.result());
  if (!is_always(sizes_of(tensor_at(node, arg::self)), sizes) &&
      holds(node.argument(arg::size), sizes) && node.argument(arg::implicit) == Argument(false)) {
    return false;
  }
  return to_expand(b, node);
}

Rewritten permuted(Builder& b, Node& node, const Ints& dims) {
  return done(b, node, b.permute(tensor_at(node, arg::self), dims));
}

Rewritten permute(Builder& b, Node& node) {
  const size_t rank = tensor_at(node, arg::self)->tensor().rank();
  Ints dims = ints_at(node, arg::dims, rank);
  for (int64_t& dim : dims) dim = wrap_dim(dim, rank);
  if (dims != all_dims(rank) && node.argument(arg::dims) == Argument(dims)) {
    return false;
  }
  return permuted(b, node, dims);
}

// transpose.int, swapaxes, swapdims and their in-place forms.
Rewritten transpose(Builder& b, Node& node) {
  const size_t rank = tensor_at(node, arg::self)->tensor().rank();
  Ints dims = all_dims(rank);
  if (rank > 0) {
    std::swap(dims[at(wrap_dim(fixed_int(node.argument(arg::axis0, arg::dim0)), rank))],
              dims[at(wrap_dim(fixed_int(node.argument(arg::axis1, arg::dim1)), rank))]);
  }
  return permuted(b, node, dims);
}

// t, numpy_T: all dims reversed.
Rewritten reverse_dims(Builder& b, Node& node) {
  Ints dims = all_dims(tensor_at(node, arg::self)->tensor().rank());
  std::reverse(dims.begin(), dims.end());
  return permuted(b, node, dims);
}

Rewritten transpose_last_two(Builder& b, Node& node) {
  return done(b, node, b.swap_last_two(tensor_at(node, arg::self)));
}

Rewritten movedim(Builder& b, Node& node) {
  const size_t rank = tensor_at(node, arg::self)->tensor().rank();
  if (rank == 0) return done(b, node, tensor_at(node, arg::self));
  Ints from = ints_at(node, arg::source, 1);
  Ints to = ints_at(node, arg::destination, 1);
  Ints dims(rank, -1);
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = wrap_dim(from[i], rank);
    dims[at(wrap_dim(to[i], rank))] = from[i];
  }
  size_t place = 0;
  for (int64_t dim : all_dims(rank)) {
    if (std::find(from.begin(), from.end(), dim) != from.end()) continue;
    while (dims[place] >= 0) ++place;
    dims[place] = dim;
  }
  return permuted(b, node, dims);
}

// From the start and within the size; nullopt where that depends on the size.
std::optional<Size> clamp_index(Size index, const Size& size) {
  if (is_at_most(index, -1)) {
    index += size;
    return is_at_most(index, 0) ? 0 : is_at_least(index, 0) ? std::optional(index) : std::nullopt;
  }
  if (is_at_least(index, size)) return size;
  return is_at_least(index, 0) && is_at_most(index, size) ? std::optional(index) : std::nullopt;
}

// The same of a bound of a slice. One that counts from the start the operator clamps.
std::optional<Size> bound(const Argument& argument, const Size& missing, const Size& size) {
  if (argument.is_none()) return missing;
  const std::optional<Size> clamped = clamp_index(fixed_int(argument), size);
  return clamped || fixed_int(argument) < 0 ? clamped : Size(fixed_int(argument));
}

Rewritten slice(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
  const Size size = sizes_of(x)[at(dim)];
  if (node.argument(arg::start).is_value() || node.argument(arg::end).is_value() ||
      node.argument(arg::step).is_value()) {
    return false;  // bounds computed at run time
  }
  const std::optional<Size> start = bound(node.argument(arg::start), 0, size);
  const std::optional<Size> end = bound(node.argument(arg::end), size, size);
  if (!start || !end) return false;
  if (!is_at_most(*start, *end) && !is_at_least(*start, *end)) return false;
  const Size stop = is_at_most(*start, *end) ? *end : *start;
  const Size step = size_in(node.argument(arg::step));
  const bool normal = node.argument(arg::dim) == Argument(dim) &&
                      holds(node.argument(arg::start), *start) &&
                      holds(node.argument(arg::end), stop);
  const bool whole = start->is(0) && is_always(stop, size) && step.is(1);
  if (normal && !whole) return false;
  return done(b, node, b.slice(x, dim, *start, stop, step));
}

Rewritten narrow(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
  if (!is_size(node.argument(arg::start)) || !is_size(node.argument(arg::length))) return false;
  Size start = size_in(node.argument(arg::start));
  if (is_at_most(start, -1)) start += sizes_of(x)[at(dim)];
  if (!is_at_least(start, 0)) return false;
  return done(b, node, b.slice(x, dim, start, start + size_in(node.argument(arg::length))));
}

// One element of `dim`, with the dim gone.
BuiltValue element(Builder& b, Value* x, int64_t dim, const Size& index) {
  PETREL_ASSIGN_OR_RETURN(Value * cut, b.slice(x, dim, index, index + 1));
  Sizes sizes = sizes_of(x);
  sizes.erase(sizes.begin() + dim);
  return b.view(cut, sizes);
}

Rewritten select(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
  if (!is_size(node.argument(arg::index))) return false;
  Size index = size_in(node.argument(arg::index));
  const Size size = sizes_of(x)[at(dim)];
  if (is_at_most(index, -1)) index += size;
  // One that may lie outside the kernel checks; a slice would be empty there.
  if (!is_at_least(index, 0) || !is_at_most(index + 1, size)) return false;
  return done(b, node, element(b, x, dim, index));
}

Rewritten unbind(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
  std::vector<Value*> parts(node.num_results(), nullptr);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!node.result(i)->is_used()) continue;
    PETREL_ASSIGN_OR_RETURN(parts[i], element(b, x, dim, static_cast<int64_t>(i)));
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, parts));
  return true;
}

// The dim that a node splits: what it says, or its name.
int64_t split_dim(const Node& node) {
  const size_t rank = tensor_at(node, arg::self)->tensor().rank();
  if (node.is(aten::hsplit_int, aten::hsplit_array)) return rank > 1 ? 1 : 0;
  if (node.is(aten::vsplit_int, aten::vsplit_array)) return 0;
  if (node.is(aten::dsplit_int, aten::dsplit_array)) return 2;
  return wrap_dim(fixed_int(node.argument(arg::dim)), rank);
}

// The parts [starts[i], starts[i] + size of result i) of its dim.
Rewritten cut(Builder& b, Node& node, const Sizes& starts) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = split_dim(node);
  std::vector<Value*> parts(node.num_results(), nullptr);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!node.result(i)->is_used()) continue;
    const Size size = sizes_of(node.result(i))[at(dim)];
    PETREL_ASSIGN_OR_RETURN(parts[i], b.slice(x, dim, starts[i], starts[i] + size));
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, parts));
  return true;
}

// split, split_with_sizes, chunk: parts without gaps.
Rewritten split(Builder& b, Node& node) {
  const int64_t dim = split_dim(node);
  Sizes starts;
  Size start = 0;
  for (size_t i = 0; i < node.num_results(); ++i) {
    starts.push_back(start);
    start += sizes_of(node.result(i))[at(dim)];
  }
  return cut(b, node, starts);
}

Rewritten tensor_split_indices(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = split_dim(node);
  Sizes starts = {0};
  for (const Size& index : sizes_in(node.argument(arg::indices), 1)) {
    const std::optional<Size> start = clamp_index(index, sizes_of(x)[at(dim)]);
    if (!start) return false;
    starts.push_back(*start);
  }
  if (starts.size() != node.num_results()) return false;
  return cut(b, node, starts);
}

// Each of the 1-D tensors varies along its own dim of the grid.
Rewritten meshgrid(Builder& b, Node& node) {
  const std::vector<Value*> tensors = node.argument(arg::tensors).values();
  const Argument* indexing = find_argument(node, arg::indexing);
  const bool by_columns =
      indexing != nullptr && *indexing == Argument(std::string("xy")) && tensors.size() > 1;
  std::vector<Value*> grids;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Sizes& grid = sizes_of(node.result(i));
    const size_t dim = by_columns && i < 2 ? 1 - i : i;
    Sizes sizes(grid.size(), 1);
    sizes[dim] = grid[dim];
    PETREL_ASSIGN_OR_RETURN(Value * line, b.view(tensors[i], sizes));
    PETREL_ASSIGN_OR_RETURN(line, b.expand(line, grid));
    grids.push_back(line);
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, grids));
  return true;
}

Rewritten broadcast_tensors(Builder& b, Node& node) {
  const std::vector<Value*> tensors = node.argument(arg::tensors).values();
  std::vector<Value*> made;
  for (size_t i = 0; i < tensors.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * one, b.expand(tensors[i], sizes_of(node.result(i))));
    made.push_back(one);
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, made));
  return true;
}

// diagonal, with other dims where none are given.
Rewritten linalg_diagonal(Builder& b, Node& node) {
  return done(b, node,
              b.call(aten::diagonal, {tensor_at(node, arg::A), node.argument(arg::offset),
                                      node.argument(arg::dim1), node.argument(arg::dim2)}));
}

Rewritten at_least(Builder& b, Node& node) {
  const std::vector<Value*> tensors = node.argument(arg::tensors).values();
  std::vector<Value*> made;
  for (size_t i = 0; i < tensors.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * one, b.view(tensors[i], sizes_of(node.result(i))));
    made.push_back(one);
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, made));
  return true;
}

constexpr Rewrite kRows[] = {
    {aten::view, view},
    {aten::_unsafe_view, to_view},
    {aten::_reshape_alias, to_view},
    {aten::view_as, to_view},
    {aten::unflatten_int, to_view},
    {aten::squeeze, to_view},
    {aten::squeeze_dim, to_view},
    {aten::squeeze_dims, to_view},
    {aten::squeeze_, to_view},
    {aten::squeeze_dim_, to_view},
    {aten::squeeze_dims_, to_view},
    {aten::unsqueeze, to_view},
    {aten::unsqueeze_, to_view},
    {aten::reshape, reshape},
    {aten::reshape_as, to_reshape},
    {aten::flatten_using_ints, to_reshape},
    {aten::ravel, to_reshape},
    {aten::expand, expand},
    {aten::expand_as, to_expand},
    {aten::broadcast_to, to_expand},
    {aten::broadcast_tensors, broadcast_tensors},
    {aten::atleast_1d_Sequence, at_least},
    {aten::atleast_2d_Sequence, at_least},
    {aten::atleast_3d_Sequence, at_least},
    {aten::meshgrid, meshgrid},
    {aten::meshgrid_indexing, meshgrid},
    {aten::permute, permute},
    {aten::transpose_int, transpose},
    {aten::transpose_, transpose},
    {aten::swapaxes, transpose},
    {aten::swapdims, transpose},
    {aten::t, reverse_dims},
    {aten::t_, reverse_dims},
    {aten::numpy_T, reverse_dims},
    {aten::mT, transpose_last_two},
    {aten::mH, transpose_last_two},
    {aten::matrix_H, transpose_last_two},
    {aten::adjoint, transpose_last_two},
    {aten::movedim_int, movedim},
    {aten::movedim_intlist, movedim},
    {aten::moveaxis_int, movedim},
    {aten::moveaxis_intlist, movedim},
    {aten::linalg_diagonal, linalg_diagonal},
    {aten::slice_Tensor, slice},
    {aten::narrow, narrow},
    {aten::select_int, select},
    {aten::unbind_int, unbind},
    {aten::split_Tensor, split},
    {aten::split_sizes, split},
    {aten::split_with_sizes, split},
    {aten::unsafe_split_Tensor, split},
    {aten::unsafe_split_with_sizes, split},
    {aten::chunk, split},
    {aten::unsafe_chunk, split},
    {aten::tensor_split_sections, split},
    {aten::tensor_split_indices, tensor_split_indices},
    {aten::hsplit_int, split},
    {aten::vsplit_int, split},
    {aten::dsplit_int, split},
    {aten::hsplit_array, tensor_split_indices},
    {aten::vsplit_array, tensor_split_indices},
    {aten::dsplit_array, tensor_split_indices},
};

constexpr Rewrites kTables[] = {Rewrites(kRows)};

}  // namespace

absl::StatusOr<bool> normalize_views(Graph& graph, const PassContext&) {
  return apply_rewrites(graph, kTables);
}

}  // namespace petrel::exir
