// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/partition/partition.h"

namespace petrel::exir {
namespace {

class Proposer {
 public:
  Proposer(const Graph& graph, const Partitioner& partitioner)
      : partitioner_(partitioner), nodes_(graph.node_pointers()) {
    for (size_t i = 0; i < nodes_.size(); ++i) index_[nodes_[i]] = i;
    operands_.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const Value* operand : nodes_[i]->operands()) {
        if (operand->producer() != nullptr) {
          operands_[i].push_back(index_.at(operand->producer()));
        }
      }
    }
  }

  void run() {
    ask_for_support();
    do {
      find_levels();
    } while (refuse_what_is_not_worthwhile());
  }

  std::vector<std::vector<Node*>> groups() const {
    using Part = std::pair<size_t, size_t>;  // level and group
    std::map<Part, std::vector<Node*>> parts;
    std::vector<Part> order;  // by first node
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!supported_[i]) continue;
      const Part part(levels_[i], groups_[i]);
      std::vector<Node*>& nodes = parts[part];
      if (nodes.empty()) order.push_back(part);
      nodes.push_back(nodes_[i]);
    }
    std::vector<std::vector<Node*>> groups;
    for (const Part& part : order) groups.push_back(std::move(parts[part]));
    return groups;
  }

  void report(const std::string& method,
              std::vector<LeftBehind>* out_left_behind) const {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = *nodes_[i];
      if (supported_[i] || node.delegate() != nullptr) continue;
      LeftBehind left;
      left.method = method;
      left.node = node.num_results() > 0 ? node.result(0)->name() : "";
      left.op = node.op().full_name();
      left.reason = reasons_[i];
      left.location = node.source().location();
      out_left_behind->push_back(std::move(left));
    }
  }

 private:
  void ask_for_support() {
    supported_.resize(nodes_.size());
    reasons_.resize(nodes_.size());
    groups_.resize(nodes_.size());
    std::map<std::string, size_t> numbers;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Support support = support_of(*nodes_[i]);
      supported_[i] = support.supported;
      reasons_[i] = support.reason;
      if (!support.supported) continue;
      groups_[i] = numbers.emplace(partitioner_.group(*nodes_[i]), numbers.size()).first->second;
    }
  }

  Support support_of(const Node& node) const {
    if (node.delegate() != nullptr) return Support::no("is delegated already");
    if (node.op().has(kInPlace)) return Support::no("works in place");
    bool used = false;
    for (size_t i = 0; i < node.num_results(); ++i) {
      used |= node.result(i)->is_used();
    }
    if (!used) return Support::no("has no results that are used");
    return partitioner_.supports(node);
  }

  // The level of a node is the number of times that a path to it leaves a
  // supported node for one that is not, or is of another group. Supported nodes
  // of one level and group have no such node between them, so they can be one
  // partition; and a path that changes k times cannot do with fewer partitions.
  //
  //   a    -> u    -> b    -> c        a, b, c supported; u is not
  //   0       1       1       1
  void find_levels() {
    levels_.assign(nodes_.size(), 0);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (size_t operand : operands_[i]) {
        const bool leaves =
            supported_[operand] &&
            (!supported_[i] || groups_[operand] != groups_[i]);
        levels_[i] = std::max(levels_[i], levels_[operand] + (leaves ? 1 : 0));
      }
    }
  }

  // True when some connected group was refused, so that levels may change.
  bool refuse_what_is_not_worthwhile() {
    std::vector<size_t> parent(nodes_.size());
    std::iota(parent.begin(), parent.end(), size_t{0});
    const auto find = [&](size_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!supported_[i]) continue;
      for (size_t operand : operands_[i]) {
        if (supported_[operand] && levels_[operand] == levels_[i] &&
            groups_[operand] == groups_[i]) {
          parent[find(operand)] = find(i);
        }
      }
    }
    std::map<size_t, std::vector<size_t>> connected;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (supported_[i]) connected[find(i)].push_back(i);
    }
    bool refused = false;
    for (const auto& [root, members] : connected) {
      std::vector<const Node*> nodes;
      for (size_t member : members) nodes.push_back(nodes_[member]);
      if (partitioner_.worthwhile(nodes)) continue;
      refused = true;
      for (size_t member : members) {
        supported_[member] = false;
        reasons_[member] =
            absl::StrCat("its group of ", members.size(),
                         members.size() == 1 ? " node" : " nodes",
                         " is not worth a delegate call");
      }
    }
    return refused;
  }

  const Partitioner& partitioner_;
  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, size_t> index_;
  std::vector<std::vector<size_t>> operands_;  // by index of their producers
  std::vector<bool> supported_;
  std::vector<std::string> reasons_;
  std::vector<size_t> groups_;  // of supported nodes, numbered
  std::vector<size_t> levels_;
};

}  // namespace

std::vector<std::vector<Node*>> propose_partitions(
    const Graph& graph, const Partitioner& partitioner,
    std::vector<LeftBehind>* out_left_behind) {
  Proposer proposer(graph, partitioner);
  proposer.run();
  if (out_left_behind != nullptr) {
    proposer.report(graph.name(), out_left_behind);
  }
  return proposer.groups();
}

}  // namespace petrel::exir
