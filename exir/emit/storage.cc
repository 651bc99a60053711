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
    "aten::_reshape_copy", "aten::_unsafe_view",  "aten::alias",
    "aten::alias_copy",    "aten::detach",        "aten::detach_copy",
    "aten::expand",        "aten::expand_copy",   "aten::flatten",
    "aten::narrow",        "aten::narrow_copy",   "aten::reshape",
    "aten::select",        "aten::select_copy",   "aten::slice",
    "aten::slice_copy",    "aten::squeeze",       "aten::squeeze_copy",
    "aten::unflatten",     "aten::unsqueeze",     "aten::unsqueeze_copy",
    "aten::view",          "aten::view_copy",
};

bool is_one_of(const std::string& name, const char* const* begin,
               const char* const* end) {
  return std::find(begin, end, name) != end;
}

// The dims of the operand in the order in which they appear in the result;
// empty when `node` is no permutation with literal arguments.
std::vector<size_t> permutation_of(const Node& node, size_t rank) {
  const std::string& name = node.op().name;
  const auto wrap = [rank](int64_t dim) {
    return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank)
                                       : dim);
  };
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  if (name == "aten::permute" || name == "aten::permute_copy") {
    if (node.arguments().size() < 2 || !node.argument(1).is_ints()) return {};
    const Argument::Ints& dims = node.argument(1).as_ints();
    if (dims.size() != rank) return {};
    std::transform(dims.begin(), dims.end(), order.begin(), wrap);
  } else if (name == "aten::transpose" || name == "aten::transpose_copy") {
    if (node.arguments().size() < 3 || !node.argument(1).is_int() ||
        !node.argument(2).is_int() || rank == 0) {
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
  if (node.num_results() != 1 || node.arguments().empty() ||
      !node.argument(0).is_value()) {
    return false;
  }
  const Value* operand = node.argument(0).value();
  const Value* result = node.result();
  if (!operand->type().is_tensor() || !result->type().is_tensor()) return false;
  const TensorType& from = operand->tensor();
  const TensorType& to = result->tensor();
  if (from.dtype != to.dtype || from.numel() != to.numel() ||
      !from.is_contiguous() || !to.is_contiguous()) {
    return false;
  }
  if (is_one_of(node.op().name, std::begin(kOrderedViews),
                std::end(kOrderedViews))) {
    return true;
  }
  const std::vector<size_t> order = permutation_of(node, from.rank());
  return !order.empty() && moves_only_unit_dims(from.sizes, order);
}

Storage::Storage(const Graph& graph) {
  for (const Node* node : find_in_place_updates(graph)) in_place_.insert(node);
  for (const auto& node : graph.nodes()) {
    const bool is_elided = keeps_elements_in_order(*node);
    if (is_elided || is_in_place(*node)) {
      roots_[node->result()] = root(node->argument(0).value());
    }
    if (!is_elided) steps_.push_back(node.get());
  }
}

const Value* Storage::root(const Value* value) const {
  auto it = roots_.find(value);
  return it == roots_.end() ? value : it->second;
}

}  // namespace petrel::exir
