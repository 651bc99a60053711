// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/in_place.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "exir/memory/storage.h"
#include "exir/ops/handles.h"

namespace petrel::exir {
namespace {

// Every runtime can put values at one list of places in place when they have
// the shape of what they replace; few can do more.
bool is_plain_put(const Node& node) {
  if (!node.is(aten::index_put) || !node.argument(arg::indices).is_list() ||
      node.argument(arg::accumulate) != Argument(false)) {
    return false;
  }
  const TensorType& self = node.input(arg::self)->tensor();
  const TensorType& values = node.input(arg::values)->tensor();
  const Argument::List& indices = node.argument(arg::indices).as_list();
  const auto chooses = [](const Argument& index) { return index.is_value(); };
  if (self.dtype != values.dtype || !self.is_contiguous() ||
      std::count_if(indices.begin(), indices.end(), chooses) != 1) {
    return false;
  }
  const auto index = std::find_if(indices.begin(), indices.end(), chooses);
  const TensorType& places = index->value()->tensor();
  const auto dim = static_cast<size_t>(index - indices.begin());
  if (places.dtype != ScalarType::kLong || places.rank() != 1 || dim >= self.rank()) {
    return false;
  }
  Sizes whole = self.sizes;
  whole[dim] = places.sizes[0];
  return values.sizes == whole;
}

class Analysis {
 public:
  explicit Analysis(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      const size_t time = times_.size();
      times_[node.get()] = time;
      if (keeps_elements_in_order(*node)) {
        bases_[node->result()] = base_of(node->arguments()[0].value());
        continue;
      }
      for (const Value* operand : node->operands()) {
        readers_[base_of(operand)].push_back(node.get());
      }
    }
    for (const Value* output : graph.outputs()) kept_.insert(base_of(output));
    for (const BufferWrite& write : graph.buffer_writes()) kept_.insert(base_of(write.value));
  }

  // The updates that lead from the state of `write` to its value, last first;
  // empty when something else made the value or an update cannot be in place.
  std::vector<const Node*> updates_of(const BufferWrite& write) const {
    std::vector<const Node*> updates;
    const Value* value = base_of(write.value);
    while (value != write.buffer) {
      const Node* node = value->producer();
      if (node == nullptr || in_place_kernel(*node) == nullptr) return {};
      value = base_of(node->input(arg::self));
      if (!is_last_reader(*node, value)) return {};
      updates.push_back(node);
    }
    return updates;
  }

 private:
  // True when nobody needs the bytes of `base` once `node` runs, and `node`
  // itself only as what it changes.
  bool is_last_reader(const Node& node, const Value* base) const {
    if (kept_.count(base) != 0) return false;
    const std::vector<const Node*>& readers = readers_.at(base);
    if (std::count(readers.begin(), readers.end(), &node) != 1) return false;
    return std::all_of(readers.begin(), readers.end(),
                       [&](const Node* reader) { return times_.at(reader) <= times_.at(&node); });
  }

  // The value whose bytes `value` describes, in-place updates not counted.
  const Value* base_of(const Value* value) const {
    const auto found = bases_.find(value);
    return found == bases_.end() ? value : found->second;
  }

  std::unordered_map<const Node*, size_t> times_;
  std::unordered_map<const Value*, const Value*> bases_;  // of views
  std::unordered_set<const Value*> kept_;                 // of outputs and of what is written
  std::unordered_map<const Value*, std::vector<const Node*>> readers_;
};

}  // namespace

const char* in_place_kernel(const Node& node) {
  return is_plain_put(node) ? "aten::index_put_" : nullptr;
}

std::vector<const Node*> find_in_place_updates(const Graph& graph) {
  std::vector<const Node*> found;
  if (graph.buffer_writes().empty()) return found;
  const Analysis analysis(graph);
  for (const BufferWrite& write : graph.buffer_writes()) {
    const std::vector<const Node*> updates = analysis.updates_of(write);
    found.insert(found.end(), updates.begin(), updates.end());
  }
  return found;
}

}  // namespace petrel::exir
