// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/storage.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "exir/ir/region_values.h"
#include "exir/memory/in_place.h"
#include "exir/ops/handles.h"

namespace petrel::exir {
namespace {

// Operators that never reorder elements: with as many elements in the result
// as in the operand they change nothing but the sizes.
constexpr OpHandle kOrderedViews[] = {
    aten::_unsafe_view,
    aten::alias,
    aten::alias_copy,
    aten::detach,
    aten::detach_copy,
    aten::expand,
    aten::expand_copy,
    aten::flatten_using_ints,
    aten::narrow,
    aten::narrow_copy,
    aten::reshape,
    aten::select_int,
    aten::select_copy_int,
    aten::slice_Tensor,
    aten::slice_copy_Tensor,
    aten::squeeze,
    aten::squeeze_dim,
    aten::squeeze_dims,
    aten::squeeze_copy,
    aten::squeeze_copy_dim,
    aten::squeeze_copy_dims,
    aten::unflatten_int,
    aten::unsqueeze,
    aten::unsqueeze_copy,
    aten::view,
    aten::view_dtype,
    aten::view_copy,
};

// The dims of the operand in the order in which they appear in the result;
// empty when `node` is not a permutation with literal arguments.
std::vector<size_t> permutation_of(const Node& node, size_t rank) {
  const auto wrap = [rank](int64_t dim) {
    return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim);
  };
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  if (node.is(aten::permute, aten::permute_copy)) {
    if (!node.argument(arg::dims).is_ints()) return {};
    const Argument::Ints& dims = node.argument(arg::dims).as_ints();
    if (dims.size() != rank) return {};
    std::transform(dims.begin(), dims.end(), order.begin(), wrap);
  } else if (node.is(aten::transpose_int, aten::transpose_copy_int)) {
    const Argument& dim0 = node.argument(arg::dim0);
    const Argument& dim1 = node.argument(arg::dim1);
    if (!dim0.is_int() || !dim1.is_int() || rank == 0) return {};
    const size_t a = wrap(dim0.as_int());
    const size_t b = wrap(dim1.as_int());
    if (a >= rank || b >= rank) return {};
    std::swap(order[a], order[b]);
  } else if (node.is(aten::t, aten::t_copy)) {
    std::reverse(order.begin(), order.end());
  } else {
    return {};
  }
  return order;
}

// True when the dims that have more than one element keep their order.
bool moves_only_unit_dims(const Sizes& sizes, const std::vector<size_t>& order) {
  if (order.size() != sizes.size()) return false;
  size_t next = 0;
  for (size_t dim : order) {
    if (dim >= sizes.size()) return false;
    if (sizes[dim] == 1) continue;
    if (dim < next) return false;
    next = dim + 1;
  }
  return true;
}

// A row or rows whose place is found at run time, and checked by the kernel.
bool has_found_place(const Node& node) {
  if (!node.is(aten::narrow, aten::narrow_copy, aten::select_int, aten::select_copy_int)) {
    return false;
  }
  return node.argument(arg::start, arg::index).is_value();
}

}  // namespace

bool keeps_elements_in_order(const Node& node) {
  if (node.num_results() != 1 || node.arguments().empty() || !node.arguments()[0].is_value()) {
    return false;
  }
  const Value* operand = node.arguments()[0].value();
  const Value* result = node.result();
  if (!operand->type().is_tensor() || !result->type().is_tensor()) return false;
  const TensorType& from = operand->tensor();
  const TensorType& to = result->tensor();
  if (from.is_dynamic() || to.is_dynamic()) {
    // Callers may keep an output, which therefore describes no other's memory.
    return node.is(aten::view, aten::_unsafe_view, aten::reshape) && from.dtype == to.dtype &&
           from.is_contiguous() && to.is_contiguous() && result->output_uses() == 0;
  }
  if (from.dtype != to.dtype || from.numel() != to.numel() || !from.is_contiguous() ||
      !to.is_contiguous()) {
    return false;
  }
  if (std::any_of(std::begin(kOrderedViews), std::end(kOrderedViews),
                  [&node](OpHandle view) { return node.is(view); })) {
    return !has_found_place(node);
  }
  const std::vector<size_t> order = permutation_of(node, from.rank());
  return !order.empty() && moves_only_unit_dims(from.sizes, order);
}

Storage::Storage(const Graph& graph, Parts parts) : parts_(std::move(parts)) {
  for (const Node* node : find_in_place_updates(graph)) in_place_.insert(node);
  add(graph);
}

void Storage::add(const Graph& graph) {
  std::vector<const Node*> steps;
  for (const auto& node : graph.nodes()) {
    const bool keeps_elements = keeps_elements_in_order(*node);
    const bool varies = keeps_elements && node->result()->type().is_dynamic();
    if (keeps_elements || is_in_place(*node)) {
      roots_[node->result()] = root(node->arguments()[0].value());
    }
    if (varies) views_.insert(node.get());
    if ((keeps_elements && !varies) || parts_.elided.count(node.get()) != 0) {
      continue;
    }
    steps.push_back(node.get());
    steps_.push_back(node.get());
    add_regions(*node);
  }
  steps_of_[&graph] = std::move(steps);
}

void Storage::add_regions(const Node& node) {
  if (node.regions().empty()) return;
  const RegionValues values = region_values(node);
  for (const std::shared_ptr<Graph>& region : node.regions()) {
    // Rounds find in the results what is carried, and leave it there.
    for (size_t i = 0; i < values.carried.size(); ++i) {
      same_[region->inputs()[i]] = node.result(i);
    }
    const size_t first = region->inputs().size() - values.operands.size();
    for (size_t i = 0; i < values.operands.size(); ++i) {
      same_[region->inputs()[first + i]] = values.operands[i];
    }
    add(*region);
    if (is_loop(node)) continue;
    for (size_t i = 0; i < node.num_results(); ++i) {
      same_[region->outputs()[i]] = node.result(i);
    }
  }
}

void Storage::run_together(const std::vector<const Node*>& nodes) {
  const std::unordered_set<const Node*> inner(nodes.begin(), std::prev(nodes.end()));
  const auto drop = [&](std::vector<const Node*>* steps) {
    steps->erase(std::remove_if(steps->begin(), steps->end(),
                                [&](const Node* node) { return inner.count(node) != 0; }),
                 steps->end());
  };
  drop(&steps_);
  for (auto& [graph, steps] : steps_of_) drop(&steps);
  together_[nodes.back()] = nodes;
}

std::vector<const Node*> Storage::nodes_of(const Node& step) const {
  const auto found = together_.find(&step);
  return found == together_.end() ? std::vector<const Node*>{&step} : found->second;
}

std::vector<const Value*> Storage::operands_of(const Node& step) const {
  const std::vector<const Node*> nodes = nodes_of(step);
  std::vector<const Value*> operands;
  for (const Node* node : nodes) {
    for (const Value* operand : node->operands()) {
      const bool is_made =
          std::find(nodes.begin(), nodes.end(), operand->producer()) != nodes.end();
      if (!is_made || operand->producer() == nullptr) operands.push_back(operand);
    }
  }
  return operands;
}

const Value* Storage::same(const Value* value) const {
  for (auto it = same_.find(value); it != same_.end(); it = same_.find(value)) {
    value = it->second;
  }
  return value;
}

const Value* Storage::root(const Value* value) const {
  while (true) {
    value = same(value);
    auto it = roots_.find(value);
    if (it == roots_.end()) return value;
    value = it->second;
  }
}

}  // namespace petrel::exir
