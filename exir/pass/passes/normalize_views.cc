// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/normalize_views.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

size_t at(int64_t dim) { return static_cast<size_t>(dim); }

Rewritten view(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes& sizes = node.result()->tensor().sizes;
  if (x->tensor().sizes != sizes && node.argument(arg::size) == Argument(sizes)) {
    return false;
  }
  return done(b, node, b.view(x, sizes));
}

Rewritten to_view(Builder& b, Node& node) {
  return done(b, node, b.view(tensor_at(node, arg::self), node.result()->tensor().sizes));
}

Rewritten reshape(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes& sizes = node.result()->tensor().sizes;
  if (x->tensor().sizes == sizes) return done(b, node, x);
  if (node.argument(arg::shape) == Argument(sizes)) return false;
  return done(b, node, b.call(aten::reshape, {x, sizes}));
}

Rewritten to_reshape(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes& sizes = node.result()->tensor().sizes;
  if (x->tensor().sizes == sizes) return done(b, node, x);
  return done(b, node, b.call(aten::reshape, {x, sizes}));
}

Rewritten to_expand(Builder& b, Node& node) {
  return done(b, node, b.expand(tensor_at(node, arg::self), node.result()->tensor().sizes));
}

Rewritten expand(Builder& b, Node& node) {
  const Sizes& sizes = node.result()->tensor().sizes;
  if (tensor_at(node, arg::self)->tensor().sizes != sizes &&
      node.argument(arg::size) == Argument(sizes) &&
      node.argument(arg::implicit) == Argument(false)) {
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
    std::swap(dims[at(wrap_dim(node.argument(arg::axis0, arg::dim0).as_int(), rank))],
              dims[at(wrap_dim(node.argument(arg::axis1, arg::dim1).as_int(), rank))]);
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

int64_t clamp_index(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
}

Rewritten slice(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = wrap_dim(node.argument(arg::dim).as_int(), x->tensor().rank());
  const int64_t size = x->tensor().sizes[at(dim)];
  if (node.argument(arg::start).is_value() || node.argument(arg::end).is_value() ||
      node.argument(arg::step).is_value()) {
    return false;  // bounds computed at run time
  }
  const int64_t start = node.argument(arg::start).is_none()
                            ? 0
                            : clamp_index(node.argument(arg::start).as_int(), size);
  const int64_t end = node.argument(arg::end).is_none()
                          ? size
                          : clamp_index(node.argument(arg::end).as_int(), size);
  const int64_t stop = std::max(start, end);
  const int64_t step = node.argument(arg::step).as_int();
  const bool normal = node.argument(arg::dim) == Argument(dim) &&
                      node.argument(arg::start) == Argument(start) &&
                      node.argument(arg::end) == Argument(stop);
  const bool whole = start == 0 && stop == size && step == 1;
  if (normal && !whole) return false;
  return done(b, node, b.slice(x, dim, start, stop, step));
}

Rewritten narrow(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = wrap_dim(node.argument(arg::dim).as_int(), x->tensor().rank());
  if (!node.argument(arg::start).is_int() || !node.argument(arg::length).is_int()) return false;
  const int64_t start = clamp_index(node.argument(arg::start).as_int(), x->tensor().sizes[at(dim)]);
  return done(b, node, b.slice(x, dim, start, start + node.argument(arg::length).as_int()));
}

// One element of `dim`, with the dim gone.
BuiltValue element(Builder& b, Value* x, int64_t dim, int64_t index) {
  PETREL_ASSIGN_OR_RETURN(Value * cut, b.slice(x, dim, index, index + 1));
  Sizes sizes = x->tensor().sizes;
  sizes.erase(sizes.begin() + dim);
  return b.view(cut, sizes);
}

Rewritten select(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = wrap_dim(node.argument(arg::dim).as_int(), x->tensor().rank());
  if (!node.argument(arg::index).is_int()) return false;
  const int64_t size = x->tensor().sizes[at(dim)];
  const int64_t index = node.argument(arg::index).as_int();
  return done(b, node, element(b, x, dim, index < 0 ? index + size : index));
}

Rewritten unbind(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = wrap_dim(node.argument(arg::dim).as_int(), x->tensor().rank());
  std::vector<Value*> parts(node.num_results(), nullptr);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!node.result(i)->is_used()) continue;
    PETREL_ASSIGN_OR_RETURN(parts[i], element(b, x, dim, static_cast<int64_t>(i)));
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, parts));
  return true;
}

// The parts [starts[i], starts[i] + size of result i) of dim "dim".
Rewritten cut(Builder& b, Node& node, const Ints& starts) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = wrap_dim(node.argument(arg::dim).as_int(), x->tensor().rank());
  std::vector<Value*> parts(node.num_results(), nullptr);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!node.result(i)->is_used()) continue;
    const int64_t size = node.result(i)->tensor().sizes[at(dim)];
    PETREL_ASSIGN_OR_RETURN(parts[i], b.slice(x, dim, starts[i], starts[i] + size));
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, parts));
  return true;
}

// split, split_with_sizes, chunk: parts without gaps.
Rewritten split(Builder& b, Node& node) {
  const size_t rank = tensor_at(node, arg::self)->tensor().rank();
  const int64_t dim = wrap_dim(node.argument(arg::dim).as_int(), rank);
  Ints starts;
  int64_t start = 0;
  for (size_t i = 0; i < node.num_results(); ++i) {
    starts.push_back(start);
    start += node.result(i)->tensor().sizes[at(dim)];
  }
  return cut(b, node, starts);
}

Rewritten tensor_split_indices(Builder& b, Node& node) {
  const TensorType& type = tensor_at(node, arg::self)->tensor();
  const int64_t dim = wrap_dim(node.argument(arg::dim).as_int(), type.rank());
  Ints starts = {0};
  for (int64_t index : ints_at(node, arg::indices, 1)) {
    starts.push_back(clamp_index(index, type.sizes[at(dim)]));
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
    const Sizes& grid = node.result(i)->tensor().sizes;
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
    PETREL_ASSIGN_OR_RETURN(Value * one, b.expand(tensors[i], node.result(i)->tensor().sizes));
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
    {aten::adjoint, transpose_last_two},
    {aten::movedim_int, movedim},
    {aten::movedim_intlist, movedim},
    {aten::moveaxis_int, movedim},
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
};

constexpr Rewrites kTables[] = {Rewrites(kRows)};

}  // namespace

absl::StatusOr<bool> normalize_views(Graph& graph, const PassContext&) {
  return apply_rewrites(graph, kTables);
}

}  // namespace petrel::exir
