// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/tap.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/xnnpack/format/node_kind.h"
#include "extension/diff/operator_family.h"
#include "extension/npy/tensor_array.h"

namespace petrel::extension {

namespace xnnpack = backends::xnnpack;
using runtime::EValue;
using runtime::Kernel;
using runtime::KernelOutputs;
using runtime::ScalarType;
using runtime::Span;
using runtime::Tensor;

namespace {

// The tensors of an argument, those of lists included; none of what does not exist.
std::vector<Tensor> tensors_of(const EValue& value) {
  std::vector<Tensor> tensors;
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
  } else if (value.isTensorList()) {
    const auto list = value.tryToTensorList();
    if (list.ok()) tensors.assign(list->begin(), list->end());
  } else if (value.isListOptionalTensor()) {
    const auto list = value.tryToListOptionalTensor();
    if (!list.ok()) return tensors;
    for (const auto& tensor : *list) {
      if (tensor.has_value()) tensors.push_back(*tensor);
    }
  }
  return tensors;
}

std::vector<Tensor> written_by(const Kernel& kernel, Span<EValue*> args) {
  size_t first = args.size() - 1;
  size_t count = 1;
  if (kernel.outputs.kind != KernelOutputs::Kind::Returned) {
    first = kernel.outputs.first;
    count = kernel.outputs.count;
  }
  if (kernel.outputs.kind == KernelOutputs::Kind::View) count = 1;
  std::vector<Tensor> written;
  const auto add = [&](size_t i) {
    if (i >= args.size()) return;
    for (const Tensor& tensor : tensors_of(*args[i])) written.push_back(tensor);
  };
  for (size_t i = first; i < first + count; ++i) add(i);
  if (kernel.outputs.and_last) add(size_t{kernel.outputs.num_arguments} - 1);
  return written;
}

// The scale that a call which quantises or dequantises was given.
std::optional<ElementScale> given_scale(const std::string& op, Span<EValue*> args) {
  if (!absl::StrContains(op, "quantize_per_tensor.") || args.size() < 3) return std::nullopt;
  const auto number = [](const EValue& value) -> std::optional<double> {
    if (value.isScalar()) return value.toScalar().to_double();
    if (!value.isTensor() || value.toTensor().numel() != 1) return std::nullopt;
    TraceValue single;
    single.array = to_npy(value.toTensor());
    return Numbers(single)[0];
  };
  const auto scale = number(*args[1]);
  const auto zero_point = number(*args[2]);
  if (!scale || !zero_point) return std::nullopt;
  return ElementScale{*scale, *zero_point};
}

bool is_small_integer(ScalarType type) {
  return type == ScalarType::Char || type == ScalarType::Byte;
}

bool has_clamp(const xnnpack::Node& node) {
  return node.kind != xnnpack::NodeKind::Clamp &&
         (std::isfinite(node.output_min) || std::isfinite(node.output_max));
}

bool computes_with_integers(const xnnpack::Graph& graph, const xnnpack::Node& node) {
  const auto is_quantized = [&](uint32_t id) {
    return id != xnnpack::kNoId && graph.values[id].quantization != xnnpack::Quantization::kNone;
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is_quantized) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), is_quantized);
}

}  // namespace

void Tap::watch(std::vector<EValue> inputs) {
  inputs_ = std::move(inputs);
  trace_ = ValueTrace();
  room_ = TraceRoom();
  memory_ = WrittenMemory();
  parts_.clear();
}

ValueTrace Tap::take(const std::vector<EValue>& outputs) {
  for (const EValue& output : outputs) {
    for (const Tensor& tensor : tensors_of(output)) {
      // Of thousands of outputs all may lie over thousands of values.
      if (trace_.outputs.size() >= kMaxTracedInputs) break;
      for (const size_t value : memory_.find(tensor.const_data_ptr(), tensor.nbytes())) {
        trace_.outputs.push_back(value);
      }
    }
  }
  memory_ = WrittenMemory();
  return std::exchange(trace_, ValueTrace());
}

void Tap::create_event_block(const char* name) {
  if (std::string(name) != "execute") return;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    for (const Tensor& tensor : tensors_of(inputs_[i])) {
      TraceValue input;
      input.place = absl::StrCat("input ", i);
      input.op = "input";
      input.family = "input";
      input.is_input = true;
      append_tensor(std::move(input), tensor);
    }
  }
}

runtime::EventTracerEntry Tap::start_profiling(const char*, uint32_t chain, uint32_t instruction) {
  place_ = absl::StrCat(chain, ":", instruction);
  return {};
}

TraceValue Tap::begin_value(const std::string& op) const {
  TraceValue value;
  value.place = place_;
  value.op = op;
  value.family = operator_family(op);
  return value;
}

size_t Tap::append(TraceValue value) {
  using runtime::ScalarType;
  value.is_narrow =
      value.array.type == ScalarType::Half || value.array.type == ScalarType::BFloat16;
  for (const size_t input : value.inputs) {
    const TraceValue& from = trace_.values[input];
    value.is_rounded = value.is_rounded || from.is_rounded;
    value.is_narrow = value.is_narrow || from.is_narrow;
    // What only moves integers leaves their meaning.
    if (!value.scale && is_small_integer(value.array.type) && value.is_seen) {
      value.scale = from.scale;
    }
  }
  trace_.values.push_back(std::move(value));
  return trace_.values.size() - 1;
}

void Tap::append_tensor(TraceValue value, const Tensor& tensor) {
  if (tensor.const_data_ptr() == nullptr && tensor.nbytes() > 0) return;
  // A call may have many outputs, and all over the same memory.
  if (!room_.take(value.inputs.size(), tensor.nbytes())) return;
  value.array = to_npy(tensor);
  memory_.write(tensor.const_data_ptr(), tensor.nbytes(), append(std::move(value)));
}

