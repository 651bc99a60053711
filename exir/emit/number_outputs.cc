// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/number_outputs.h"

#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ir/blob.h"
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

template <typename T>
Blob bytes_of(T number) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &number, sizeof(T));
  return Blob::owned(std::move(bytes));
}

// nullptr for None and strings.
std::shared_ptr<Constant> constant_of(const Argument& known) {
  auto constant = std::make_shared<Constant>();
  constant->kind = Constant::Kind::kLiteral;
  if (known.is_bool()) {
    constant->type.dtype = ScalarType::kBool;
    constant->data = bytes_of(known.as_bool());
  } else if (known.is_int()) {
    constant->type.dtype = ScalarType::kLong;
    constant->data = bytes_of(known.as_int());
  } else if (known.is_float()) {
    constant->type.dtype = ScalarType::kDouble;
    constant->data = bytes_of(known.as_float());
  } else {
    return nullptr;
  }
  return constant;
}

void add_known_numbers(const std::string& name, Method& method) {
  auto& fixed = method.signature.fixed_outputs;
  std::vector<Value*> outputs = method.graph->outputs();
  size_t before = 0;  // that stay as they are
  for (auto at = fixed.begin(); at != fixed.end();) {
    const auto& [place, known] = *at;
    const std::shared_ptr<Constant> constant = constant_of(known);
    if (constant == nullptr) {
      ++before;
      ++at;
      continue;
    }
    constant->fqn = absl::StrCat(name, ".", method.signature.output_names[place]);
    outputs.insert(outputs.begin() + static_cast<std::ptrdiff_t>(place - before),
                   method.graph->add_constant(constant));
    at = fixed.erase(at);
  }
  method.graph->set_outputs(std::move(outputs));
}

}  // namespace

void add_known_numbers(Program& program) {
  for (auto& [name, method] : program.methods) add_known_numbers(name, method);
}

void show_numbers(Program& program) {
  for (auto& [name, method] : program.methods) show_numbers(method);
}

}  // namespace petrel::exir
