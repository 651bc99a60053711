// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/layout.h"

#include <algorithm>
#include <set>

#include "backends/xnnpack/aot/stored_weight.h"
#include "exir/ops/read_sizes.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using exir::Node;
using exir::Value;

// Which layouts the users of a value outside of one group ask for.
struct Demand {
  bool plain = false;
  bool channels_last = false;
};

class Planner {
 public:
  explicit Planner(const LayoutProblem& problem) : problem_(problem) {}

  std::map<const Value*, Layout> plan() {
    for (const Node* node : problem_.nodes) {
      producer_[problem_.result(*node)] = node;
      needs_[node] = effective_need(*node);
    }
    for (const Node* node : problem_.nodes) {
      const LayoutNeed need = needs_[node];
      const bool channels_last = need == LayoutNeed::kChannelsLast;
      layouts_[problem_.result(*node)] = channels_last ? Layout::kChannelsLast : Layout::kPlain;
      if (need == LayoutNeed::kFollows) join_neighbours(*node);
    }
    std::map<const Node*, std::vector<const Node*>> groups;
    for (const Node* node : problem_.nodes) {
      if (needs_[node] == LayoutNeed::kFollows) groups[root(node)].push_back(node);
    }
    for (const auto& [unused, group] : groups) place(group);
    return std::move(layouts_);
  }

 private:
  LayoutNeed effective_need(const Node& node) const {
    const LayoutNeed need = problem_.need(node);
    if (need != LayoutNeed::kFollows) return need;
    return can_follow(node) ? LayoutNeed::kFollows : LayoutNeed::kPlain;
  }

  // Axes are added by a reshape, which works out one size at most.
  bool can_follow(const Node& node) const {
    const size_t rank = problem_.result(node)->tensor().rank();
    if (!has_channels_last_form(rank)) return false;
    const std::vector<Value*> operands = node.operands();
    if (rank == 5 && !planes_go_together(node)) return false;
    return std::all_of(operands.begin(), operands.end(), [&](const Value* operand) {
      if (operand->tensor().rank() == 4 || operand->is_constant()) return true;
      return has_one_varying_size(exir::sizes_of(operand));
    });
  }

  // Batch and depth are one: an operand has both of the result, or one of each.
  bool planes_go_together(const Node& node) const {
    const Extents result = sizes_of(problem_.result(node));
    const std::vector<Value*> operands = node.operands();
    return std::all_of(operands.begin(), operands.end(), [&](const Value* operand) {
      Extents sizes = sizes_of(operand);
      if (sizes.size() > 5) return false;
      sizes.insert(sizes.begin(), 5 - sizes.size(), 1);
      if (sizes[0].is(1) && sizes[2].is(1)) return true;
      const bool is_whole =
          exir::is_always(sizes[0], result[0]) && exir::is_always(sizes[2], result[2]);
      // Elements of a constant are put in order by strides.
      const bool is_constant = operand->is_constant() || stored_constant(operand);
      return is_whole && (!is_constant || sizes[0].is(1) || sizes[2].is(1));
    });
  }

  // Operands whose layout matters to a node that follows.
  std::vector<const Value*> operands(const Node& node) const {
    std::vector<const Value*> out;
    const size_t rank = problem_.result(node)->tensor().rank();
    for (const Value* operand : node.operands()) {
      if (!operand->is_constant() && operand->tensor().rank() == rank) out.push_back(operand);
    }
    return out;
  }

  const Node* producer(const Value* value) const {
    const auto found = producer_.find(value);
    return found == producer_.end() ? nullptr : found->second;
  }

  bool follows(const Node* node) const {
    return node != nullptr && needs_.at(node) == LayoutNeed::kFollows;
  }

  void join_neighbours(const Node& node) {
    for (const Value* operand : operands(node)) {
      if (const Node* other = producer(operand); follows(other)) parent_[root(&node)] = root(other);
    }
  }

  const Node* root(const Node* node) {
    auto found = parent_.find(node);
    while (found != parent_.end() && found->second != node) {
      node = found->second;
      found = parent_.find(node);
    }
    return node;
  }

  // What users that do not follow ask of `value`.
  Demand demand(const Value* value) const {
    Demand demand;
    demand.plain = value->output_uses() > 0;
    for (const Node* user : value->users()) {
      const auto need = needs_.find(user);
      if (need == needs_.end()) continue;
      if (need->second == LayoutNeed::kPlain) demand.plain = true;
      if (need->second == LayoutNeed::kChannelsLast || need->second == LayoutNeed::kReduces) {
        demand.channels_last = true;
      }
    }
    return demand;
  }

