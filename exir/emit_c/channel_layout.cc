// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/channel_layout.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/border_order.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

// What a node does with the order of its tensors.
enum class Use { kAny, kAlike, kProgram };

bool has_equal_sizes(const Node& node) {
  return node.input(arg::self)->tensor().sizes == node.result()->tensor().sizes &&
         node.input(arg::other)->tensor().sizes == node.result()->tensor().sizes;
}

Use use_of(const Node& node) {
  if (node.is(petrel_ops::int8_convolution, petrel_ops::int8_average, petrel_ops::int8_max_pool)) {
    return Use::kAny;
  }
  if (node.is(petrel_ops::int8_table)) return Use::kAlike;
  if (node.is(petrel_ops::int8_add, petrel_ops::int8_mul) && has_equal_sizes(node)) {
    return Use::kAlike;
  }
  return Use::kProgram;
}

// Whether a tensor whose sizes vary may have two orders.
bool varies_with_two_orders(const TensorType& type) {
  return type.rank() >= 3 && type.is_dynamic() && (type.sizes[1] > 1 || type.varies(1));
}

class Layout {
 public:
  Layout(const PlannedMethod& method, bool io, const std::function<bool(const Node&)>& is_plain)
      : method_(method), io_(io), is_plain_(is_plain) {
    const Graph& graph = *method.graph;
    for (Value* input : graph.inputs()) note_border(input);
    for (const auto& node : graph.nodes()) note_uses(*node);
    for (Value* output : graph.outputs()) note_border(output);
    for (const BufferWrite& write : graph.buffer_writes()) {
      stay(write.value, "state takes it");
      stay(write.buffer, "it is state");
    }
    for (const PlacedPart& part : method.storage->parts().list) {
      stay(part.anchor, "others lie in it");
      stay(part.root, "it lies in another one");
    }
  }

  absl::Status lay_out(std::set<const Value*>* border) {
    for (const auto& [value, role] : borders_) {
      const Group& group = groups_.at(find(root(value)));
      const bool varies = varies_with_two_orders(value->tensor());
      if (!io_ || is_channels_innermost(value->tensor())) continue;
      if (!varies && (group.reason.empty() || !has_two_orders(value->tensor()))) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--io-layout nhwc: ", role, " '", value->name(),
                       "' cannot lie so: ", varies ? "its sizes vary" : group.reason));
    }
    for (const auto& [value, role] : borders_) {
      if (moves(value)) border->insert(value);
    }
    std::vector<std::pair<Value*, Type>> moved;
    for (const auto& [at, value] : values_) {
      if (!moves(value)) continue;
      moved.emplace_back(value, channels_innermost(value->tensor()));
    }
    for (auto& [value, type] : moved) value->set_type(std::move(type));
    return absl::OkStatus();
  }

 private:
  // Roots that lie alike.
  struct Group {
    const Value* parent = nullptr;
    std::string reason;      // why all of it stays; "" where it need not
    bool is_wanted = false;  // a convolution or pool takes or makes it
    Sizes sizes;
  };

  const Value* root(const Value* value) const { return method_.storage->root(value); }

  const Value* find(const Value* at) {
    while (groups_.at(at).parent != at) at = groups_.at(at).parent;
    return at;
  }

  // The group of the memory of `value`.
  Group& note(Value* value) {
    const Value* at = root(value);
    const auto [found, is_new] = groups_.emplace(at, Group{at, "", false, value->tensor().sizes});
    if (seen_.insert(value).second) values_.emplace_back(at, value);
    Group& group = groups_.at(find(at));
    if (value->tensor().sizes != found->second.sizes && group.reason.empty()) {
      group.reason = "it is viewed with other sizes";
    }
    return group;
  }

  void stay(const Value* value, const std::string& why) {
    if (!value->type().is_tensor() || groups_.count(root(value)) == 0) return;
    Group& group = groups_.at(find(root(value)));
    if (group.reason.empty()) group.reason = why;
  }

  void unite(const Value* a, const Value* b) {
    const Value* first = find(root(a));
    const Value* second = find(root(b));
    if (first == second) return;
    Group& from = groups_.at(second);
    Group& to = groups_.at(first);
    from.parent = first;
    to.is_wanted = to.is_wanted || from.is_wanted;
    if (to.reason.empty()) to.reason = from.reason;
  }

  void note_border(Value* value) {
    if (!value->type().is_tensor()) return;
    Group& group = note(value);
    const char* role = value->is_input() ? "input" : "output";
    borders_.emplace_back(value, role);
    if (!io_ && group.reason.empty()) group.reason = "it crosses the border of the method";
  }

  void note_uses(const Node& node) {
    const Use use = node.regions().empty() && !is_plain_(node) ? use_of(node) : Use::kProgram;
    std::vector<Value*> tensors;
    for (Value* operand : node.operands()) {
      // Constants lie as they are stored.
      if (operand->type().is_tensor() && !root(operand)->is_constant()) tensors.push_back(operand);
    }
    const bool reads_constant =
        use == Use::kAlike && !node.is(petrel_ops::int8_table) && tensors.size() < 2;
    for (size_t i = 0; i < node.num_results(); ++i) {
      if (node.result(i)->type().is_tensor()) tensors.push_back(node.result(i));
    }
    for (Value* value : tensors) {
      note(value);
      if (use == Use::kProgram || reads_constant) {
        stay(value, absl::StrCat(node.describe(), " takes the order of the program"));
      } else if (use == Use::kAny) {
        groups_.at(find(root(value))).is_wanted = true;
      } else {
        unite(tensors[0], value);
      }
    }
    for (const auto& region : node.regions()) {
      for (Value* input : region->inputs()) {
        if (input->type().is_tensor()) stay(input, "a branch takes it");
      }
    }
  }

  bool moves(const Value* value) {
    const Group& group = groups_.at(find(root(value)));
    return has_two_orders(value->tensor()) && group.reason.empty() && (group.is_wanted || io_);
  }

  const PlannedMethod& method_;
  const bool io_;
  const std::function<bool(const Node&)>& is_plain_;
  std::map<const Value*, Group> groups_;  // by root
  std::set<const Value*> seen_;
  std::vector<std::pair<const Value*, Value*>> values_;  // with their roots
  std::vector<std::pair<Value*, const char*>> borders_;
};

}  // namespace

absl::StatusOr<std::set<const Value*>> lay_out_channels(
    PlannedMethod& method, bool io, const std::function<bool(const Node&)>& is_plain) {
  std::set<const Value*> border;
  if (method.graph->nodes_with_regions() > 0 && !io) return border;
  const absl::Status done = Layout(method, io, is_plain).lay_out(&border);
  if (!done.ok()) return done;
  return border;
}

}  // namespace petrel::exir::emit_c
