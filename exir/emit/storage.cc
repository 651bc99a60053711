// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/storage.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "exir/emit/in_place.h"

namespace petrel::exir {
namespace {

// Operators that never reorder elements: with as many elements in the result
// as in the operand they change nothing but the sizes.
constexpr const char* kOrderedViews[] = {
    "aten::_reshape_copy",  "aten::_unsafe_view", "aten::alias",       "aten::alias_copy",
    "aten::detach",         "aten::detach_copy",  "aten::expand",      "aten::expand_copy",
    "aten::flatten",        "aten::narrow",       "aten::narrow_copy", "aten::reshape",
    "aten::select",         "aten::select_copy",  "aten::slice",       "aten::slice_copy",
    "aten::squeeze",        "aten::squeeze_copy", "aten::unflatten",   "aten::unsqueeze",
    "aten::unsqueeze_copy", "aten::view",         "aten::view_copy",
};

bool is_one_of(const std::string& name, const char* const* begin, const char* const* end) {
  return std::find(begin, end, name) != end;
}

// The dims of the operand in the order in which they appear in the result;
// empty when `node` is no permutation with literal arguments.
std::vector<size_t> permutation_of(const Node& node, size_t rank) {
  const std::string& name = node.op().name;
  const auto wrap = [rank](int64_t dim) {
    return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim);
  };
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  if (name == "aten::permute" || name == "aten::permute_copy") {
    if (node.arguments().size() < 2 || !node.argument(1).is_ints()) return {};
    const Argument::Ints& dims = node.argument(1).as_ints();
    if (dims.size() != rank) return {};
    std::transform(dims.begin(), dims.end(), order.begin(), wrap);
  } else if (name == "aten::transpose" || name == "aten::transpose_copy") {
    if (node.arguments().size() < 3 || !node.argument(1).is_int() || !node.argument(2).is_int() ||
        rank == 0) {
      return {};
    }
    const size_t a = wrap(node.argument(1).as_int());
    const size_t b = wrap(node.argument(2).as_int());
    if (a >= rank || b >= rank) return {};
    std::swap(order[a], order[b]);
  } else if (name == "aten::t" || name == "aten::t_copy") {
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

}  // namespace

bool keeps_elements_in_order(const Node& node) {
  if (node.num_results() != 1 || node.arguments().empty() || !node.argument(0).is_value()) {
    return false;
  }
  const Value* operand = node.argument(0).value();
  const Value* result = node.result();
  if (!operand->type().is_tensor() || !result->type().is_tensor()) return false;
  const TensorType& from = operand->tensor();
  const TensorType& to = result->tensor();
  if (from.is_dynamic() || to.is_dynamic()) {
    // Callers may keep an output, which therefore describes no other's memory.
    const std::string& name = node.op().name;
    return (name == "aten::view" || name == "aten::_unsafe_view" || name == "aten::reshape") &&
           from.dtype == to.dtype && from.is_contiguous() && to.is_contiguous() &&
           result->output_uses() == 0;
  }
  if (from.dtype != to.dtype || from.numel() != to.numel() || !from.is_contiguous() ||
      !to.is_contiguous()) {
    return false;
  }
  if (is_one_of(node.op().name, std::begin(kOrderedViews), std::end(kOrderedViews))) {
    return true;
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
      roots_[node->result()] = root(node->argument(0).value());
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
  const bool is_map = node.op().name == "petrel::map";
  for (const std::shared_ptr<Graph>& region : node.regions()) {
    const std::vector<Value*> operands = node.argument(1).values();
    const size_t first = region->inputs().size() - operands.size();
    for (size_t i = 0; i < operands.size(); ++i) {
      same_[region->inputs()[first + i]] = operands[i];
    }
    add(*region);
    if (is_map) continue;
    for (size_t i = 0; i < node.num_results(); ++i) {
      same_[region->outputs()[i]] = node.result(i);
    }
  }
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
