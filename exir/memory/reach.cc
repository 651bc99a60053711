// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/reach.h"

#include "exir/backend/backend.h"

namespace petrel::exir {

std::string target_of(const Node& node) {
  const LoweredPartition* partition = node.delegate().get();
  return partition == nullptr || partition->backend == nullptr ? kProcessor
                                                               : partition->backend->target();
}

std::map<const Value*, std::set<std::string>> targets_of(const Graph& graph,
                                                         const Storage& storage) {
  std::map<const Value*, std::set<std::string>> targets;
  const auto note = [&](const Value* value, const std::string& target) {
    targets[storage.root(value)].insert(target);
  };
  for (const Value* input : graph.inputs()) note(input, kProcessor);
  for (const Value* output : graph.outputs()) note(output, kProcessor);
  for (const BufferWrite& write : graph.buffer_writes()) {
    note(write.value, kProcessor);
    note(write.buffer, kProcessor);
  }
  for (const Node* node : storage.steps()) {
    const std::string target = target_of(*node);
    for (const Value* operand : storage.operands_of(*node)) note(operand, target);
    for (size_t i = 0; i < node->num_results(); ++i) note(node->result(i), target);
  }
  return targets;
}

}  // namespace petrel::exir
