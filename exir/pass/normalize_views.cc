// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/normalize_views.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "exir/pass/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

size_t at(int64_t dim) { return static_cast<size_t>(dim); }

Rewritten view(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  const Sizes& sizes = node.result()->tensor().sizes;
  if (x->tensor().sizes != sizes && node.argument(1) == Argument(sizes)) {
    return false;
  }
  return done(b, node, b.view(x, sizes));
}

Rewritten to_view(Builder& b, Node& node) {
  return done(b, node, b.view(tensor_at(node, 0), node.result()->tensor().sizes));
}

Rewritten reshape(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  const Sizes& sizes = node.result()->tensor().sizes;
  if (x->tensor().sizes == sizes) return done(b, node, x);
  if (node.argument(1) == Argument(sizes)) return false;
  return done(b, node, b.call("aten.reshape.default", {x, sizes}));
}

Rewritten to_reshape(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  const Sizes& sizes = node.result()->tensor().sizes;
  if (x->tensor().sizes == sizes) return done(b, node, x);
  return done(b, node, b.call("aten.reshape.default", {x, sizes}));
}

Rewritten to_expand(Builder& b, Node& node) {
  return done(b, node, b.expand(tensor_at(node, 0), node.result()->tensor().sizes));
}

Rewritten expand(Builder& b, Node& node) {
  const Sizes& sizes = node.result()->tensor().sizes;
  if (tensor_at(node, 0)->tensor().sizes != sizes && node.argument(1) == Argument(sizes) &&
      node.argument(2) == Argument(false)) {
    return false;
  }
  return to_expand(b, node);
}

Rewritten permuted(Builder& b, Node& node, const Ints& dims) {
  return done(b, node, b.permute(tensor_at(node, 0), dims));
}

Rewritten permute(Builder& b, Node& node) {
  const size_t rank = tensor_at(node, 0)->tensor().rank();
  Ints dims = ints_at(node, "dims", rank);
  for (int64_t& dim : dims) dim = wrap_dim(dim, rank);
  if (dims != all_dims(rank) && node.argument(1) == Argument(dims)) {
    return false;
  }
  return permuted(b, node, dims);
}

// transpose.int, swapaxes, swapdims and their in-place forms.
Rewritten transpose(Builder& b, Node& node) {
  const size_t rank = tensor_at(node, 0)->tensor().rank();
  Ints dims = all_dims(rank);
  if (rank > 0) {
    std::swap(dims[at(wrap_dim(node.argument(1).as_int(), rank))],
              dims[at(wrap_dim(node.argument(2).as_int(), rank))]);
  }
  return permuted(b, node, dims);
}

// t, numpy_T: all dims reversed.
Rewritten reverse_dims(Builder& b, Node& node) {
  Ints dims = all_dims(tensor_at(node, 0)->tensor().rank());
  std::reverse(dims.begin(), dims.end());
  return permuted(b, node, dims);
}

Rewritten transpose_last_two(Builder& b, Node& node) {
  return done(b, node, b.swap_last_two(tensor_at(node, 0)));
}

Rewritten movedim(Builder& b, Node& node) {
  const size_t rank = tensor_at(node, 0)->tensor().rank();
  if (rank == 0) return done(b, node, tensor_at(node, 0));
  Ints from = ints_at(node, "source", 1);
  Ints to = ints_at(node, "destination", 1);
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
  Value* x = tensor_at(node, 0);
  const int64_t dim = wrap_dim(node.argument(1).as_int(), x->tensor().rank());
  const int64_t size = x->tensor().sizes[at(dim)];
  if (node.argument(2).is_value() || node.argument(3).is_value() || node.argument(4).is_value()) {
    return false;  // bounds computed at run time
  }
  const int64_t start =
      node.argument(2).is_none() ? 0 : clamp_index(node.argument(2).as_int(), size);
  const int64_t end =
      node.argument(3).is_none() ? size : clamp_index(node.argument(3).as_int(), size);
  const int64_t stop = std::max(start, end);
  const int64_t step = node.argument(4).as_int();
  const bool normal = node.argument(1) == Argument(dim) && node.argument(2) == Argument(start) &&
                      node.argument(3) == Argument(stop);
  const bool whole = start == 0 && stop == size && step == 1;
  if (normal && !whole) return false;
  return done(b, node, b.slice(x, dim, start, stop, step));
}

Rewritten narrow(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  const int64_t dim = wrap_dim(node.argument(1).as_int(), x->tensor().rank());
  if (!node.argument(2).is_int() || !node.argument(3).is_int()) return false;
  const int64_t start = clamp_index(node.argument(2).as_int(), x->tensor().sizes[at(dim)]);
  return done(b, node, b.slice(x, dim, start, start + node.argument(3).as_int()));
}

// One element of `dim`, with the dim gone.
BuiltValue element(Builder& b, Value* x, int64_t dim, int64_t index) {
  PETREL_ASSIGN_OR_RETURN(Value * cut, b.slice(x, dim, index, index + 1));
  Sizes sizes = x->tensor().sizes;
  sizes.erase(sizes.begin() + dim);
  return b.view(cut, sizes);
}

