// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/varying_partition.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/cut_parts.h"
#include "backends/xnnpack/aot/extent_rules.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/quantized_weight.h"
#include "exir/ops/paths.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using exir::rules::Paths;
using exir::rules::RulePath;

bool varies(const exir::Value& value) {
  return value.type().is_tensor() && value.tensor().is_dynamic();
}

// Every node makes the sizes that the lowering says it does.
absl::Status prove_sizes(const Lowering& lowering) {
  for (const Node& node : lowering.graph().nodes) {
    std::vector<const Extents*> inputs;
    for (const uint32_t id : node.inputs) {
      inputs.push_back(id == kNoId ? nullptr : &lowering.sizes(id));
    }
    const std::string& name = lowering.debug_handles().at(node.debug_handle);
    const absl::StatusOr<Extents> made = infer_extents(node, inputs);
    if (!made.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("'", name, "': ", made.status().message()));
    }
    const Extents& said = lowering.sizes(node.outputs[0]);
    if (are_same(*made, said)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "'", name, "': XNNPACK would make ", to_string(*made), " instead of ", to_string(said)));
  }
  return absl::OkStatus();
}

// What was made on the first path was made on all that any sizes take.
absl::Status check_paths(const std::vector<RulePath>& paths) {
  bool is_decided = !paths.empty();
  for (size_t p = 0; is_decided && p < paths.size(); ++p) {
    if (p > 0 && !exir::rules::is_possible(paths[p])) continue;
    PETREL_RETURN_IF_ERROR(paths[p].types.status());
    is_decided = p == 0 && !paths[p].is_lost;
  }
  if (is_decided) return absl::OkStatus();
  return absl::InvalidArgumentError("what XNNPACK would compute depends on sizes that vary");
}

using SizeSymbols = std::map<std::string, std::shared_ptr<const exir::SizeSymbol>>;

// Those of sizes that may be 0. What no rule can express follows from other sizes.
void collect_empty(const exir::Value& value, SizeSymbols* out) {
  if (!varies(value)) return;
  for (const exir::SizeExpression& size : value.tensor().all_sizes()) {
    if (size.range().low <= 0 && !size.has_unknown()) size.collect_symbols(out);
  }
}

// A size that data decide may be 0, and XNNPACK makes nothing of tensors without elements.
// Sizes of inputs are the caller's choice, who is told. The name of the size, or "".
std::string find_empty_by_data(const exir::Node& node) {
  SizeSymbols symbols;
  for (const exir::Value* operand : node.operands()) collect_empty(*operand, &symbols);
  collect_empty(*node.result(), &symbols);
  const std::vector<exir::Value*>& inputs = node.graph().inputs();
  for (size_t i = 0; i < inputs.size() && !symbols.empty(); ++i) {
    SizeSymbols of_input;
    if (!varies(*inputs[i])) continue;
    for (const exir::SizeExpression& size : inputs[i]->tensor().all_sizes()) {
      size.collect_symbols(&of_input);
    }
    for (const auto& [name, symbol] : of_input) symbols.erase(name);
  }
  return symbols.empty() ? "" : symbols.begin()->first;
}

exir::Value* copy_operand(const exir::Value* value, exir::Graph& partition) {
  if (value->is_constant()) return partition.add_constant(value->constant());
  if (!stored_weight(value)) return partition.add_input(value->type(), value->name());
  const exir::Node& node = *value->producer();
  std::vector<exir::Argument> arguments = node.arguments();
  for (exir::Argument& argument : arguments) {
    for (exir::Value* operand : argument.values()) {
      argument.replace(operand, partition.add_constant(operand->constant()));
    }
  }
  return partition.append(node.op(), std::move(arguments), {value->type()}, value->name())
      ->result();
}

}  // namespace

bool has_varying_sizes(const exir::Graph& partition) {
  for (const exir::Value* input : partition.inputs()) {
    if (varies(*input)) return true;
  }
  for (const auto& node : partition.nodes()) {
    for (size_t i = 0; i < node->num_results(); ++i) {
      if (varies(*node->result(i))) return true;
    }
  }
  return false;
}

absl::StatusOr<std::unique_ptr<Lowering>> lower_for_all_sizes(const exir::Graph& partition,
                                                              WeightBlobs& weights,
                                                              exir::RoutedBlobStore& store) {
  std::unique_ptr<Lowering> first;
  const std::vector<RulePath> paths =
      Paths::explore([&]() -> absl::StatusOr<std::vector<exir::Type>> {
        auto lowering = std::make_unique<Lowering>(partition, weights, store);
        PETREL_RETURN_IF_ERROR(lowering->run());
        PETREL_RETURN_IF_ERROR(prove_sizes(*lowering));
        if (first == nullptr) first = std::move(lowering);
        return std::vector<exir::Type>();
      });
  PETREL_RETURN_IF_ERROR(check_paths(paths));
  return first;
}

exir::Support supports_varying(const exir::Node& node) {
  if (const std::string size = find_empty_by_data(node); !size.empty()) {
    return exir::Support::no("the size '" + size + "', which data decide, may be 0");
  }
  if (exir::Support parts = check_cut_parts(node); !parts.supported) return parts;
  exir::Graph partition("partition");
  std::map<exir::Value*, exir::Value*> copies;
  std::vector<exir::Argument> arguments = node.arguments();
  for (exir::Argument& argument : arguments) {
    for (exir::Value* value : argument.values()) {
      exir::Value*& copy = copies[value];
      if (copy == nullptr) copy = copy_operand(value, partition);
      argument.replace(value, copy);
    }
  }
  const exir::Node* copy = partition.append(node.op(), std::move(arguments),
                                            {node.result()->type()}, node.result()->name());
  partition.set_outputs({copy->result()});
  WeightBlobs weights;
  exir::RoutedBlobStore store("");
  const auto lowering = lower_for_all_sizes(partition, weights, store);
  if (lowering.ok()) return exir::Support::yes();
  return exir::Support::no(std::string(lowering.status().message()));
}

}  // namespace petrel::backends::xnnpack::aot