  void place(const std::vector<const Node*>& group) {
    int64_t cost_of_plain = 0;
    int64_t cost_of_channels_last = 0;
    bool touches_channels_last = false;
    std::set<const Value*> seen;
    for (const Node* node : group) {
      for (const Value* operand : operands(*node)) {
        if (follows(producer(operand)) || !seen.insert(operand).second) continue;
        const auto found = layouts_.find(operand);
        const bool is_channels_last =
            found != layouts_.end() && found->second == Layout::kChannelsLast;
        touches_channels_last |= is_channels_last;
        // A copy that somebody else needs anyway costs nothing.
        const Demand others = demand(operand);
        const int64_t cost = operand->tensor().numel();
        if (is_channels_last && !others.plain) cost_of_plain += cost;
        if (!is_channels_last && !others.channels_last) cost_of_channels_last += cost;
      }
      const Value* result = problem_.result(*node);
      const Demand users = demand(result);
      touches_channels_last |= users.channels_last;
      if (users.plain) cost_of_channels_last += result->tensor().numel();
      if (users.channels_last) cost_of_plain += result->tensor().numel();
    }
    if (!touches_channels_last || cost_of_channels_last > cost_of_plain) return;
    for (const Node* node : group) layouts_[problem_.result(*node)] = Layout::kChannelsLast;
  }

  const LayoutProblem& problem_;
  std::map<const Value*, const Node*> producer_;
  std::map<const Node*, LayoutNeed> needs_;
  std::map<const Node*, const Node*> parent_;
  std::map<const Value*, Layout> layouts_;
};

}  // namespace

Extents channels_last_sizes(const Extents& sizes) {
  if (sizes.size() == 3) return {sizes[0], 1, sizes[2], sizes[1]};
  if (sizes.size() == 5) return {sizes[0] * sizes[2], sizes[3], sizes[4], sizes[1]};
  return {sizes[0], sizes[2], sizes[3], sizes[1]};
}

size_t channels_last_axis(size_t rank, size_t axis) {
  constexpr size_t kRank3[] = {0, 3, 2};
  constexpr size_t kRank4[] = {0, 3, 1, 2};
  constexpr size_t kRank5[] = {0, 3, 0, 1, 2};
  return rank == 3 ? kRank3[axis] : rank == 4 ? kRank4[axis] : kRank5[axis];
}

bool has_one_varying_size(const Extents& sizes) {
  return std::count_if(sizes.begin(), sizes.end(), [](const exir::rules::Size& size) {
           return !size.expression().is_constant();
         }) <= 1;
}

bool is_same_in_both_layouts(const Extents& sizes) {
  const auto is_one = [](const exir::rules::Size& size) { return size.is(1); };
  return is_one(sizes[1]) || std::all_of(sizes.begin() + 2, sizes.end(), is_one);
}

std::map<const exir::Value*, Layout> plan_layouts(const LayoutProblem& problem) {
  return Planner(problem).plan();
}

std::vector<const exir::Value*> layout_copies(const LayoutProblem& problem,
                                              const std::map<const exir::Value*, Layout>& layouts,
                                              const std::vector<const exir::Value*>& outputs) {
  std::vector<const exir::Value*> copied;
  std::set<const exir::Value*> seen;
  const auto layout_of = [&](const exir::Value* value) {
    const auto found = layouts.find(value);
    return found == layouts.end() ? Layout::kPlain : found->second;
  };
  const auto ask = [&](const exir::Value* value, Layout layout) {
    if (value->is_constant() || !has_channels_last_form(value->tensor().rank())) return;
    if (layout_of(value) == layout || is_same_in_both_layouts(sizes_of(value))) return;
    if (seen.insert(value).second) copied.push_back(value);
  };
  for (const exir::Node* node : problem.nodes) {
    const exir::Value* result = problem.result(*node);
    for (const exir::Value* operand : node->operands()) {
      switch (problem.need(*node)) {
        case LayoutNeed::kPlain:
          ask(operand, Layout::kPlain);
          break;
        case LayoutNeed::kChannelsLast:
        case LayoutNeed::kReduces:
          ask(operand, Layout::kChannelsLast);
          break;
        case LayoutNeed::kFollows:
          ask(operand, layout_of(result));
          break;
        case LayoutNeed::kTakesEither:
          break;
      }
    }
  }
  for (const exir::Value* output : outputs) ask(output, Layout::kPlain);
  return copied;
}

}  // namespace petrel::backends::xnnpack::aot