size_t Tap::part_of(size_t from, const Tensor& tensor) {
  const TraceValue& whole = trace_.values[from];
  const bool is_part =
      tensor.nbytes() < whole.array.data.size() && tensor.scalar_type() == whole.array.type;
  if (!is_part || is_full()) return from;
  TraceValue part;
  part.place = whole.place;
  part.op = "part";
  part.family = operator_family("slice");
  part.inputs = {from};
  part.is_part = true;
  part.array = to_npy(tensor);
  const auto key = std::make_tuple(from, tensor.const_data_ptr(), part.type_text());
  const auto known = parts_.find(key);
  if (known != parts_.end()) return known->second;
  if (!room_.take(part.inputs.size(), part.array.data.size())) return from;
  return parts_[key] = append(std::move(part));
}

void Tap::read_values(const EValue& value, std::vector<size_t>* out, std::set<size_t>* known) {
  for (const Tensor& tensor : tensors_of(value)) {
    std::vector<size_t> ids = memory_.find(tensor.const_data_ptr(), tensor.nbytes());
    if (ids.size() == 1) ids[0] = part_of(ids[0], tensor);
    for (const size_t id : ids) {
      if (known->insert(id).second) out->push_back(id);
    }
  }
}

void Tap::record_kernel(const Kernel& kernel, Span<EValue*> args) {
  if (args.empty() || is_full()) return;
  TraceValue value = begin_value(kernel.name);
  value.is_rounded = absl::StartsWith(value.op, "quantized_decomposed::");
  const std::optional<ElementScale> scale = given_scale(value.op, args);
  const bool dequantises = absl::StrContains(value.op, "::dequantize_");
  if (!dequantises) value.scale = scale;
  const std::vector<Tensor> written = written_by(kernel, args);
  // Outputs stand among the arguments, too, in memory that others may have had before.
  std::set<const runtime::TensorImpl*> own;
  for (const Tensor& tensor : written) own.insert(tensor.impl());
  // Arguments that are changed, and so are read as well: they are not the last ones.
  const KernelOutputs& outputs = kernel.outputs;
  const size_t end = size_t{outputs.first} + outputs.count;
  std::set<size_t> known;
  const bool updates = outputs.kind == KernelOutputs::Kind::Written && end < outputs.num_arguments;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::vector<Tensor> tensors = tensors_of(*args[i]);
    const bool is_own = !tensors.empty() && own.count(tensors.front().impl()) != 0;
    const bool is_updated = updates && i >= outputs.first && i < end;
    if (!is_own || is_updated) read_values(*args[i], &value.inputs, &known);
  }
  if (dequantises && value.inputs.size() == 1) {
    trace_.values[value.inputs[0]].read_scale = scale;
  }
  for (const Tensor& tensor : written) append_tensor(value, tensor);
}

void Tap::record_payload(const OpenedPayload& payload, std::map<uint32_t, NpyArray> inner,
                         Span<EValue*> args) {
  if (is_full()) return;
  const xnnpack::Graph& graph = payload.graph();
  std::vector<std::vector<size_t>> made(graph.values.size());  // where a value is in the trace
  for (size_t i = 0; i < payload.inputs().size(); ++i) {
    std::set<size_t> known;
    read_values(*args[i], &made[payload.inputs()[i]], &known);
  }
  std::map<uint32_t, size_t> outputs;
  for (size_t i = 0; i < payload.outputs().size(); ++i) {
    outputs[payload.outputs()[i]] = payload.inputs().size() + i;
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const xnnpack::Node& node = graph.nodes[n];
    for (const uint32_t id : node.outputs) {
      TraceValue value = begin_value(xnnpack::find_node_kind(node.kind)->name);
      absl::StrAppend(&value.place, "/", n);
      value.has_clamp = has_clamp(node);
      value.is_rounded = computes_with_integers(graph, node);
      for (const uint32_t input : node.inputs) {
        if (input == xnnpack::kNoId) continue;
        value.inputs.insert(value.inputs.end(), made[input].begin(), made[input].end());
      }
      const xnnpack::Value& type = graph.values[id];
      if (type.quantization == xnnpack::Quantization::kPerTensor) {
        value.scale = ElementScale{type.quant.scale, static_cast<double>(type.quant.zero_point)};
      }
      const auto output = outputs.find(id);
      const auto shown = inner.find(id);
      const bool is_output = output != outputs.end();
      const uint64_t bytes = is_output              ? args[output->second]->toTensor().nbytes()
                             : shown != inner.end() ? shown->second.data.size()
                                                    : 0;
      if (!room_.take(value.inputs.size(), bytes)) return;
      if (is_output) {
        const Tensor tensor = args[output->second]->toTensor();
        value.array = to_npy(tensor);
        made[id] = {append(std::move(value))};
        memory_.write(tensor.const_data_ptr(), tensor.nbytes(), made[id][0]);
        continue;
      }
      value.is_seen = shown != inner.end();
      if (value.is_seen) value.array = std::move(shown->second);
      made[id] = {append(std::move(value))};
    }
  }
}

void Tap::record_delegate(const std::string& backend, size_t num_outputs, Span<EValue*> args) {
  if (is_full()) return;
  TraceValue value = begin_value(backend);
  const size_t first = args.size() - std::min(num_outputs, args.size());
  std::set<size_t> known;
  for (size_t i = 0; i < first; ++i) read_values(*args[i], &value.inputs, &known);
  for (size_t i = first; i < args.size(); ++i) {
    for (const Tensor& tensor : tensors_of(*args[i])) append_tensor(value, tensor);
  }
}

void Tap::note_closed(const std::string& why) {
  trace_.closed.push_back(absl::StrCat(place_, ": ", why));
}

}  // namespace petrel::extension
