// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/subgraph.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "backends/xnnpack/format/attention.h"
#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/scale_ratios.h"
#include "backends/xnnpack/format/widened.h"
#include "backends/xnnpack/runtime/node_definition.h"
#include "backends/xnnpack/runtime/status.h"
#include "backends/xnnpack/runtime/value_definition.h"
#include "runtime/core/log.h"
#include "runtime/core/result.h"
#include "third_party/xnnpack/attention/attention.h"
#include "third_party/xnnpack/cell/cell.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using runtime::Result;

class Builder {
 public:
  Builder(const Graph& graph, const Cells& cells, ConstantSource& constants, ConstantForms* forms,
          KeptConstants* kept, WeightFeed* feed)
      : graph_(graph),
        cells_(cells),
        constants_(constants),
        forms_(forms),
        kept_(kept),
        feed_(feed) {}

  Result<Subgraph> build() {
    xnn_subgraph_t subgraph = nullptr;
    PETREL_RETURN_IF_ERROR(
        check("subgraph", 0, xnn_create_subgraph(graph_.num_externs, 0, &subgraph)));
    subgraph_.reset(subgraph);
    ids_.assign(graph_.values.size(), XNN_INVALID_VALUE_ID);
    const std::vector<bool> is_inside = find_inside();
    for (uint32_t id = 0; id < graph_.values.size(); ++id) {
      if (!graph_.values[id].is_constant() && !is_inside[id]) {
        PETREL_RETURN_IF_ERROR(define(id, nullptr, &ids_[id]));
      }
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const uint32_t cell = cell_of(i);
      if (cell == kNoNode) continue;
      const bool is_attention = graph_.nodes[i].attention != nullptr;
      PETREL_RETURN_IF_ERROR(cell != kStaysNode ? add_cell(cell)
                             : is_attention     ? add_attention(i)
                                                : add_node(i));
    }
    return std::move(subgraph_);
  }

 private:
  static Error check(const char* what, size_t index, xnn_status status) {
    if (status == xnn_status_success) return Error::Ok;
    PETREL_LOG(Error, "XNNPACK refuses %s %zu: status %d", what, index, static_cast<int>(status));
    return error_of(status, Error::InvalidProgram);
  }

  Error define(uint32_t id, const void* data, uint32_t* out) {
    PETREL_ASSIGN_OR_RETURN(const void* scales, constants_.get_scales(id));
    return check("value", id, define_value(subgraph_.get(), graph_.values[id], data, scales, out));
  }

