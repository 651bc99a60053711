// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/update_state.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/pass/framework/builder.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/pass/framework/rewrite_dynamic.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// The partial writes between `write.buffer` and `write.value`; none when the
// value is made in another way.
std::vector<Node*> partial_writes(const BufferWrite& write) {
  std::vector<Node*> found;
  const Value* value = write.value;
  while (value != write.buffer) {
    Node* made_by = value->producer();
    if (made_by == nullptr || made_by->arguments().empty() || !made_by->arguments()[0].is_value()) {
      return {};
    }
    const OpInfo& op = made_by->op();
    if (op.is(aten::slice_scatter, aten::index_put)) {
      found.push_back(made_by);
    } else if (!op.has(kView)) {
      return {};
    }
    value = made_by->arguments()[0].value();
  }
  return found;
}

// The first and the last but one element of the slice, cut to the dim.
std::pair<int64_t, int64_t> bounds_of(const Node& node, int64_t size) {
  const auto place = [&](ArgHandle name, int64_t otherwise) {
    const Argument& argument = node.argument(name);
    if (!argument.is_int()) return otherwise;
    const int64_t at = argument.as_int();
    const int64_t counted = at < 0 ? at + size : at;
    return counted < 0 ? int64_t{0} : counted > size ? size : counted;
  };
  return {place(arg::start, 0), place(arg::end, size)};
}

absl::StatusOr<bool> slice_as_index_put(Graph& graph, Node* node) {
  Value* self = tensor_at(*node, arg::self);
  Value* source = tensor_at(*node, arg::src);
  const int64_t dim = wrap_dim(node->argument(arg::dim).as_int(), self->tensor().rank());
  const int64_t size = self->tensor().sizes[static_cast<size_t>(dim)];
  const int64_t step = node->argument(arg::step).as_int();
  const auto [start, end] = bounds_of(*node, size);
  if (!check_table({std::max<int64_t>(end - start, 0)}).ok()) return false;
  std::vector<double> places;
  for (int64_t i = start; i < end; i += step) {
    places.push_back(static_cast<double>(i));
  }
  const auto count = static_cast<int64_t>(places.size());
  if (count != source->tensor().sizes[static_cast<size_t>(dim)]) return false;
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(places, ScalarType::kLong));
  Value* index =
      add_unique_constant(graph, absl::StrCat("indices.", start, ".", end, ".", step),
                          TensorType::contiguous(ScalarType::kLong, {count}), std::move(data));
  Argument::List indices(static_cast<size_t>(dim));
  indices.emplace_back(index);
  Builder b(graph, node);
  return done(b, *node,
              b.call(aten::index_put, {self, Argument(std::move(indices)), source, false}));
}

// Values of the shape of self, but for the dim that the one index chooses from.
absl::StatusOr<bool> with_whole_values(Graph& graph, Node* node) {
  Value* self = tensor_at(*node, arg::self);
  Value* values = tensor_at(*node, arg::values);
  if (!node->argument(arg::indices).is_list()) return false;
  const Argument::List& indices = node->argument(arg::indices).as_list();
  size_t dim = indices.size();
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d].is_value()) continue;
    if (dim < indices.size()) return false;
    dim = d;
  }
  if (dim == indices.size()) return false;
  Value* index = indices[dim].value();
  if (index->tensor().dtype != ScalarType::kLong) return false;
  const Sizes& sizes = self->tensor().sizes;
  const Sizes& chosen = index->tensor().sizes;
  const auto at = static_cast<ptrdiff_t>(dim);
  Sizes block(sizes.begin(), sizes.begin() + at);
  block.insert(block.end(), chosen.begin(), chosen.end());
  block.insert(block.end(), sizes.begin() + at + 1, sizes.end());
  Sizes whole = sizes;
  whole[dim] = product(chosen);
  if (chosen.size() == 1 && values->tensor().sizes == whole) return false;
  Builder b(graph, node);
  PETREL_ASSIGN_OR_RETURN(index, b.view(index, {whole[dim]}));
  if (values->tensor().numel() != product(whole)) {
    PETREL_ASSIGN_OR_RETURN(values, b.expand(values, sizes_of(block)));
  }
  PETREL_ASSIGN_OR_RETURN(values, b.view(values, sizes_of(whole)));
  Argument::List single(dim);
  single.emplace_back(index);
  return done(b, *node,
              b.call(aten::index_put,
                     {self, Argument(std::move(single)), values, node->argument(arg::accumulate)}));
}

}  // namespace

absl::StatusOr<bool> update_state(Graph& graph, const PassContext&) {
  bool changed = false;
  const TableScope scope;
  for (size_t i = 0; i < graph.buffer_writes().size(); ++i) {
    for (Node* node : partial_writes(graph.buffer_writes()[i])) {
      // Places that vary are computed, not listed.
      if (has_varying_sizes(*node)) continue;
      const bool is_slice = node->is(aten::slice_scatter);
      PETREL_ASSIGN_OR_RETURN(const bool made, is_slice ? slice_as_index_put(graph, node)
                                                        : with_whole_values(graph, node));
      changed |= made;
    }
  }
  return changed;
}

}  // namespace petrel::exir
