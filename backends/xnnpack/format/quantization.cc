// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/quantization.h"

#include <cmath>
#include <cstring>
#include <string>

#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {
namespace {

using schema::xnnpack::EnumNameDatatype;

std::string number(uint64_t value) { return std::to_string(value); }

struct ValueRow {
  Datatype datatype;
  Quantization quantization;
  bool must_be_constant;
};

constexpr ValueRow kValueRows[] = {
    {Datatype::FP32, Quantization::kNone, false},
    {Datatype::FP16, Quantization::kNone, false},
    {Datatype::QINT8, Quantization::kPerTensor, false},
    {Datatype::QINT32, Quantization::kPerTensor, true},
    {Datatype::QCINT8, Quantization::kPerChannel, true},
    {Datatype::QCINT32, Quantization::kPerChannel, true},
    {Datatype::QCINT4, Quantization::kPerChannel, true},
    {Datatype::QBINT4, Quantization::kPerGroup, true},
    {Datatype::QDINT8, Quantization::kPerTokenDynamic, false},
};

const ValueRow* find_value_row(const Value& value) {
  for (const ValueRow& row : kValueRows) {
    if (row.datatype == value.datatype && row.quantization == value.quantization) return &row;
  }
  return nullptr;
}

Problem check_inline_scales(const Scales& scales) {
  for (uint32_t i = 0; scales.inline_data != nullptr && i < scales.count; ++i) {
    float scale = 0;
    std::memcpy(&scale, scales.inline_data + size_t{i} * sizeof(scale), sizeof(scale));
    if (Problem p = check_scale(scale); !p.ok()) return std::move(p).in("scale " + number(i));
  }
  return Problem::none();
}

Problem check_count(const Scales& scales, uint64_t needed) {
  if (scales.count == needed) return check_inline_scales(scales);
  return Problem::invalid("it has " + number(scales.count) + " scales, must have " +
                          number(needed));
}

Problem check_per_tensor(const Value& value) {
  const int32_t zero_point = value.quant.zero_point;
  const bool fits = value.datatype == Datatype::QINT8
                        ? zero_point >= INT8_MIN && zero_point <= INT8_MAX
                        : zero_point == 0;
  if (!fits) {
    return Problem::invalid("zero_point is " + std::to_string(zero_point) + ", which " +
                            EnumNameDatatype(value.datatype) + " cannot have");
  }
  return check_scale(value.quant.scale);
}

Problem check_per_channel(const Value& value) {
  const QuantParams& quant = value.quant;
  if (quant.axis >= value.dims.size()) {
    return Problem::invalid("channel_dim is " + number(quant.axis) + ", must be below " +
                            number(value.dims.size()));
  }
  return check_count(quant.scales, value.dims[quant.axis]);
}

Problem check_per_group(const Value& value) {
  const QuantParams& quant = value.quant;
  if (value.dims.size() != 2 || quant.axis != 0) {
    return Problem::unsupported("groups lie along dim 1 of 2, not beside channel_dim " +
                                number(quant.axis) + " of " + to_string(value.dims));
  }
  if (quant.group_size == 0 || quant.group_size % kGroupUnit != 0 ||
      value.dims[1] % quant.group_size != 0) {
    return Problem::invalid("group_size is " + number(quant.group_size) +
                            ", must be a multiple of " + number(kGroupUnit) + " that divides " +
                            number(value.dims[1]));
  }
  return check_count(quant.scales, uint64_t{value.dims[0]} * (value.dims[1] / quant.group_size));
}

Problem check_per_token(const Value& value) {
  if (value.flags != 0) return Problem::unsupported("it is external and quantised at run time");
  const uint32_t dims = value.quant.nonbatch_dims;
  if (dims >= 1 && dims <= value.dims.size()) return Problem::none();
  return Problem::invalid("num_nonbatch_dims is " + number(dims) + ", must be in [1, " +
                          number(value.dims.size()) + "]");
}

// Element types of a node that packs a filter.
struct ProductRow {
  Datatype input;
  Datatype filter;
  Datatype bias;
  Datatype output;
  bool fully_connected_only;
};

constexpr ProductRow kProductRows[] = {
    {Datatype::FP32, Datatype::FP32, Datatype::FP32, Datatype::FP32, false},
    {Datatype::FP16, Datatype::FP32, Datatype::FP32, Datatype::FP16, false},
    {Datatype::FP16, Datatype::FP16, Datatype::FP16, Datatype::FP16, true},
    {Datatype::QINT8, Datatype::QINT8, Datatype::QINT32, Datatype::QINT8, false},
    {Datatype::QINT8, Datatype::QCINT8, Datatype::QCINT32, Datatype::QINT8, false},
    {Datatype::QDINT8, Datatype::QCINT8, Datatype::FP32, Datatype::FP32, false},
    {Datatype::QDINT8, Datatype::QCINT4, Datatype::FP32, Datatype::FP32, true},
    {Datatype::QDINT8, Datatype::QBINT4, Datatype::FP32, Datatype::FP32, true},
    {Datatype::QDINT8, Datatype::QCINT8, Datatype::FP32, Datatype::FP16, false},
    {Datatype::QDINT8, Datatype::QCINT4, Datatype::FP32, Datatype::FP16, true},
    {Datatype::QDINT8, Datatype::QBINT4, Datatype::FP32, Datatype::FP16, true},
    {Datatype::FP32, Datatype::QCINT8, Datatype::FP32, Datatype::FP32, true},
    {Datatype::FP32, Datatype::QCINT4, Datatype::FP32, Datatype::FP32, true},
};

// How a node that packs no filter takes quantised values.
enum class Takes : uint8_t {
  kFloat,  // not at all
  kAny,    // each with parameters of its own
  kAlike,  // all with the same
};

Takes takes(NodeKind kind) {
  switch (kind) {
    case NodeKind::Add:
    case NodeKind::Subtract:
    case NodeKind::Multiply:
    case NodeKind::Abs:
    case NodeKind::Clamp:
    case NodeKind::Elu:
    case NodeKind::Gelu:
    case NodeKind::GlobalAvgPooling2d:
    case NodeKind::Hardswish:
    case NodeKind::LeakyRelu:
    case NodeKind::Negate:
    case NodeKind::Sigmoid:
    case NodeKind::Square:
    case NodeKind::Tanh:
      return Takes::kAny;
    case NodeKind::MaxPooling2d:
    case NodeKind::Concatenate2:
    case NodeKind::Concatenate3:
    case NodeKind::Concatenate4:
    case NodeKind::Concatenate5:
    case NodeKind::Copy:
    case NodeKind::StaticConstantPad:
    case NodeKind::StaticReshape:
    case NodeKind::StaticResizeBilinear2d:
    case NodeKind::StaticSlice:
    case NodeKind::StaticTranspose:
      return Takes::kAlike;
    default:
      return Takes::kFloat;
  }
}

Problem check_converted(const Value& input, const Value& output) {
  const bool to_quantised =
      output.datatype == Datatype::QINT8 || output.datatype == Datatype::QDINT8;
  const bool is_known = (input.datatype == Datatype::FP32 && to_quantised) ||
                        (input.datatype == Datatype::FP32 && output.datatype == Datatype::FP16) ||
                        (input.datatype == Datatype::FP16 && output.datatype == Datatype::FP32) ||
                        (input.datatype == Datatype::FP16 && output.datatype == Datatype::QDINT8) ||
                        (input.datatype == Datatype::QINT8 && output.datatype == Datatype::FP32) ||
                        (input.datatype == Datatype::QINT8 && output.datatype == Datatype::QINT8);
  if (is_known) return Problem::none();
  return Problem::unsupported(std::string("converts ") + EnumNameDatatype(input.datatype) + " to " +
                              EnumNameDatatype(output.datatype));
}

// Filters are packed by output channel.
uint32_t channel_axis(const Node& node) {
  if (node.kind == NodeKind::DepthwiseConv2d) return 3;
  return (node.flags & kTransposeWeights) != 0 ? 1 : 0;
}

Problem check_product(const Graph& graph, const Node& node) {
  const Value& input = graph.values[node.inputs[0]];
  const Value& filter = graph.values[node.inputs[1]];
  const Value* bias = node.inputs[2] == kNoId ? nullptr : &graph.values[node.inputs[2]];
  const Value& output = graph.values[node.outputs[0]];
  const bool is_fully_connected = node.kind == NodeKind::FullyConnected;
  const bool is_depthwise = node.kind == NodeKind::DepthwiseConv2d;
  bool is_known = false;
  for (const ProductRow& row : kProductRows) {
    is_known = is_known ||
               (row.input == input.datatype && row.filter == filter.datatype &&
                (bias == nullptr || row.bias == bias->datatype) && row.output == output.datatype &&
                (!row.fully_connected_only || is_fully_connected) &&
                !(is_depthwise && row.input == Datatype::QDINT8));
  }
  if (!is_known) {
    return Problem::unsupported(std::string("takes ") + EnumNameDatatype(input.datatype) + " by " +
                                EnumNameDatatype(filter.datatype) +
                                (bias == nullptr
                                     ? std::string()
                                     : std::string(" and ") + EnumNameDatatype(bias->datatype)) +
                                " to " + EnumNameDatatype(output.datatype));
  }
  if (filter.quantization == Quantization::kPerTensor && filter.quant.zero_point != 0) {
    return Problem::unsupported("the zero point of its filter is " +
                                std::to_string(filter.quant.zero_point) + ", must be 0");
  }
  const bool has_channels = filter.quantization == Quantization::kPerChannel;
  if (has_channels && filter.quant.axis != channel_axis(node)) {
    return Problem::unsupported("channel_dim of its filter is " + number(filter.quant.axis) +
                                ", must be " + number(channel_axis(node)));
  }
  const bool is_4_bit = filter.datatype == Datatype::QCINT4 || filter.datatype == Datatype::QBINT4;
  if (is_4_bit && (node.flags & kTransposeWeights) != 0) {
    return Problem::unsupported("its filter has 4 bits and is transposed");
  }
  const uint32_t nonbatch_dims = is_fully_connected ? 1 : 3;
  if (input.datatype == Datatype::QDINT8 && input.quant.nonbatch_dims != nonbatch_dims) {
    return Problem::unsupported("num_nonbatch_dims of its input is " +
                                number(input.quant.nonbatch_dims) + ", must be " +
                                number(nonbatch_dims));
  }
  return Problem::none();
}

Problem check_others(const Graph& graph, const Node& node) {
  const Value& output = graph.values[node.outputs[0]];
  const Takes how = takes(node.kind);
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (const uint32_t id : *list) {
      const Value& value = graph.values[id];
      const bool is_taken = value.datatype == Datatype::FP32 || value.datatype == Datatype::FP16 ||
                            (value.datatype == Datatype::QINT8 && how != Takes::kFloat);
      if (!is_taken || value.datatype != output.datatype) {
        return Problem::unsupported("takes value " + number(id) + " of " +
                                    EnumNameDatatype(value.datatype) + " and makes " +
                                    EnumNameDatatype(output.datatype));
      }
      const bool is_alike = value.quant.scale == output.quant.scale &&
                            value.quant.zero_point == output.quant.zero_point;
      if (how == Takes::kAlike && !is_alike) {
        return Problem::unsupported("takes value " + number(id) +
                                    " of another scale or zero point than it makes");
      }
    }
  }
  return Problem::none();
}

}  // namespace

