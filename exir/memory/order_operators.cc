// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/order_operators.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exir/memory/storage.h"
#include "exir/plan/search/operator_order.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Translates between nodes and the operators of an OrderProblem. Views are
// operators that read what they show and make nothing.
class Translator {
 public:
  explicit Translator(const Graph& graph) : nodes_(graph.node_pointers()) {
    for (const Value* input : graph.inputs()) value_of(input, -1);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      add(*nodes_[i], static_cast<int32_t>(i));
    }
    for (const Value* output : graph.outputs()) keep(output);
    for (const BufferWrite& write : graph.buffer_writes()) keep(write.value);
  }

  const plan::OrderProblem& problem() const { return problem_; }
  const std::vector<Node*>& nodes() const { return nodes_; }

 private:
  void add(const Node& node, int32_t index) {
    plan::OrderProblem::Operator op;
    const bool is_view = keeps_elements_in_order(node);
    const bool has_effect = !node.is_pure();
    for (const Value* operand : node.operands()) {
      const auto made = maker_.find(operand);
      if (made != maker_.end()) op.after.push_back(made->second);
      const Value* root = root_of(operand);
      std::vector<int32_t>& users = users_[root];
      // An effect comes after all that used the value before it, and before all that use it
      // later. Effects are in one order, so what was before the last one is before the next.
      if (has_effect) {
        op.after.insert(op.after.end(), users.begin(), users.end());
        users.clear();
        last_effects_[root] = index;
      } else if (const auto last = last_effects_.find(root); last != last_effects_.end()) {
        op.after.push_back(last->second);
      }
      users.push_back(index);
      if (!root->is_constant()) op.reads.push_back(value_of(root, -1));
    }
    if (has_effect) {
      if (last_effect_ >= 0) op.after.push_back(last_effect_);
      last_effect_ = index;
    }
    // A node may use a value twice.
    op.after.erase(std::remove(op.after.begin(), op.after.end(), index), op.after.end());
    problem_.operators.push_back(std::move(op));
    for (size_t i = 0; i < node.num_results(); ++i) {
      maker_[node.result(i)] = index;
      if (is_view) {
        roots_[node.result(i)] = root_of(node.arguments()[0].value());
      } else {
        value_of(node.result(i), index);
      }
    }
  }

  int32_t value_of(const Value* root, int32_t producer) {
    const auto [known, fresh] = values_.emplace(root, static_cast<int32_t>(problem_.values.size()));
    if (fresh) {
      const int64_t bytes = root->type().is_tensor() ? root->tensor().nbytes() : 0;
      problem_.values.push_back({bytes, producer, false});
    }
    return known->second;
  }

  void keep(const Value* value) {
    const auto known = values_.find(root_of(value));
    if (known != values_.end()) problem_.values[known->second].kept = true;
  }

  const Value* root_of(const Value* value) const {
    const auto known = roots_.find(value);
    return known == roots_.end() ? value : known->second;
  }

  std::vector<Node*> nodes_;
  plan::OrderProblem problem_;
  std::unordered_map<const Value*, int32_t> values_, maker_;
  std::unordered_map<const Value*, const Value*> roots_;
  std::unordered_map<const Value*, std::vector<int32_t>> users_;  // from the last effect on
  std::unordered_map<const Value*, int32_t> last_effects_;
  int32_t last_effect_ = -1;
};

}  // namespace

absl::StatusOr<OrderReport> order_operators(Graph& graph, int64_t max_states) {
  constexpr int64_t kMaxBytes = int64_t{64} << 20;
  const Translator translator(graph);
  const auto num_operators = static_cast<int64_t>(translator.nodes().size());
  max_states = std::min(max_states, kMaxBytes / (16 * (1 + num_operators)));
  PETREL_ASSIGN_OR_RETURN(const plan::OrderAnswer answer,
                          plan::best_order(translator.problem(), max_states));
  OrderReport report;
  report.given_peak = answer.given_peak;
  report.peak = answer.peak;
  report.lower_bound = answer.lower_bound;
  report.optimal = answer.optimal;
  if (answer.peak == answer.given_peak) return report;
  for (size_t i = answer.order.size() - 1; i > 0; --i) {
    graph.move_before(translator.nodes()[answer.order[i - 1]], translator.nodes()[answer.order[i]]);
  }
  return report;
}

}  // namespace petrel::exir
