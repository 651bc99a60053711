// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/border_order.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "exir/ops/handles.h"
#include "exir/ops/table.h"

namespace petrel::exir::emit_c {
namespace {

bool is_copied(const Value& value) {
  if (!value.type().is_tensor()) return false;
  const TensorType& type = value.tensor();
  return type.dtype != ScalarType::kChar && type.is_contiguous() && has_two_orders(type);
}

std::vector<Argument> clone_of(Value* value) { return {Argument(value), Argument()}; }

void bring_inputs(Graph& graph) {
  for (Value* input : std::vector<Value*>(graph.inputs())) {
    if (!is_copied(*input)) continue;
    const TensorType type = input->tensor();
    const std::string name = input->name() + "_in_order";
    const OpInfo& clone = op(aten::clone);
    Node* const copy = graph.nodes().empty()
                           ? graph.append(clone, clone_of(input), {Type(type)}, name)
                           : graph.insert_before(graph.nodes().front().get(), clone,
                                                 clone_of(input), {Type(type)}, name);
    graph.replace_all_uses(input, copy->result());
    copy->set_argument(0, Argument(input));
    input->set_type(channels_innermost(type));
  }
}

void bring_outputs(Graph& graph) {
  std::vector<Value*> outputs = graph.outputs();
  std::map<Value*, Value*> brought;
  for (Value*& output : outputs) {
    if (!is_copied(*output)) continue;
    Value*& to = brought[output];
    if (to == nullptr) {
      to = graph
               .append(op(aten::clone), clone_of(output),
                       {Type(channels_innermost(output->tensor()))}, output->name() + "_innermost")
               ->result();
    }
    output = to;
  }
  graph.set_outputs(std::move(outputs));
}

void reorder(const std::vector<Value*>& from, const std::vector<Value*>& to,
             std::vector<Blob>* blobs) {
  for (size_t i = 0; i < from.size(); ++i) {
    if (!from[i]->type().is_tensor() || from[i]->tensor().dim_order == to[i]->tensor().dim_order) {
      continue;
    }
    (*blobs)[i] = with_channels_innermost(from[i]->tensor(), (*blobs)[i]);
  }
}

}  // namespace

bool has_two_orders(const TensorType& type) {
  return type.rank() >= 3 && !type.is_dynamic() && type.sizes[1] > 1 && type.numel() > 0 &&
         type.numel() / (type.sizes[0] * type.sizes[1]) > 1;
}

TensorType channels_innermost(TensorType type) {
  for (size_t d = 1; d + 1 < type.rank(); ++d) type.dim_order[d] = static_cast<uint8_t>(d + 1);
  type.dim_order.back() = 1;
  return type;
}

bool is_channels_innermost(const TensorType& type) {
  return type.rank() >= 3 && type.dim_order == channels_innermost(type).dim_order;
}

Program with_channels_innermost(const Program& program) {
  Program copy;
  for (const auto& [name, method] : program.methods) {
    Method& made = copy.methods[name];
    made.graph = method.graph->clone();
    made.signature = method.signature;
    bring_inputs(*made.graph);
    bring_outputs(*made.graph);
  }
  return copy;
}

void reorder_calls(const Program& from, const Program& to, std::vector<GoldenCall>* calls) {
  size_t i = 0;
  for (const auto& [name, method] : from.methods) {
    GoldenCall& call = (*calls)[i++];
    if (!call.known) continue;
    const Graph& brought = *to.methods.at(name).graph;
    reorder(method.graph->inputs(), brought.inputs(), &call.inputs);
    reorder(method.graph->outputs(), brought.outputs(), &call.outputs);
  }
}

Blob with_channels_innermost(const TensorType& type, const Blob& data) {
  const int64_t channels = type.sizes[1], places = type.numel() / (type.sizes[0] * channels);
  const Blob::Bytes from = data.bytes();
  const auto item = static_cast<int64_t>(item_size(type.dtype));
  std::vector<uint8_t> to(from.size());
  for (int64_t i = 0; i < type.numel(); ++i) {
    const int64_t n = i / (channels * places), c = i / places % channels, place = i % places;
    const int64_t at = (n * places + place) * channels + c;
    std::copy_n(from.data() + i * item, item, to.data() + at * item);
  }
  return Blob::owned(std::move(to));
}

}  // namespace petrel::exir::emit_c