Problem check_scale(float scale) {
  if (std::isnormal(scale) && scale > 0) return Problem::none();
  return Problem::invalid("scale is " + std::to_string(scale) +
                          ", must be finite, positive and not denormal");
}

Problem check_quantization(const Value& value) {
  const ValueRow* row = find_value_row(value);
  if (row == nullptr) {
    return Problem::unsupported(
        std::string("datatype ") + EnumNameDatatype(value.datatype) +
        (value.quantization == Quantization::kNone ? "" : " with its quantisation") +
        " is not supported");
  }
  if (value.is_constant() && value.datatype == Datatype::QDINT8) {
    return Problem::invalid("it is a constant and quantised at run time");
  }
  if (row->must_be_constant && !value.is_constant()) {
    return Problem::unsupported(std::string("datatype ") + EnumNameDatatype(value.datatype) +
                                " is for constants, and it is not one");
  }
  switch (value.quantization) {
    case Quantization::kNone:
      return Problem::none();
    case Quantization::kPerTensor:
      return check_per_tensor(value);
    case Quantization::kPerChannel:
      return check_per_channel(value);
    case Quantization::kPerGroup:
      return check_per_group(value);
    case Quantization::kPerTokenDynamic:
      return check_per_token(value);
  }
  return Problem::invalid("unknown quantisation");
}

Problem check_datatypes(const Graph& graph, const Node& node) {
  if (find_node_kind(node.kind)->has_bias) return check_product(graph, node);
  if (node.kind == NodeKind::Convert) {
    return check_converted(graph.values[node.inputs[0]], graph.values[node.outputs[0]]);
  }
  return check_others(graph, node);
}

}  // namespace petrel::backends::xnnpack
