// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/number_outputs.h"

#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "exir/ir/scalar_type.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"

namespace petrel::exir {
namespace {

Type::Kind kind_of(ScalarType dtype) {
  if (dtype == ScalarType::kBool) return Type::Kind::kBool;
  return is_floating_point(dtype) ? Type::Kind::kFloat : Type::Kind::kInt;
}

// The number that a node has made into `tensor`, or that is read from it.
Value* number_in(Graph& graph, Value* tensor) {
  const Type::Kind kind = kind_of(tensor->tensor().dtype);
  const Node* const made = tensor->producer();
  if (made != nullptr && made->is(aten::full, aten::scalar_tensor)) {
    const Argument& number = made->argument(arg::fill_value, arg::s);
    if (number.is_value() && number.value()->type().kind == kind) return number.value();
  }
  return graph
      .append(op(aten::_local_scalar_dense), {Argument(tensor)}, {Type::scalar(kind)},
              tensor->name() + "_number")
      ->result();
}

void show_numbers(Method& method) {
  Graph& graph = *method.graph;
  const auto& fixed = method.signature.fixed_outputs;
  std::vector<Value*> outputs = graph.outputs();
  std::set<Node*> replaced;
  for (const size_t place : method.signature.number_outputs) {
    const auto before = static_cast<size_t>(std::distance(fixed.begin(), fixed.lower_bound(place)));
    Value*& output = outputs[place - before];
    if (!output->type().is_tensor()) continue;
    Node* const made = output->producer();
    output = number_in(graph, output);
    if (made != nullptr) replaced.insert(made);
  }
  graph.set_outputs(std::move(outputs));
  for (Node* node : replaced) {
    if (node->num_results() == 1 && !node->result()->is_used()) graph.erase(node);
  }
}

}  // namespace

void show_numbers(Program& program) {
  for (auto& [name, method] : program.methods) show_numbers(method);
}

}  // namespace petrel::exir
