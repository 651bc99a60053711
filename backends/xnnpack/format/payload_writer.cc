// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/payload_writer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/xnnpack/format/header.h"
#include "backends/xnnpack/format/node_kind.h"
#include "schema/formats.h"
#include "schema/signed_zero.h"

namespace petrel::backends::xnnpack {
namespace {

namespace fbs = schema::xnnpack;
using Builder = flatbuffers::FlatBufferBuilder;
using Offset = flatbuffers::Offset<void>;

// What stands for "look at the key".
constexpr uint64_t kNoOffset = std::numeric_limits<uint64_t>::max();

flatbuffers::Offset<flatbuffers::Vector<uint32_t>> vector(Builder& b,
                                                          const std::vector<uint32_t>& list) {
  return b.CreateVector(list);
}

Offset write_contents(Builder& b, const Node& n) {
  const auto in = [&n](size_t i) { return i < n.inputs.size() ? n.inputs[i] : kNoId; };
  const uint32_t out = n.outputs[0];
  const Window& w = n.window;
  const Channels& c = n.channels;
  const uint32_t rank = static_cast<uint32_t>(n.list.size());
  switch (find_node_kind(n.kind)->family) {
    case NodeFamily::kUnary:
      return fbs::CreateNode1x1(b, in(0), out, n.flags).Union();
    case NodeFamily::kBinary:
      return fbs::CreateNode2x1(b, in(0), in(1), out, n.flags).Union();
    case NodeFamily::kFullyConnected:
      return fbs::CreateFullyConnected(b, in(0), in(1), in(2), out, n.flags).Union();
    case NodeFamily::kConvolution:
      return fbs::CreateConv(b, w.padding_top, w.padding_right, w.padding_bottom, w.padding_left,
                             w.kernel_height, w.kernel_width, w.stride_height, w.stride_width,
                             w.dilation_height, w.dilation_width, c.group_input_channels,
                             c.group_output_channels, c.groups, c.adjustment_height,
                             c.adjustment_width, in(0), in(1), in(2), out, n.flags)
          .Union();
    case NodeFamily::kPooling:
      return fbs::CreatePooling2d(b, w.padding_top, w.padding_right, w.padding_bottom,
                                  w.padding_left, w.kernel_height, w.kernel_width, w.stride_height,
                                  w.stride_width, w.dilation_height, w.dilation_width, in(0), out,
                                  n.flags)
          .Union();
    case NodeFamily::kArgMaxPooling:
      return fbs::CreateArgMaxPooling2d(b, w.padding_top, w.padding_right, w.padding_bottom,
                                        w.padding_left, w.kernel_height, w.kernel_width, in(0), out,
                                        n.outputs[1], n.flags)
          .Union();
    case NodeFamily::kTranspose: {
      const auto list = vector(b, n.list);
      return fbs::CreateStaticTranspose(b, rank, list, in(0), out, n.flags).Union();
    }
    case NodeFamily::kReshape: {
      const auto list = vector(b, n.list);
      return fbs::CreateStaticReshape(b, rank, list, in(0), out, n.flags).Union();
    }
    case NodeFamily::kSlice: {
      const auto offsets = vector(b, n.list);
      const auto sizes = vector(b, n.list2);
      return fbs::CreateStaticSlice(b, rank, offsets, sizes, in(0), out, n.flags).Union();
    }
    case NodeFamily::kPad: {
      const auto pre = vector(b, n.list);
      const auto post = vector(b, n.list2);
      return fbs::CreateStaticConstantPad(b, pre, post, n.scalar, in(0), out, n.flags).Union();
    }
    case NodeFamily::kResize:
      return fbs::CreateStaticResizeBilinear2d(b, n.new_height, n.new_width, in(0), out, n.flags)
          .Union();
    case NodeFamily::kConcatenate:
      return fbs::CreateConcatenate(b, n.axis, in(0), in(1), in(2), in(3), out, n.flags, in(4))
          .Union();
    case NodeFamily::kLeakyRelu:
      return fbs::CreateLeakyRelu(b, n.scalar, in(0), out, n.flags).Union();
    case NodeFamily::kElu:
      return fbs::CreateElu(b, n.scalar, in(0), out, n.flags).Union();
    case NodeFamily::kAttention:
      return fbs::CreateScaledDotProductAttention(b, in(0), in(1), in(2), in(3), in(4), out,
                                                  n.flags)
          .Union();
    case NodeFamily::kNorm:
      break;
  }
  return Offset();
}

flatbuffers::Offset<fbs::Node> write_node(Builder& b, const Node& node) {
  Offset contents;
  {
    const schema::SignedZero keep(b, node.scalar);
    contents = write_contents(b, node);
  }
  const bool is_clamped = node.output_min != -std::numeric_limits<float>::infinity() ||
                          node.output_max != std::numeric_limits<float>::infinity();
  flatbuffers::Offset<fbs::OutputMinMax> range;
  if (is_clamped) {
    const schema::SignedZero keep_min(b, node.output_min);
    const schema::SignedZero keep_max(b, node.output_max);
    range = fbs::CreateOutputMinMax(b, node.output_min, node.output_max);
  }
  return fbs::CreateNode(b, node.kind, contents, node.debug_handle, range);
}

flatbuffers::Offset<flatbuffers::Vector<float>> inline_scales(Builder& b, const Scales& scales) {
  if (scales.inline_data == nullptr) return 0;
  std::vector<float> copy(scales.count);
  std::memcpy(copy.data(), scales.inline_data, copy.size() * sizeof(float));
  return b.CreateVector(copy);
}

flatbuffers::Offset<fbs::Value> write_value(Builder& b, const Value& value,
                                            flatbuffers::Offset<fbs::TensorValue> tensor) {
  const QuantParams& quant = value.quant;
  const Scales& scales = quant.scales;
  const auto axis = static_cast<int32_t>(quant.axis);
  fbs::QuantParams type = fbs::QuantParams::NONE;
  Offset params;
  switch (value.quantization) {
    case Quantization::kNone:
      return fbs::CreateValue(b, fbs::ValueUnion::TensorValue, tensor.Union());
    case Quantization::kPerTensor:
      type = fbs::QuantParams::PerTensorQuant;
      params = fbs::CreatePerTensorQuant(b, quant.scale, quant.zero_point).Union();
      break;
    case Quantization::kPerChannel:
      type = fbs::QuantParams::PerChannelQuant;
      params = fbs::CreatePerChannelQuant(b, inline_scales(b, scales), axis, scales.constant,
                                          scales.count)
                   .Union();
      break;
    case Quantization::kPerTokenDynamic:
      type = fbs::QuantParams::PerTokenDynamicQuant;
      params =
          fbs::CreatePerTokenDynamicQuant(b, static_cast<int32_t>(quant.nonbatch_dims)).Union();
      break;
    case Quantization::kPerGroup:
      type = fbs::QuantParams::PerChannelGroupQuant;
      params = fbs::CreatePerChannelGroupQuant(b, inline_scales(b, scales), axis,
                                               static_cast<int32_t>(quant.group_size), 0,
                                               scales.constant, scales.count)
                   .Union();
      break;
  }
  const auto quantized = fbs::CreateQuantizedTensorValue(b, tensor, type, params);
  return fbs::CreateValue(b, fbs::ValueUnion::QuantizedTensorValue, quantized.Union());
}

}  // namespace

std::vector<uint8_t> write_payload(const Graph& graph) {
  Builder b;
  std::vector<flatbuffers::Offset<fbs::Node>> nodes;
  for (const Node& node : graph.nodes) nodes.push_back(write_node(b, node));

  std::vector<flatbuffers::Offset<fbs::Value>> values;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  for (uint32_t id = 0; id < graph.values.size(); ++id) {
    const Value& v = graph.values[id];
    if (v.is_input()) inputs.push_back(id);
    if (v.is_output()) outputs.push_back(id);
    const auto tensor =
        fbs::CreateTensorValue(b, v.datatype, static_cast<uint32_t>(v.dims.size()),
                               vector(b, v.dims), v.constant, v.external_id, v.flags, id);
    values.push_back(write_value(b, v, tensor));
  }

  std::vector<flatbuffers::Offset<fbs::ConstantData>> constants;
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    const auto key = b.CreateString(graph.constants[i].key);
    constants.push_back(fbs::CreateConstantData(b, i == 0 ? 0 : kNoOffset, 0, key));
  }

  const auto version = b.CreateString("0");
  const auto all_nodes = b.CreateVector(nodes);
  const auto all_values = b.CreateVector(values);
  const auto input_ids = vector(b, inputs);
  const auto output_ids = vector(b, outputs);
  const auto all_constants = b.CreateVector(constants);
  b.Finish(fbs::CreateGraph(b, version, all_nodes, all_values, graph.num_externs, input_ids,
                            output_ids, 0, 0, all_constants),
           fbs::GraphIdentifier());

  const size_t end = kPaddedHeaderSize + b.GetSize();
  const size_t padded =
      (end + schema::kDataAlignment - 1) / schema::kDataAlignment * schema::kDataAlignment;
  std::vector<uint8_t> payload(padded, 0);
  write_header({kPaddedHeaderSize, b.GetSize(), static_cast<uint32_t>(padded), 0}, payload.data());
  std::copy_n(b.GetBufferPointer(), b.GetSize(), payload.begin() + kPaddedHeaderSize);
  return payload;
}

}  // namespace petrel::backends::xnnpack