  Error add_node(size_t index) {
    const Node& node = graph_.nodes[index];
    const bool packs = find_node_kind(node.kind)->has_bias && !node.is_unpacked;
    std::vector<uint32_t> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const uint32_t id = node.inputs[i];
      uint32_t defined = XNN_INVALID_VALUE_ID;
      if (id == kNoId) {
      } else if (!graph_.values[id].is_constant()) {
        defined = ids_[id];
      } else if (packs && i == 1) {
        PETREL_ASSIGN_OR_RETURN(defined, filter(node, id));
      } else if (packs && i == 2) {
        PETREL_ASSIGN_OR_RETURN(defined, bias(id));
      } else {
        const bool stays = node.is_unpacked && i == 1;
        PETREL_ASSIGN_OR_RETURN(defined, stays ? constant_in_place(id) : kept_constant(id));
        constants_.was_read(id);
      }
      inputs.push_back(defined);
    }
    std::vector<uint32_t> outputs;
    for (const uint32_t id : node.outputs) outputs.push_back(ids_[id]);
    const Widened wide = widened(graph_, node);
    const uint32_t output = outputs[0];
    if (wide.input) PETREL_RETURN_IF_ERROR(widen_input(index, &inputs[0]));
    if (wide.output) {
      PETREL_RETURN_IF_ERROR(define_floats(index, node.outputs[0], &outputs[0]));
    }
    PETREL_RETURN_IF_ERROR(
        check("node", index, define_node(subgraph_.get(), node, inputs, outputs)));
    return wide.output ? convert(index, outputs[0], output) : Error::Ok;
  }

  uint32_t cell_of(size_t node) const {
    return cells_.of_node.empty() ? kStaysNode : cells_.of_node[node];
  }

  // By value, whether there is none of XNNPACK.
  std::vector<bool> find_inside() const {
    std::vector<bool> is_inside(graph_.values.size());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (cell_of(i) == kStaysNode) continue;
      for (const uint32_t id : graph_.nodes[i].outputs) is_inside[id] = true;
    }
    for (const Cell& cell : cells_.cells) {
      for (const uint32_t id : cell.outputs()) is_inside[id] = false;
    }
    return is_inside;
  }

  Error add_cell(uint32_t index) {
    const Cell& cell = cells_.cells[index];
    std::vector<uint32_t> inputs;
    for (const uint32_t id : cell.inputs()) {
      uint32_t defined = ids_[id];
      if (graph_.values[id].is_constant()) {
        PETREL_ASSIGN_OR_RETURN(defined, kept_constant(id));
        constants_.was_read(id);
      }
      inputs.push_back(defined);
    }
    std::vector<uint32_t> outputs;
    for (const uint32_t id : cell.outputs()) outputs.push_back(ids_[id]);
    return check("cell", index,
                 petrel_define_cell(subgraph_.get(), &cells_.programs[index], inputs.data(),
                                    outputs.data()));
  }

  // Operands that are constants are read where they are kept.
  Error add_attention(size_t index) {
    const Node& node = graph_.nodes[index];
    std::vector<uint32_t> inputs;
    std::vector<const void*> constants(node.inputs.size());
    std::vector<uint32_t> places(node.inputs.size());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const uint32_t id = node.inputs[i];
      if (graph_.values[id].is_constant()) {
        PETREL_ASSIGN_OR_RETURN(constants[i], kept_data(id));
        constants_.was_read(id);
        continue;
      }
      places[i] = static_cast<uint32_t>(inputs.size());
      inputs.push_back(ids_[id]);
    }
    kept_->attentions.push_back(attention_program(graph_, node, constants, places));
    return check("attention", index,
                 petrel_define_attention(subgraph_.get(), &kept_->attentions.back(), inputs.data(),
                                         ids_[node.outputs[0]]));
  }

  // A value between nodes with the sizes of `id`, in floats.
  Error define_floats(size_t index, uint32_t id, uint32_t* floats) {
    Value wide;
    wide.dims = graph_.values[id].dims;
    return check("node", index, define_value(subgraph_.get(), wide, nullptr, nullptr, floats));
  }

  Error convert(size_t index, uint32_t from, uint32_t to) {
    Node node;
    node.kind = NodeKind::Convert;
    return check("node", index, define_node(subgraph_.get(), node, {from}, {to}));
  }

  Error widen_input(size_t index, uint32_t* input) {
    const uint32_t halves = *input;
    PETREL_RETURN_IF_ERROR(define_floats(index, graph_.nodes[index].inputs[0], input));
    return convert(index, halves, *input);
  }

  // How a node uses its filter, as far as the packed form depends on it; all but the
  // scales of the filter, which its id stands for.
  std::string use_of_filter(const Node& node) const {
    const Channels& c = node.channels;
    const Window& w = node.window;
    std::string use = std::to_string(static_cast<int>(node.kind)) + "/" +
                      std::to_string(node.flags) + "/" +
                      to_string(graph_.values[node.inputs[1]].dims);
    if (find_node_kind(node.kind)->family == NodeFamily::kConvolution) {
      use += to_string({c.groups, c.group_input_channels, c.group_output_channels, w.kernel_height,
                        w.kernel_width});
      if (node.winograd.threads != 0) {
        use += node.winograd.transforms_each_run
                   ? "/winograd_each_run"
                   : "/winograd" + to_string({node.winograd.tile, w.stride_height});
      }
    }
    if (node.is_split) use += "/split";
    // Transposed convolutions are split into one product for each phase.
    if (node.kind == NodeKind::ConvTranspose2d) {
      use += to_string({w.stride_height, w.stride_width, w.dilation_height, w.dilation_width});
    }
    // Packed beside the filter: its scales by those of input and output, and its sums by
    // the zero point of the input.
    for (const uint32_t id : {node.inputs[0], node.inputs[1], node.outputs[0]}) {
      use += describe_quantization(graph_.values[id]);
    }
    return use;
  }

  // Whether all scales of the filter may lie between those of input and output. Ratios
  // grow with them.
  Error check_filter_scales(const Node& node, uint32_t id) const {
    const Value& input = graph_.values[node.inputs[0]];
    if (input.datatype != Datatype::QINT8) return Error::Ok;
    const auto [least, greatest] = constants_.range_of_scales(id);
    for (const float scale : {least, greatest}) {
      const Problem problem =
          check_filter_scale(input.quant.scale, scale, graph_.values[node.outputs[0]].quant.scale);
      if (problem.ok()) continue;
      const Scales& scales = graph_.values[id].quant.scales;
      PETREL_LOG(Error, "scale %g of a filter, '%s': %s", static_cast<double>(scale),
                 graph_.constants[scales.constant].key.c_str(), problem.text().c_str());
      return Error::NotSupported;
    }
    return Error::Ok;
  }

  // Many nodes may share a filter: what goes through its scales is done once for a form.
  Result<uint32_t> filter(const Node& node, uint32_t id) {
    PETREL_ASSIGN_OR_RETURN(const void* scales, constants_.get_scales(id));
    if (scales != nullptr) PETREL_RETURN_IF_ERROR(check_filter_scales(node, id));
    std::string use = use_of_filter(node);
    const auto found = filters_.find({id, use});
    if (found != filters_.end()) return found->second;
    PETREL_RETURN_IF_ERROR(add_form(id));
    uint32_t defined = 0;
    PETREL_RETURN_IF_ERROR(define(id, feed_->placeholder(), &defined));
    filters_[{id, use}] = defined;
    if (scales != nullptr) {
      const Value& filter = graph_.values[id];
      use.append("/s:").append(static_cast<const char*>(scales),
                               filter.quant.scales.count * scale_bytes(filter));
    }
    feed_->add(defined, {id, true, std::move(use)});
    return defined;
  }

  Result<uint32_t> bias(uint32_t id) {
    const auto found = biases_.find(id);
    if (found != biases_.end()) return found->second;
    PETREL_RETURN_IF_ERROR(add_form(id));
    uint32_t defined = 0;
    PETREL_RETURN_IF_ERROR(define(id, feed_->placeholder(), &defined));
    feed_->add(defined, {id, false, ""});
    biases_[id] = defined;
    return defined;
  }

  Result<uint32_t> kept_constant(uint32_t id) {
    if (ids_[id] != XNN_INVALID_VALUE_ID) return uint32_t{ids_[id]};
    PETREL_ASSIGN_OR_RETURN(const void* data, kept_data(id));
    PETREL_RETURN_IF_ERROR(define(id, data, &ids_[id]));
    return uint32_t{ids_[id]};
  }

  // Once for all nodes that read it.
  Result<const void*> kept_data(uint32_t id) {
    const auto found = kept_data_.find(id);
    if (found != kept_data_.end()) return found->second;
    PETREL_RETURN_IF_ERROR(add_form(id));
    PETREL_ASSIGN_OR_RETURN(const void* data, constants_.get_kept(id, &kept_->copies));
    kept_data_[id] = data;
    return data;
  }

  Result<uint32_t> constant_in_place(uint32_t id) {
    PETREL_ASSIGN_OR_RETURN(const void* data, constants_.get_in_place(id, &kept_->in_place));
    if (data == nullptr) return kept_constant(id);
    PETREL_RETURN_IF_ERROR(define(id, data, &ids_[id]));
    return uint32_t{ids_[id]};
  }

  Error add_form(uint32_t id) {
    const Value& value = graph_.values[id];
    const Scales& scales = value.quant.scales;
    // Entry 0 stands for what lies in the payload; each form has a copy of that, too.
    const uint64_t bytes = uint64_t{scales.count} * scale_bytes(value);
    PETREL_RETURN_IF_ERROR(forms_->add(graph_.constants[scales.constant], bytes));
    return forms_->add(graph_.constants[value.constant], bytes_of(id));
  }

  size_t bytes_of(uint32_t id) const { return static_cast<size_t>(count_bytes(graph_.values[id])); }

  const Graph& graph_;
  const Cells& cells_;
  ConstantSource& constants_;
  ConstantForms* forms_;
  KeptConstants* kept_;
  WeightFeed* feed_;
  Subgraph subgraph_;
  std::vector<uint32_t> ids_;  // XNNPACK's ids by value
  std::map<std::pair<uint32_t, std::string>, uint32_t> filters_;
  std::map<uint32_t, uint32_t> biases_;
  std::map<uint32_t, const void*> kept_data_;
};

}  // namespace

