// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/opened_payload.h"

#include <algorithm>
#include <utility>

#include "backends/xnnpack/format/dead_nodes.h"
#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/payload_reader.h"
#include "backends/xnnpack/format/shape_rules.h"
#include "extension/diff/value_trace.h"
#include "extension/npy/tensor_array.h"
#include "runtime/core/budget.h"
#include "runtime/core/limits.h"
#include "runtime/core/log.h"

namespace petrel::extension {

namespace xnnpack = backends::xnnpack;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::ScalarType;
using runtime::Span;
using xnnpack::Datatype;
using xnnpack::Dims;
using xnnpack::Value;

namespace {

Error report(const xnnpack::Problem& problem) {
  if (problem.ok()) return Error::Ok;
  PETREL_LOG(Error, "XNNPACK payload: %s", problem.text().c_str());
  return Error::InvalidProgram;
}

// Numbers that are rounded as they arrive have their scales beside them, which an output
// does not.
bool can_be_shown(const Value& value) {
  return value.datatype == Datatype::FP32 || value.datatype == Datatype::FP16 ||
         value.datatype == Datatype::QINT8;
}

// In the order of external ids.
std::vector<uint32_t> externals(const xnnpack::Graph& graph, bool (Value::*is_wanted)() const) {
  std::vector<uint32_t> ids;
  for (uint32_t id = 0; id < graph.values.size(); ++id) {
    if ((graph.values[id].*is_wanted)()) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end(), [&](uint32_t a, uint32_t b) {
    return graph.values[a].external_id < graph.values[b].external_id;
  });
  return ids;
}

NpyArray empty_array(const Value& value, const Dims& dims) {
  NpyArray array;
  array.type = value.datatype == Datatype::QINT8  ? ScalarType::Char
               : value.datatype == Datatype::FP16 ? ScalarType::Half
                                                  : ScalarType::Float;
  array.shape.assign(dims.begin(), dims.end());
  const uint64_t elements = xnnpack::count_elements(dims);
  array.data.resize(static_cast<size_t>(elements) * runtime::element_size(array.type));
  return array;
}

}  // namespace

Result<std::unique_ptr<OpenedPayload>> OpenedPayload::open(const void* payload, size_t size,
                                                           const runtime::NamedDataMap* map) {
  std::unique_ptr<OpenedPayload> opened(new OpenedPayload);
  xnnpack::Graph& graph = opened->graph_;
  runtime::Budget memory("max_delegate_bytes", runtime::Limits().max_delegate_bytes);
  const auto may_take = [&](uint64_t bytes) {
    return memory.take("the values and nodes of an opened payload", bytes) == Error::Ok;
  };
  PETREL_RETURN_IF_ERROR(
      report(xnnpack::read_payload(static_cast<const uint8_t*>(payload), size, &graph, may_take)));
  PETREL_RETURN_IF_ERROR(report(xnnpack::check_graph(graph)));
  xnnpack::remove_dead_nodes(&graph);
  opened->inputs_ = externals(graph, &Value::is_input);
  opened->outputs_ = externals(graph, &Value::is_output);
  xnnpack::Graph all = graph;
  for (const xnnpack::Node& node : graph.nodes) {
    for (const uint32_t id : node.outputs) {
      Value& value = all.values[id];
      if (value.is_output() || !can_be_shown(value)) continue;
      value.flags |= xnnpack::kExternalOutput;
      value.external_id = all.num_externs++;
      opened->shown_.push_back(id);
    }
  }
  graph.constants.clear();
  graph.storage.reset();
  if (opened->shown_.empty()) return opened;
  xnnpack::Delegate::Options options;
  options.memory = &memory;
  PETREL_ASSIGN_OR_RETURN(opened->delegate_,
                          xnnpack::Delegate::create(std::move(all), size, map, options));
  return opened;
}

// Of all values, for inputs of these sizes.
Result<std::vector<Dims>> OpenedPayload::dims_of(Span<EValue*> args) const {
  std::vector<Dims> dims(graph_.values.size());
  for (size_t id = 0; id < dims.size(); ++id) dims[id] = graph_.values[id].dims;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(const runtime::Tensor tensor, args[i]->tryToTensor());
    Dims& given = dims[inputs_[i]];
    for (size_t d = 0; d < given.size() && static_cast<size_t>(tensor.dim()) == given.size(); ++d) {
      const size_t axis = tensor.dim_order().empty() ? d : tensor.dim_order()[d];
      given[d] = static_cast<uint32_t>(tensor.size(static_cast<ssize_t>(axis)));
    }
  }
  for (const xnnpack::Node& node : graph_.nodes) {
    std::vector<const Dims*> in;
    for (const uint32_t id : node.inputs) in.push_back(id == xnnpack::kNoId ? nullptr : &dims[id]);
    Dims out;
    PETREL_RETURN_IF_ERROR(report(xnnpack::infer_output_dims(node, in, &out)));
    for (const uint32_t id : node.outputs) dims[id] = out;
  }
  return dims;
}

Result<std::map<uint32_t, NpyArray>> OpenedPayload::run(
    const runtime::BackendExecutionContext& context, Span<EValue*> args) {
  std::map<uint32_t, NpyArray> shown;
  if (delegate_ == nullptr) return shown;
  if (args.size() != inputs_.size() + outputs_.size()) return Error::InvalidArgument;
  PETREL_ASSIGN_OR_RETURN(const std::vector<Dims> dims, dims_of(args));
  std::vector<uint32_t> written = outputs_;
  written.insert(written.end(), shown_.begin(), shown_.end());
  // The payload itself has not all of its values in memory at once.
  runtime::Budget memory("what can be compared", kMaxTracedBytes);
  for (const uint32_t id : written) {
    Value value = graph_.values[id];
    value.dims = dims[id];
    PETREL_RETURN_IF_ERROR(memory.take("all values of a payload", xnnpack::count_bytes(value)));
  }
  std::vector<std::shared_ptr<ArrayTensor>> tensors;
  std::vector<EValue> values;
  for (const uint32_t id : written) {
    auto tensor = ArrayTensor::make(empty_array(graph_.values[id], dims[id]), {});
    if (!tensor.ok()) return Error::MemoryAllocationFailed;
    values.push_back((*tensor)->value());
    tensors.push_back(*std::move(tensor));
  }
  std::vector<EValue*> own(args.begin(), args.begin() + inputs_.size());
  for (EValue& value : values) own.push_back(&value);
  // Budgets are those of the payload itself.
  const runtime::BackendExecutionContext unlimited(nullptr, nullptr, context.get_method_name(),
                                                   nullptr);
  PETREL_RETURN_IF_ERROR(delegate_->execute(unlimited, Span<EValue*>(own.data(), own.size())));
  for (size_t i = outputs_.size(); i < written.size(); ++i) {
    shown[written[i]] = to_npy(values[i].toTensor());
  }
  return shown;
}

}  // namespace petrel::extension
