// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/varying_partition.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/format/shape_rules.h"
#include "exir/ir/size_points.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using exir::SizePoint;
using exir::SizePoints;

bool varies(const exir::Value& value) {
  return value.type().is_tensor() && value.tensor().is_dynamic();
}

// Calls `visit` with every input and result.
template <typename Visit>
void for_each_value(const exir::Graph& partition, Visit visit) {
  for (exir::Value* input : partition.inputs()) visit(input);
  for (const auto& node : partition.nodes()) {
    for (size_t i = 0; i < node->num_results(); ++i) visit(node->result(i));
  }
}

// A copy of `partition` with the sizes of one point; null where the point has no value
// for one of them.
std::unique_ptr<exir::Graph> at_point(const exir::Graph& partition, const SizePoint& point) {
  std::unique_ptr<exir::Graph> copy = partition.clone();
  bool has_all = true;
  for_each_value(*copy, [&](exir::Value* value) {
    if (!varies(*value)) return;
    std::optional<exir::TensorType> type = point.type_at(value->tensor());
    has_all = has_all && type;
    if (has_all) value->set_type(*std::move(type));
  });
  return has_all ? std::move(copy) : nullptr;
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

// The arguments of the delegate have the sizes of the IR, of which `partition` is a copy
// at one point.
absl::Status check_at(const exir::Graph& partition, const Graph& graph) {
  std::vector<Dims> dims;
  std::map<uint32_t, Dims> inputs;
  for (size_t i = 0; i < partition.inputs().size(); ++i) {
    const exir::Sizes& sizes = partition.inputs()[i]->tensor().sizes;
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
    const exir::Value* output = partition.outputs()[value.external_id - partition.inputs().size()];
    const exir::Sizes& sizes = output->tensor().sizes;
    if (dims[id] == Dims(sizes.begin(), sizes.end())) continue;
    return absl::InvalidArgumentError(absl::StrCat("output '", output->name(), "' would be ",
                                                   to_string(dims[id]), " instead of ",
                                                   exir::to_string(output->type())));
  }
  return absl::OkStatus();
}

// Graphs at points show what varies, if each size that does so does it there.
absl::Status check_varies(const exir::Graph& partition, const SizePoints& tried) {
  for (const auto& [size, other] : tried.alike) {
    if (!other.is_constant()) continue;
    std::string place;
    for_each_value(partition, [&, &size = size](const exir::Value* value) {
      if (!varies(*value)) return;
      for (size_t dim = 0; dim < value->tensor().rank(); ++dim) {
        if (!place.empty() || value->tensor().size(dim) != size) continue;
        place = absl::StrCat("dim ", dim, " of '", value->name(), "'");
      }
    });
    return absl::InvalidArgumentError(absl::StrCat(place, " is ", exir::to_string(size),
                                                   ", which is hard to tell from a fixed size"));
  }
  return absl::OkStatus();
}

// A slice keeps whole dims or takes a fixed part from a fixed place.
absl::Status check_slice(const exir::Node& node) {
  if (!node.is(aten::slice_Tensor)) return absl::OkStatus();
  const exir::Value* operand = node.operands()[0];
  const exir::Argument& start = node.argument(arg::start);
  for (size_t dim = 0; dim < operand->tensor().rank(); ++dim) {
    const exir::SizeExpression size = node.result()->tensor().size(dim);
    const exir::SizeExpression whole = operand->tensor().size(dim);
    if (size == whole) continue;
    const char* what = size.is_constant() ? nullptr : "extent";
    // Counted from the end, or cut where the dim is shorter, it is another place.
    const bool is_fixed =
        whole.is_constant() || start.is_none() ||
        (start.is_int() && start.as_int() >= 0 && start.as_int() <= whole.range().low);
    if (what == nullptr && !is_fixed) what = "start";
    if (what == nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("'", node.result()->name(), "': its ", what, " depends on sizes that vary"));
  }
  return absl::OkStatus();
}

SizePoints points_of(const exir::Graph& partition) {
  std::vector<exir::SizeExpression> sizes;
  for_each_value(partition, [&sizes](const exir::Value* value) {
    if (!varies(*value)) return;
    const auto& of_value = value->tensor().expressions;
    sizes.insert(sizes.end(), of_value.begin(), of_value.end());
  });
  return exir::points_for(sizes);
}

}  // namespace

bool has_varying_sizes(const exir::Graph& partition) {
  bool found = false;
  for_each_value(partition,
                 [&found](const exir::Value* value) { found = found || varies(*value); });
  return found;
}

absl::Status fit_all_sizes(const exir::Graph& partition, WeightBlobs& weights,
                           exir::RoutedBlobStore& store, Lowering& lowering) {
  const SizePoints tried = points_of(partition);
  PETREL_RETURN_IF_ERROR(check_varies(partition, tried));
  for (const auto& node : partition.nodes()) PETREL_RETURN_IF_ERROR(check_slice(*node));
  std::vector<std::unique_ptr<exir::Graph>> partitions;
  std::vector<std::unique_ptr<Lowering>> lowerings;
  Graph joined = lowering.graph();
  std::vector<const Graph*> graphs = {&lowering.graph()};
  for (const SizePoint& point : tried.points) {
    std::unique_ptr<exir::Graph> copy = at_point(partition, point);
    if (copy == nullptr) continue;
    partitions.push_back(std::move(copy));
    lowerings.push_back(std::make_unique<Lowering>(*partitions.back(), weights, store));
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
  for (const std::unique_ptr<exir::Graph>& copy : partitions) {
    PETREL_RETURN_IF_ERROR(check_at(*copy, joined));
  }
  // The largest and the smallest sizes.
  for (size_t k = 0; k < exir::kFirstGeneralSample; ++k) {
    PETREL_RETURN_IF_ERROR(check_at(*at_point(partition, SizePoint(k)), joined));
  }
  lowering.graph() = std::move(joined);
  return absl::OkStatus();
}

exir::Support supports_varying(const exir::Node& node) {
  exir::Graph partition("partition");
  std::map<exir::Value*, exir::Value*> copies;
  std::vector<exir::Argument> arguments = node.arguments();
  for (exir::Argument& argument : arguments) {
    for (exir::Value* value : argument.values()) {
      exir::Value*& copy = copies[value];
      if (copy == nullptr) {
        copy = value->is_constant() ? partition.add_constant(value->constant())
                                    : partition.add_input(value->type(), value->name());
      }
      argument.replace(value, copy);
    }
  }
  const exir::Node* copy = partition.append(node.op(), std::move(arguments),
                                            {node.result()->type()}, node.result()->name());
  partition.set_outputs({copy->result()});
  WeightBlobs weights;
  exir::RoutedBlobStore store("");
  Lowering lowering(partition, weights, store);
  absl::Status status = lowering.run();
  if (status.ok()) status = fit_all_sizes(partition, weights, store, lowering);
  return status.ok() ? exir::Support::yes() : exir::Support::no(std::string(status.message()));
}

}  // namespace petrel::backends::xnnpack::aot
