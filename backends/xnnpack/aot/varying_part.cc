// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/varying_part.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/format/shape_rules.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using exir::kFirstGeneralSample;
using exir::kSamples;

bool varies(const exir::Value& value) {
  return value.type().is_tensor() && value.tensor().is_dynamic();
}

// A copy of `part` with the sizes of one sample point.
std::unique_ptr<exir::Graph> at_sample(const exir::Graph& part, size_t k) {
  std::unique_ptr<exir::Graph> copy = part.clone();
  const auto fix = [k](exir::Value* value) {
    if (varies(*value)) value->set_type(value->tensor().at_sample(k));
  };
  for (exir::Value* input : copy->inputs()) fix(input);
  for (const auto& node : copy->nodes()) {
    for (size_t i = 0; i < node->num_results(); ++i) fix(node->result(i));
  }
  return copy;
}

std::string name_of(const Lowering& bounds, const Node& node) {
  const auto found = bounds.debug_handles().find(node.debug_handle);
  return found == bounds.debug_handles().end() ? std::string("?") : found->second;
}

absl::Status differs(const Lowering& bounds, const Node& node, const char* what) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", name_of(bounds, node), "': its ", what, " depends on sizes that vary"));
}

// Everything but the lists that sizes go into.
bool same_but_lists(const Node& a, const Node& b) {
  return a.kind == b.kind && a.inputs == b.inputs && a.outputs == b.outputs && a.flags == b.flags &&
         a.output_min == b.output_min && a.output_max == b.output_max && a.window == b.window &&
         a.channels == b.channels && a.scalar == b.scalar && a.axis == b.axis &&
         a.new_height == b.new_height && a.new_width == b.new_width &&
         a.list.size() == b.list.size() && a.list2.size() == b.list2.size();
}

// Entries of `list` that are not the same everywhere.
std::vector<size_t> varying_entries(const std::vector<const std::vector<uint32_t>*>& lists) {
  std::vector<size_t> found;
  for (size_t i = 0; i < lists[0]->size(); ++i) {
    const bool same = std::all_of(lists.begin(), lists.end(),
                                  [&](const auto* list) { return (*list)[i] == (*lists[0])[i]; });
    if (!same) found.push_back(i);
  }
  return found;
}

absl::Status join_node(const Lowering& bounds, const std::vector<const Graph*>& graphs, size_t n,
                       Graph* out) {
  Node& node = out->nodes[n];
  std::vector<const std::vector<uint32_t>*> lists;
  std::vector<const std::vector<uint32_t>*> lists2;
  for (const Graph* graph : graphs) {
    if (!same_but_lists(graph->nodes[n], node)) return differs(bounds, node, "form");
    lists.push_back(&graph->nodes[n].list);
    lists2.push_back(&graph->nodes[n].list2);
  }
  const std::vector<size_t> varying = varying_entries(lists);
  const std::vector<size_t> varying2 = varying_entries(lists2);
  if (varying.empty() && varying2.empty()) return absl::OkStatus();
  if (node.kind == NodeKind::StaticReshape && varying.size() == 1) {
    node.list[varying[0]] = 0;
    return absl::OkStatus();
  }
  if (node.kind == NodeKind::StaticSlice && varying.empty()) {
    for (size_t axis : varying2) {
      for (const Graph* graph : graphs) {
        const Node& at = graph->nodes[n];
        const Dims& input = graph->values[at.inputs[0]].dims;
        if (at.list[axis] != 0 || at.list2[axis] != input[axis]) {
          return differs(bounds, node, "extent");
        }
      }
    }
    for (size_t axis : varying2) node.list2[axis] = 0;
    return absl::OkStatus();
  }
  return differs(bounds, node, "shape");
}

// The arguments of the delegate have the sizes of the IR at point `k`.
absl::Status check_at(const exir::Graph& part, const Graph& graph, size_t k) {
  std::vector<Dims> dims;
  std::map<uint32_t, Dims> inputs;
  for (size_t i = 0; i < part.inputs().size(); ++i) {
    const exir::Sizes sizes = part.inputs()[i]->tensor().at_sample(k).sizes;
    inputs[static_cast<uint32_t>(i)] = Dims(sizes.begin(), sizes.end());
  }
  for (const Value& value : graph.values) {
    dims.push_back(value.is_input() ? inputs.at(value.external_id) : value.dims);
  }
  for (const Node& node : graph.nodes) {
    std::vector<const Dims*> in;
    for (const uint32_t id : node.inputs) in.push_back(id == kNoId ? nullptr : &dims[id]);
    Dims made;
    if (const Problem problem = infer_output_dims(node, in, &made); !problem.ok()) {
      return absl::InvalidArgumentError(problem.text());
    }
    for (const uint32_t id : node.outputs) dims[id] = made;
  }
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    if (!value.is_output()) continue;
    const exir::Value* output = part.outputs()[value.external_id - part.inputs().size()];
    const exir::Sizes sizes = output->tensor().at_sample(k).sizes;
    if (dims[id] == Dims(sizes.begin(), sizes.end())) continue;
    return absl::InvalidArgumentError(absl::StrCat("output '", output->name(), "' would be ",
                                                   to_string(dims[id]), " instead of ",
                                                   exir::to_string(output->type())));
  }
  return absl::OkStatus();
}

