// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/plan_tensors.h"

#include <algorithm>

namespace petrel::exir::emit_c {
namespace {

void add_all(const std::vector<size_t>& from, std::vector<size_t>* to) {
  for (const size_t index : from) {
    if (std::find(to->begin(), to->end(), index) == to->end()) to->push_back(index);
  }
}

}  // namespace

PlanTensors::PlanTensors(const PlannedMethod& planned, const Places& places,
                         const Borrowed& borrowed, CMethod* method)
    : planned_(planned), places_(places), borrowed_(borrowed), method_(method) {
  for (const Value* input : planned.graph->inputs()) tensors_of(input);
}

// Numbers have none, and constants that are not state have a symbol.
bool PlanTensors::has_place(const Value* value) const {
  if (!value->type().is_tensor() || places_.has_symbol(value)) return false;
  const Value* root = planned_.storage->root(value);
  return borrowed_.count(root) != 0 || planned_.plan.offsets.count(root) != 0 ||
         root->is_constant();
}

size_t PlanTensors::add_tensor(const Value* value, size_t written_by) {
  const size_t index = method_->tensors.size();
  method_->tensors.push_back(
      {value->name(), value->tensor(), places_.bytes(value), written_by, written_by});
  tensors_[value] = of_root_[planned_.storage->root(value)] = {index};
  return index;
}

PlanTensors::List PlanTensors::tensors_of(const Value* value) {
  if (!has_place(value)) return {};
  if (const auto known = tensors_.find(value); known != tensors_.end()) return known->second;
  // A view, the result of a branch, or state.
  const auto root = of_root_.find(planned_.storage->root(value));
  if (root != of_root_.end()) return tensors_[value] = root->second;
  return {add_tensor(value, 0)};
}

void PlanTensors::pass(const Node& node) {
  List all;
  for (const Value* operand : node.operands()) add_all(tensors_of(operand), &all);
  for (size_t i = 0; i < node.num_results(); ++i) {
    const Value* result = node.result(i);
    if (!has_place(result) || all.empty()) continue;
    tensors_[result] = of_root_[planned_.storage->root(result)] = all;
  }
}

void PlanTensors::add(const std::vector<const Value*>& operands,
                      const std::vector<const Value*>& results, size_t number, CStep* step) {
  for (const Value* operand : operands) add_all(tensors_of(operand), &step->reads);
  for (const size_t index : step->reads) method_->tensors[index].alive_until = number;
  for (const Value* result : results) {
    if (has_place(result)) step->writes.push_back(add_tensor(result, number));
  }
}

void PlanTensors::repeat(size_t first, size_t last) {
  for (CPlanTensor& tensor : method_->tensors) {
    const bool is_read = tensor.written_by < first && tensor.alive_until >= first;
    if (is_read) tensor.alive_until = std::max(tensor.alive_until, last);
  }
}

void PlanTensors::end(const Graph& graph) {
  const auto keep = [&](const Value* value) {
    for (const size_t index : tensors_of(value)) {
      method_->tensors[index].alive_until = method_->steps.size() + 1;
    }
  };
  for (const Value* output : graph.outputs()) keep(output);
  for (const BufferWrite& write : graph.buffer_writes()) keep(write.value);
}

}  // namespace petrel::exir::emit_c
