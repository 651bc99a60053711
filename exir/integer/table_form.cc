// SPDX-License-Identifier: Apache-2.0
//
// A table is what the program itself computes of all 256 levels, by the reference kernels.
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/fold/evaluate.h"
#include "exir/integer/forms.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/lower/lower_to_kernels.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// More are no function that anybody writes.
constexpr size_t kMostNodes = 64;

// The nodes between one dequantised value and a quantised one, in the order of the graph.
class Cone {
 public:
  // False where there is no such value, or what is between has others. Looks no deeper than
  // there may be nodes, however many stand in a row.
  bool find(const Value* number, size_t depth = 0) {
    if (depth > kMostNodes) return false;
    if (const Node* const node = dequantising(number); node != nullptr) {
      const Value* const levels = node->input(arg::input);
      if (levels->is_constant()) return levels->tensor().numel() == 1 && add(*node);
      if (source_ == nullptr) source_ = levels;
      return source_ == levels && add(*node);
    }
    if (number->is_constant())
      return number->tensor().numel() == 1 && !number->constant()->is_mutable();
    const Node* const node = number->producer();
    if (node == nullptr || !node->op().has(kElementwise) || !node->is_pure() ||
        node->num_results() != 1) {
      return false;
    }
    if (seen_.count(node) != 0) return true;
    for (const Argument& argument : node->arguments()) {
      if (argument.is_list()) return false;
    }
    for (const Value* operand : node->operands()) {
      if (!find(operand, depth + 1)) return false;
    }
    return add(*node);
  }

  const Value* source() const { return source_; }
  const std::vector<const Node*>& nodes() const { return nodes_; }

 private:
  bool add(const Node& node) {
    if (seen_.insert(&node).second) nodes_.push_back(&node);
    return nodes_.size() <= kMostNodes;
  }

  const Value* source_ = nullptr;
  std::set<const Node*> seen_;
  std::vector<const Node*> nodes_;
};

// All levels of `dtype`, the least first.
absl::StatusOr<ConstantPtr> all_levels(ScalarType dtype) {
  std::vector<double> levels;
  for (int i = 0; i < 256; ++i) levels.push_back(i - (dtype == ScalarType::kChar ? 128 : 0));
  auto constant = std::make_shared<Constant>();
  constant->fqn = "levels";
  constant->kind = Constant::Kind::kLiteral;
  constant->type = TensorType::contiguous(dtype, {256});
  PETREL_ASSIGN_OR_RETURN(constant->data, encode_constant(levels, dtype));
  return ConstantPtr(std::move(constant));
}

absl::StatusOr<Blob> table_of(const Cone& cone, const Node& quantize) {
  auto graph = std::make_unique<Graph>("table");
  PETREL_ASSIGN_OR_RETURN(ConstantPtr levels, all_levels(cone.source()->tensor().dtype));
  std::map<const Value*, Value*> copies = {{cone.source(), graph->add_constant(std::move(levels))}};
  Builder b(*graph, nullptr);
  const auto copy = [&](const Node& node) -> absl::StatusOr<Value*> {
    std::vector<Argument> arguments = node.arguments();
    for (Argument& argument : arguments) {
      if (!argument.is_value()) continue;
      Value* const old = argument.value();
      auto [found, is_new] = copies.emplace(old, nullptr);
      if (is_new) found->second = graph->add_constant(old->constant());
      argument = Argument(found->second);
    }
    PETREL_ASSIGN_OR_RETURN(Node * made, b.node(node.op(), std::move(arguments)));
    copies[node.result()] = made->result();
    return made->result();
  };
  for (const Node* node : cone.nodes()) PETREL_RETURN_IF_ERROR(copy(*node).status());
  PETREL_ASSIGN_OR_RETURN(Value * result, copy(quantize));
  graph->set_outputs({result});
  PETREL_RETURN_IF_ERROR(lower_to_kernels(*graph, PassContext()).status());
  PETREL_ASSIGN_OR_RETURN(const std::vector<Blob> outputs, evaluate(std::move(graph)));
  return outputs[0];
}

}  // namespace

absl::StatusOr<Value*> table_form(Builder& b, const Node& quantize) {
  Cone cone;
  if (!cone.find(quantize.input(arg::input)) || cone.source() == nullptr) return nullptr;
  if (!(cone.source()->tensor().without_order().all_sizes() ==
        quantize.result()->tensor().all_sizes())) {
    return nullptr;
  }
  PETREL_ASSIGN_OR_RETURN(Blob data, table_of(cone, quantize));
  if (data.size() != 256) return cannot("its numbers are more than one");
  PETREL_ASSIGN_OR_RETURN(
      Value * table,
      add_numbers(b, "int8_table", quantize.result()->tensor().dtype, std::move(data), {}));
  return b.call(petrel_ops::int8_table, {const_cast<Value*>(cone.source()), table});
}

}  // namespace petrel::exir
