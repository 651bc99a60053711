// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/ir/disjoint_sets.h"
#include "exir/partition/cut.h"
#include "exir/partition/partition.h"

namespace petrel::exir {
namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

// How often levels are found anew when groups were refused. A graph can be made in which each
// time refuses one group of thousands.
constexpr int kMostTimes = 64;

class Proposer {
 public:
  Proposer(const Graph& graph, const Partitioner& partitioner)
      : partitioner_(partitioner), nodes_(graph.node_pointers()) {
    for (size_t i = 0; i < nodes_.size(); ++i) index_[nodes_[i]] = i;
    operands_.resize(nodes_.size());
    std::optional<size_t> last_random;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const Value* operand : nodes_[i]->operands()) {
        if (operand->producer() != nullptr) {
          operands_[i].push_back(index_.at(operand->producer()));
        }
      }
      if (!nodes_[i]->is_random()) continue;
      if (last_random) operands_[i].push_back(*last_random);
      last_random = i;
    }
  }

  void run(Delegate which) {
    ask_for_support();
    do {
      do {
        find_levels();
      } while (refuse_what_is_too_wide() || refuse_what_is_not_worthwhile());
    } while (which == Delegate::kCheaper && needs_kernels() && leave_what_kernels_do_faster());
    share_out();
  }

  std::vector<std::vector<Node*>> groups() const {
    using Partition = std::tuple<size_t, size_t, size_t>;  // level, group and share
    std::map<Partition, std::vector<Node*>> partitions;
    std::vector<Partition> order;  // by first node
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!supported_[i]) continue;
      const Partition partition(levels_[i], groups_[i], shares_[i]);
      std::vector<Node*>& nodes = partitions[partition];
      if (nodes.empty()) order.push_back(partition);
      nodes.push_back(nodes_[i]);
    }
    std::vector<std::vector<Node*>> groups;
    for (const Partition& partition : order) groups.push_back(std::move(partitions[partition]));
    return groups;
  }

  void report(const std::string& method, std::vector<LeftBehind>* out_left_behind) const {
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
      const Support support = support_where_used(*nodes_[i]);
      supported_[i] = support.supported;
      reasons_[i] = support.reason;
      if (!support.supported) continue;
      groups_[i] = numbers.emplace(partitioner_.group(*nodes_[i]), numbers.size()).first->second;
    }
  }

  Support support_where_used(const Node& node) const {
    if (node.delegate() != nullptr) return Support::no("is delegated already");
    bool used = false;
    for (size_t i = 0; i < node.num_results(); ++i) {
      used |= node.result(i)->is_used();
    }
    if (!used) return Support::no("has no results that are used");
    return support_of(partitioner_, node);
  }

  // The level of a node is the number of times that a path to it leaves a
  // supported node for one that is not, or is of another group. Supported nodes
  // of one level and group have no such node between them, so they can be one
  // partition; and a path that changes k times cannot do with fewer partitions.
  //
  //   a    -> u    -> b    -> c        a, b, c supported; u is not
  //   0       1       1       1
  //
  // Where a group was refused whole, the levels from before are right as well, though there may
  // be more of them than are needed.
  void find_levels() {
    if (times_++ >= kMostTimes) return;
    levels_.assign(nodes_.size(), 0);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (size_t operand : operands_[i]) {
        const bool leaves =
            supported_[operand] && (!supported_[i] || groups_[operand] != groups_[i]);
        levels_[i] = std::max(levels_[i], levels_[operand] + (leaves ? 1 : 0));
      }
    }
    draw_to_users();
    delay_groups();
  }

  // What depends on no node may be of any level up to its users': a weight that is
  // dequantised belongs to the partition that multiplies with it.
  void draw_to_users() {
    std::vector<size_t> least(nodes_.size(), nodes_.size());
    std::vector<bool> is_shared(nodes_.size(), false);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (size_t operand : operands_[i]) {
        least[operand] = std::min(least[operand], levels_[i]);
        const bool is_apart = !supported_[i] || groups_[operand] != groups_[i];
        is_shared[operand] = is_shared[operand] || is_apart;
      }
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!supported_[i] || !operands_[i].empty() || is_shared[i]) continue;
      if (least[i] < nodes_.size() && depends_on_constants(*nodes_[i])) levels_[i] = least[i];
    }
  }

  // What is connected within a level, and whose results supported nodes of its kind read alone,
  // runs with the first of these: one call the less, and no path changes more often. Nothing of
  // that level can come before it, or it would be of the level itself.
  void delay_groups() {
    std::vector<std::vector<size_t>> users(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (size_t operand : operands_[i]) users[operand].push_back(i);
    }
    std::vector<std::vector<size_t>> groups = connected_groups();
    std::stable_sort(groups.begin(), groups.end(),
                     [&](const auto& a, const auto& b) { return levels_[a[0]] > levels_[b[0]]; });
    for (const std::vector<size_t>& group : groups) {
      const size_t level = levels_[group[0]];
      size_t least = nodes_.size();
      bool is_read_here = false;  // by what is not of its kind
      for (size_t member : group) {
        for (size_t user : users[member]) {
          is_read_here |= !supported_[user] || groups_[user] != groups_[member];
          if (levels_[user] > level) least = std::min(least, levels_[user]);
        }
      }
      if (is_read_here || least == nodes_.size()) continue;
      for (size_t member : group) levels_[member] = least;
    }
  }

  static bool depends_on_constants(const Node& node) {
    const std::vector<Value*> operands = node.operands();
    return std::all_of(operands.begin(), operands.end(),
                       [](const Value* operand) { return operand->is_constant(); });
  }

  // Supported nodes that are connected within their level, in graph order.
  std::vector<std::vector<size_t>> connected_groups() const {
    DisjointSets connected(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!supported_[i]) continue;
      for (size_t operand : operands_[i]) {
        if (supported_[operand] && levels_[operand] == levels_[i] &&
            groups_[operand] == groups_[i]) {
          connected.join(operand, i);
        }
      }
    }
    std::map<size_t, std::vector<size_t>> by_least;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (supported_[i]) by_least[connected.least(i)].push_back(i);
    }
    std::vector<std::vector<size_t>> groups;
    for (auto& [least, members] : by_least) groups.push_back(std::move(members));
    return groups;
  }

  void leave(const std::vector<size_t>& members, const std::string& reason) {
    for (size_t member : members) {
      supported_[member] = false;
      reasons_[member] = reason;
    }
  }

  // The inputs and outputs that `members` have as a partition.
  size_t width_of(const std::vector<size_t>& members) const {
    std::unordered_set<const Node*> inside;
    for (size_t member : members) inside.insert(nodes_[member]);
    std::unordered_set<const Value*> border;
    for (size_t member : members) {
      const Node& node = *nodes_[member];
      for (const Value* operand : node.operands()) {
        // What is constant is copied.
        const bool is_known = operand->is_constant() && !operand->constant()->is_mutable();
        if (!is_known && inside.count(operand->producer()) == 0) border.insert(operand);
      }
      for (size_t i = 0; i < node.num_results(); ++i) {
        const std::vector<Node*>& users = node.result(i)->users();
        const bool leaves = node.result(i)->output_uses() > 0 ||
                            std::any_of(users.begin(), users.end(),
                                        [&](const Node* user) { return inside.count(user) == 0; });
        if (leaves) border.insert(node.result(i));
      }
    }
    return border.size();
  }

  // True when some connected group was refused, so that levels may change.
  bool refuse_what_is_too_wide() {
    const size_t most = partitioner_.most_inputs_and_outputs();
    if (most == kNoLimit) return false;
    bool refused = false;
    for (const std::vector<size_t>& members : connected_groups()) {
      const size_t width = width_of(members);
      if (width <= most) continue;
      refused = true;
      leave(members, absl::StrCat("its group has ", width,
                                  " inputs and outputs, the backend takes at most ", most));
    }
    return refused;
  }

  // Nothing depends on one another that is of one level and not connected, so that it may be in
  // several partitions.
  void share_out() {
    shares_.assign(nodes_.size(), 0);
    const size_t most = partitioner_.most_inputs_and_outputs();
    if (most == kNoLimit) return;
    struct Filled {
      size_t share = 0;
      size_t width = 0;
    };
    std::map<std::pair<size_t, size_t>, Filled> filled;  // by level and group
    for (const std::vector<size_t>& members : connected_groups()) {
      const size_t width = width_of(members);
      Filled& last = filled[{levels_[members[0]], groups_[members[0]]}];
      if (last.width > most - width) last = {last.share + 1, 0};
      last.width += width;
      for (size_t member : members) shares_[member] = last.share;
    }
  }

  // True when some connected group was refused, so that levels may change.
  bool refuse_what_is_not_worthwhile() {
    bool refused = false;
    for (const std::vector<size_t>& members : connected_groups()) {
      std::vector<const Node*> nodes;
      for (size_t member : members) nodes.push_back(nodes_[member]);
      if (partitioner_.worthwhile(nodes)) continue;
      refused = true;
      leave(members,
            absl::StrCat("its group of ", members.size(), members.size() == 1 ? " node" : " nodes",
                         " is not worth a delegate call"));
    }
    return refused;
  }

  // True when some node will run as a kernel whatever is delegated.
  bool needs_kernels() const {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (supported_[i] || nodes_[i]->delegate() != nullptr) continue;
      for (const Value* operand : nodes_[i]->operands()) {
        if (!operand->is_constant()) return true;
      }
    }
    return false;
  }

  // True when some connected group was left. A group beside others of its level
  // would share their call.
  bool leave_what_kernels_do_faster() {
    const std::vector<std::vector<size_t>> groups = connected_groups();
    std::map<size_t, size_t> groups_of_level;
    for (const std::vector<size_t>& group : groups) {
      ++groups_of_level[levels_[group[0]]];
    }
    bool left = false;
    for (const std::vector<size_t>& group : groups) {
      std::vector<Node*> nodes;
      for (size_t member : group) nodes.push_back(nodes_[member]);
      std::optional<GroupCosts> costs =
          partitioner_.costs(*copy_partition(nodes, "group", partitioner_).graph);
      if (!costs) continue;
      if (groups_of_level[levels_[group[0]]] > 1) costs->call = 0;
      if (costs->kernels >= costs->delegated + costs->call) continue;
      left = true;
      leave(group, absl::StrCat("left to kernels: ", describe_costs(*costs)));
    }
    return left;
  }

  const Partitioner& partitioner_;
  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, size_t> index_;
  // By index of their producers; of a random node also the random one before it.
  std::vector<std::vector<size_t>> operands_;
  std::vector<bool> supported_;
  std::vector<std::string> reasons_;
  std::vector<size_t> groups_;  // of supported nodes, numbered
  std::vector<size_t> levels_;
  int times_ = 0;               // that levels were asked for
  std::vector<size_t> shares_;  // of supported nodes: which partition of their level and group
};

}  // namespace

std::string describe_costs(const GroupCosts& costs) {
  return absl::StrFormat("%s: %.1f us as kernels, %.1f us delegated", costs.nodes, costs.kernels,
                         costs.delegated + costs.call);
}

std::vector<std::vector<Node*>> propose_partitions(const Graph& graph,
                                                   const Partitioner& partitioner,
                                                   std::vector<LeftBehind>* out_left_behind,
                                                   Delegate which) {
  Proposer proposer(graph, partitioner);
  proposer.run(which);
  if (out_left_behind != nullptr) {
    proposer.report(graph.name(), out_left_behind);
  }
  return proposer.groups();
}

}  // namespace petrel::exir