// Graphs of sample points show what varies, if it does so at all of them.
absl::Status check_varies_at_samples(const exir::Value& value) {
  if (!varies(value)) return absl::OkStatus();
  for (size_t dim = 0; dim < value.tensor().rank(); ++dim) {
    const exir::SizeExpression size = value.tensor().size(dim);
    bool differs = size.is_constant();
    for (size_t k = 1; k < kSamples; ++k) differs |= size.sample(k) != size.sample(0);
    if (differs) continue;
    return absl::InvalidArgumentError(absl::StrCat("dim ", dim, " of '", value.name(), "' is ",
                                                   exir::to_string(size),
                                                   ", which is hard to tell from a fixed size"));
  }
  return absl::OkStatus();
}

// A slice keeps whole dims or takes a fixed part.
absl::Status check_slice(const exir::Node& node) {
  if (!node.is(aten::slice_Tensor)) return absl::OkStatus();
  const exir::Value* operand = node.operands()[0];
  for (size_t dim = 0; dim < operand->tensor().rank(); ++dim) {
    const exir::SizeExpression size = node.result()->tensor().size(dim);
    if (size.is_constant() || size == operand->tensor().size(dim)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("'", node.result()->name(), "': its extent depends on sizes that vary"));
  }
  return absl::OkStatus();
}

absl::Status check_sizes(const exir::Graph& part) {
  for (const exir::Value* input : part.inputs()) {
    PETREL_RETURN_IF_ERROR(check_varies_at_samples(*input));
  }
  for (const auto& node : part.nodes()) {
    for (size_t i = 0; i < node->num_results(); ++i) {
      PETREL_RETURN_IF_ERROR(check_varies_at_samples(*node->result(i)));
    }
    PETREL_RETURN_IF_ERROR(check_slice(*node));
  }
  return absl::OkStatus();
}

}  // namespace

bool has_varying_sizes(const exir::Graph& part) {
  for (const exir::Value* input : part.inputs()) {
    if (varies(*input)) return true;
  }
  for (const auto& node : part.nodes()) {
    for (size_t i = 0; i < node->num_results(); ++i) {
      if (varies(*node->result(i))) return true;
    }
  }
  return false;
}

absl::Status fit_all_sizes(const exir::Graph& part, WeightBlobs& weights,
                           exir::RoutedBlobStore& store, Lowering& lowering) {
  PETREL_RETURN_IF_ERROR(check_sizes(part));
  std::vector<std::unique_ptr<exir::Graph>> parts;
  std::vector<std::unique_ptr<Lowering>> lowerings;
  Graph joined = lowering.graph();
  std::vector<const Graph*> graphs = {&lowering.graph()};
  for (size_t k = kFirstGeneralSample; k < kSamples; ++k) {
    parts.push_back(at_sample(part, k));
    lowerings.push_back(std::make_unique<Lowering>(*parts.back(), weights, store));
    lowerings.back()->use_layouts_of(lowering);
    PETREL_RETURN_IF_ERROR(lowerings.back()->run());
    const Graph& graph = lowerings.back()->graph();
    bool same = graph.nodes.size() == joined.nodes.size() &&
                graph.values.size() == joined.values.size() &&
                graph.constants.size() == joined.constants.size();
    for (size_t i = 0; same && i < graph.constants.size(); ++i) {
      same = graph.constants[i].key == joined.constants[i].key;
    }
    for (size_t i = 0; same && i < graph.values.size(); ++i) {
      const Value& a = graph.values[i];
      const Value& b = joined.values[i];
      same = a.constant == b.constant && a.external_id == b.external_id && a.flags == b.flags &&
             (!a.is_constant() || a.dims == b.dims);
    }
    if (!same) {
      return absl::InvalidArgumentError("what it computes depends on sizes that vary");
    }
    graphs.push_back(&graph);
  }
  for (size_t n = 0; n < joined.nodes.size(); ++n) {
    PETREL_RETURN_IF_ERROR(join_node(lowering, graphs, n, &joined));
  }
  for (size_t k = 0; k < kSamples; ++k) {
    PETREL_RETURN_IF_ERROR(check_at(part, joined, k));
  }
  lowering.graph() = std::move(joined);
  return absl::OkStatus();
}

exir::Support supports_varying(const exir::Node& node) {
  exir::Graph part("part");
  std::map<exir::Value*, exir::Value*> copies;
  std::vector<exir::Argument> arguments = node.arguments();
  for (exir::Argument& argument : arguments) {
    for (exir::Value* value : argument.values()) {
      exir::Value*& copy = copies[value];
      if (copy == nullptr) {
        copy = value->is_constant() ? part.add_constant(value->constant())
                                    : part.add_input(value->type(), value->name());
      }
      argument.replace(value, copy);
    }
  }
  const exir::Node* copy =
      part.append(node.op(), std::move(arguments), {node.result()->type()}, node.result()->name());
  part.set_outputs({copy->result()});
  WeightBlobs weights;
  exir::RoutedBlobStore store("");
  Lowering lowering(part, weights, store);
  absl::Status status = lowering.run();
  if (status.ok()) status = fit_all_sizes(part, weights, store, lowering);
  return status.ok() ? exir::Support::yes() : exir::Support::no(std::string(status.message()));
}

}  // namespace petrel::backends::xnnpack::aot
