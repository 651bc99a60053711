// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/graph_check.h"

#include <cmath>
#include <string>

#include "backends/xnnpack/format/live_bytes.h"
#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/quantization.h"
#include "backends/xnnpack/format/scale_ratios.h"
#include "backends/xnnpack/format/shape_rules.h"

namespace petrel::backends::xnnpack {
namespace {

std::string number(uint64_t value) { return std::to_string(value); }

// XNNPACK computes a factor for each channel of a filter in every node, in some four
// nanoseconds; one filter may be that of many nodes.
constexpr uint64_t kMaxScaledChannels = uint64_t{1} << 27;

std::string describe(const Graph& graph, const Node& node) {
  return "node " + number(static_cast<uint64_t>(&node - graph.nodes.data())) + " (" +
         find_node_kind(node.kind)->name + ")";
}

// Scales that lie where constants do; of data from outside the size is not known yet.
Problem check_stored_scales(const Graph& graph, const Value& value) {
  const Scales& scales = value.quant.scales;
  if (scales.constant == 0) return Problem::none();
  const ConstantData& data = graph.constants[scales.constant];
  const uint64_t bytes = uint64_t{scales.count} * scale_bytes(value);
  if (data.is_named() || data.size >= bytes) return Problem::none();
  return Problem::invalid("the constant of its scales has " + number(data.size) + " bytes, " +
                          number(scales.count) + " scales need " + number(bytes));
}

Problem check_value(const Graph& graph, const Value& value, std::vector<bool>* externals) {
  if (Problem p = check_dims(value.dims); !p.ok()) return p;
  if (Problem p = check_stored_scales(graph, value); !p.ok()) return p;
  if (value.flags > (kExternalInput | kExternalOutput) || (value.is_input() && value.is_output())) {
    return Problem::invalid("flags are " + number(value.flags) + ", must be 0, 1 or 2");
  }
  if (value.flags == 0) {
    if (value.external_id == kNoId) {
      if (!value.is_constant()) return Problem::none();
      const ConstantData& data = graph.constants[value.constant];
      const uint64_t bytes = count_bytes(value);
      if (!data.is_named() && data.size < bytes) {
        return Problem::invalid("its constant has " + number(data.size) + " bytes, " +
                                to_string(value.dims) + " needs " + number(bytes));
      }
      return Problem::none();
    }
    return Problem::invalid("external_id is " + number(value.external_id) +
                            ", but it is neither input nor output");
  }
  if (value.is_constant()) return Problem::invalid("it is external and a constant");
  if (value.external_id >= graph.num_externs) {
    return Problem::invalid("external_id is " + number(value.external_id) + ", must be below " +
                            number(graph.num_externs));
  }
  if ((*externals)[value.external_id]) {
    return Problem::invalid("external_id " + number(value.external_id) + " is taken");
  }
  (*externals)[value.external_id] = true;
  return Problem::none();
}

Problem check_node(const Graph& graph, const Node& node, std::vector<bool>* ready) {
  const NodeKindInfo& info = *find_node_kind(node.kind);
  if ((node.flags & ~info.allowed_flags) != 0) {
    return Problem::unsupported("flags are " + number(node.flags) + ", may be " +
                                number(info.allowed_flags));
  }
  if (std::isnan(node.output_min) || std::isnan(node.output_max) ||
      node.output_min > node.output_max) {
    return Problem::invalid("output range is [" + std::to_string(node.output_min) + ", " +
                            std::to_string(node.output_max) + "]");
  }
  std::vector<const Dims*> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const uint32_t id = node.inputs[i];
    if (id == kNoId) {
      inputs.push_back(nullptr);
      continue;
    }
    if (!(*ready)[id]) {
      return Problem::invalid("input " + number(i) + " is value " + number(id) +
                              ", which nothing has computed yet");
    }
    if (info.has_bias && i >= 1 && !graph.values[id].is_constant()) {
      return Problem::unsupported(std::string(i == 1 ? "filter" : "bias") + " is value " +
                                  number(id) + ", which is not a constant");
    }
    inputs.push_back(&graph.values[id].dims);
  }
  Dims dims;
  if (Problem p = infer_output_dims(node, inputs, &dims); !p.ok()) return p;
  for (const uint32_t id : node.outputs) {
    const Value& value = graph.values[id];
    if ((*ready)[id]) {
      return Problem::invalid("output is value " + number(id) +
                              ", which is an input, a constant or computed before");
    }
    if (value.dims != dims) {
      return Problem::invalid("output is value " + number(id) + " of " + to_string(value.dims) +
                              ", must be " + to_string(dims));
    }
    (*ready)[id] = true;
  }
  return Problem::none();
}

}  // namespace

Problem check_graph(const Graph& graph) {
  std::vector<bool> externals(graph.num_externs, false);
  std::vector<bool> ready(graph.values.size(), false);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (Problem p = check_value(graph, value, &externals); !p.ok()) {
      return std::move(p).in("value " + number(i));
    }
    ready[i] = value.is_input() || value.is_constant();
  }
  if (const uint64_t peak = peak_live_bytes(graph); peak > kMaxValueBytes) {
    return Problem::invalid("values need " + number(peak) +
                            " bytes at the same time, the limit is " + number(kMaxValueBytes));
  }
  if (const uint64_t steps = count_planning_steps(graph); steps > kMaxPlanningSteps) {
    return Problem::unsupported(number(graph.nodes.size()) + " nodes need " + number(steps) +
                                " steps to find places for their values, the limit is " +
                                number(kMaxPlanningSteps));
  }
  for (size_t id = 0; id < externals.size(); ++id) {
    if (!externals[id]) {
      return Problem::invalid("no value has external id " + number(id) + " of " +
                              number(externals.size()));
    }
  }
  for (const Node& node : graph.nodes) {
    if (Problem p = check_node(graph, node, &ready); !p.ok()) {
      return std::move(p).in(describe(graph, node));
    }
  }
  bool has_output = false;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    has_output = has_output || graph.values[i].is_output();
    if (graph.values[i].is_output() && !ready[i]) {
      return Problem::invalid("value " + number(i) + ": no node computes this output");
    }
  }
  // XNNPACK makes nothing of a graph without nodes.
  return has_output ? Problem::none() : Problem::invalid("none of its values is an output");
}

Problem check_implemented(const Graph& graph) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (Problem p = check_quantization(graph.values[i]); !p.ok()) {
      return std::move(p).in("value " + number(i));
    }
  }
  // Below 2^63: a graph has fewer than 2^31 nodes.
  uint64_t scaled_channels = 0;
  for (const Node& node : graph.nodes) {
    const NodeKindInfo& info = *find_node_kind(node.kind);
    if (!info.is_implemented) {
      return Problem::unsupported(describe(graph, node) + " is not supported");
    }
    Problem p = check_datatypes(graph, node);
    if (p.ok()) p = check_scale_ratios(graph, node);
    if (!p.ok()) return std::move(p).in(describe(graph, node));
    if (!info.has_bias) continue;
    const Value& filter = graph.values[node.inputs[1]];
    if (filter.quantization == Quantization::kPerChannel) {
      scaled_channels += filter.quant.scales.count;
    }
  }
  if (scaled_channels > kMaxScaledChannels) {
    return Problem::unsupported("the nodes have " + number(scaled_channels) +
                                " output channels with scales together, the limit is " +
                                number(kMaxScaledChannels));
  }
  return Problem::none();
}

}  // namespace petrel::backends::xnnpack