Rewritten select(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  const int64_t dim = wrap_dim(node.argument(1).as_int(), x->tensor().rank());
  if (!node.argument(2).is_int()) return false;
  const int64_t size = x->tensor().sizes[at(dim)];
  const int64_t index = node.argument(2).as_int();
  return done(b, node, element(b, x, dim, index < 0 ? index + size : index));
}

Rewritten unbind(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  const int64_t dim = wrap_dim(node.argument(1).as_int(), x->tensor().rank());
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
  Value* x = tensor_at(node, 0);
  const int64_t dim = wrap_dim(node.argument("dim").as_int(), x->tensor().rank());
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
  const size_t rank = tensor_at(node, 0)->tensor().rank();
  const int64_t dim = wrap_dim(node.argument("dim").as_int(), rank);
  Ints starts;
  int64_t start = 0;
  for (size_t i = 0; i < node.num_results(); ++i) {
    starts.push_back(start);
    start += node.result(i)->tensor().sizes[at(dim)];
  }
  return cut(b, node, starts);
}

Rewritten tensor_split_indices(Builder& b, Node& node) {
  const TensorType& type = tensor_at(node, 0)->tensor();
  const int64_t dim = wrap_dim(node.argument("dim").as_int(), type.rank());
  Ints starts = {0};
  for (int64_t index : ints_at(node, "indices", 1)) {
    starts.push_back(clamp_index(index, type.sizes[at(dim)]));
  }
  if (starts.size() != node.num_results()) return false;
  return cut(b, node, starts);
}

// Each of the 1-D tensors varies along its own dim of the grid.
Rewritten meshgrid(Builder& b, Node& node) {
  const std::vector<Value*> tensors = node.argument(0).values();
  const bool by_columns = node.arguments().size() > 1 &&
                          node.argument(1) == Argument(std::string("xy")) && tensors.size() > 1;
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
  const std::vector<Value*> tensors = node.argument(0).values();
  std::vector<Value*> made;
  for (size_t i = 0; i < tensors.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * one, b.expand(tensors[i], node.result(i)->tensor().sizes));
    made.push_back(one);
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, made));
  return true;
}

constexpr Rewrite kRows[] = {
    {"aten.view.default", view},
    {"aten._unsafe_view.default", to_view},
    {"aten._reshape_alias.default", to_view},
    {"aten.view_as.default", to_view},
    {"aten.unflatten.int", to_view},
    {"aten.squeeze.default", to_view},
    {"aten.squeeze.dim", to_view},
    {"aten.squeeze.dims", to_view},
    {"aten.squeeze_.default", to_view},
    {"aten.squeeze_.dim", to_view},
    {"aten.squeeze_.dims", to_view},
    {"aten.unsqueeze.default", to_view},
    {"aten.unsqueeze_.default", to_view},
    {"aten.reshape.default", reshape},
    {"aten.reshape_as.default", to_reshape},
    {"aten.flatten.using_ints", to_reshape},
    {"aten.ravel.default", to_reshape},
    {"aten.expand.default", expand},
    {"aten.expand_as.default", to_expand},
    {"aten.broadcast_to.default", to_expand},
    {"aten.broadcast_tensors.default", broadcast_tensors},
    {"aten.meshgrid.default", meshgrid},
    {"aten.meshgrid.indexing", meshgrid},
    {"aten.permute.default", permute},
    {"aten.transpose.int", transpose},
    {"aten.transpose_.default", transpose},
    {"aten.swapaxes.default", transpose},
    {"aten.swapdims.default", transpose},
    {"aten.t.default", reverse_dims},
    {"aten.t_.default", reverse_dims},
    {"aten.numpy_T.default", reverse_dims},
    {"aten.mT.default", transpose_last_two},
    {"aten.adjoint.default", transpose_last_two},
    {"aten.movedim.int", movedim},
    {"aten.movedim.intlist", movedim},
    {"aten.moveaxis.int", movedim},
    {"aten.slice.Tensor", slice},
    {"aten.narrow.default", narrow},
    {"aten.select.int", select},
    {"aten.unbind.int", unbind},
    {"aten.split.Tensor", split},
    {"aten.split.sizes", split},
    {"aten.split_with_sizes.default", split},
    {"aten.unsafe_split.Tensor", split},
    {"aten.unsafe_split_with_sizes.default", split},
    {"aten.chunk.default", split},
    {"aten.unsafe_chunk.default", split},
    {"aten.tensor_split.sections", split},
    {"aten.tensor_split.indices", tensor_split_indices},
};

constexpr Rewrites kTables[] = {Rewrites(kRows)};

}  // namespace

absl::StatusOr<bool> normalize_views(Graph& graph, const PassContext&) {
  return apply_rewrites(graph, kTables);
}

}  // namespace petrel::exir