Error ConstantForms::add(const ConstantData& constant, uint64_t bytes) {
  if (memory_ == nullptr) return Error::Ok;
  if (constant.is_named()) {
    if (keys_.insert(constant.key).second) return Error::Ok;
  } else {
    const uint64_t free = std::min(bytes, payload_left_);
    payload_left_ -= free;
    bytes -= free;
  }
  // A value has at most 2^34 bytes.
  return memory_->take("a constant that an XNNPACK payload names again", 2 * bytes);
}

Result<Subgraph> make_subgraph(const Graph& graph, const Cells& cells, ConstantSource& constants,
                               ConstantForms* forms, KeptConstants* kept, WeightFeed* feed) {
  return Builder(graph, cells, constants, forms, kept, feed).build();
}

size_t count_filter_bytes(const Graph& graph) {
  uint64_t sum = 0;
  for (const Node& node : graph.nodes) {
    if (!find_node_kind(node.kind)->has_bias || node.is_unpacked) continue;
    const Value& filter = graph.values[node.inputs[1]];
    if (!filter.is_constant()) continue;
    // A value is at most 2^34 bytes, a graph has fewer than 2^30 nodes.
    sum += count_bytes(filter);
  }
  return static_cast<size_t>(sum);
}

}  // namespace petrel::backends::xnnpack
