// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/node_definition.h"

#include <array>

namespace petrel::backends::xnnpack {
namespace {

static_assert(kNoId == XNN_INVALID_VALUE_ID);
static_assert(kMaxValueRank == XNN_MAX_TENSOR_DIMS);
static_assert(kExternalInput == XNN_VALUE_FLAG_EXTERNAL_INPUT);
static_assert(kExternalOutput == XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
static_assert(kTransposeWeights == XNN_FLAG_TRANSPOSE_WEIGHTS);
static_assert(kAlignCorners == XNN_FLAG_ALIGN_CORNERS);
static_assert(kKeepDims == XNN_FLAG_KEEP_DIMS);

// What a definition needs.
struct Call {
  xnn_subgraph_t graph;
  const Node& node;
  const std::vector<uint32_t>& in;
  uint32_t out;
};

using Sizes = std::array<size_t, XNN_MAX_TENSOR_DIMS>;

Sizes widen(const std::vector<uint32_t>& list) {
  Sizes sizes = {};
  for (size_t i = 0; i < list.size() && i < sizes.size(); ++i) sizes[i] = list[i];
  return sizes;
}

template <xnn_unary_operator kOperator>
xnn_status unary(const Call& c) {
  return xnn_define_unary(c.graph, kOperator, nullptr, c.in[0], c.out, 0);
}

xnn_status clamp(const Call& c) {
  xnn_unary_params params;
  params.clamp.min = c.node.output_min;
  params.clamp.max = c.node.output_max;
  return xnn_define_unary(c.graph, xnn_unary_clamp, &params, c.in[0], c.out, 0);
}

xnn_status leaky_relu(const Call& c) {
  xnn_unary_params params;
  params.leaky_relu.negative_slope = c.node.scalar;
  return xnn_define_unary(c.graph, xnn_unary_leaky_relu, &params, c.in[0], c.out, 0);
}

xnn_status elu(const Call& c) {
  xnn_unary_params params;
  params.elu.alpha = c.node.scalar;
  return xnn_define_unary(c.graph, xnn_unary_elu, &params, c.in[0], c.out, 0);
}

template <xnn_binary_operator kOperator>
xnn_status binary(const Call& c) {
  const xnn_binary_params params = {c.node.output_min, c.node.output_max};
  return xnn_define_binary(c.graph, kOperator, &params, c.in[0], c.in[1], c.out, 0);
}

xnn_status matrix_product(const Call& c) {
  return xnn_define_batch_matrix_multiply(c.graph, c.in[0], c.in[1], c.out, c.node.flags);
}

xnn_status fully_connected(const Call& c) {
  return xnn_define_fully_connected(c.graph, c.node.output_min, c.node.output_max, c.in[0], c.in[1],
                                    c.in[2], c.out, c.node.flags);
}

xnn_status convolution(const Call& c) {
  const Window& w = c.node.window;
  const Channels& ch = c.node.channels;
  return xnn_define_convolution_2d(
      c.graph, w.padding_top, w.padding_right, w.padding_bottom, w.padding_left, w.kernel_height,
      w.kernel_width, w.stride_height, w.stride_width, w.dilation_height, w.dilation_width,
      ch.groups, ch.group_input_channels, ch.group_output_channels, c.node.output_min,
      c.node.output_max, c.in[0], c.in[1], c.in[2], c.out, 0);
}

xnn_status depthwise_convolution(const Call& c) {
  const Window& w = c.node.window;
  const Channels& ch = c.node.channels;
  return xnn_define_depthwise_convolution_2d(
      c.graph, w.padding_top, w.padding_right, w.padding_bottom, w.padding_left, w.kernel_height,
      w.kernel_width, w.stride_height, w.stride_width, w.dilation_height, w.dilation_width,
      /*depth_multiplier=*/ch.group_output_channels,
      /*input_channels=*/ch.groups, c.node.output_min, c.node.output_max, c.in[0], c.in[1], c.in[2],
      c.out, 0);
}

xnn_status transposed_convolution(const Call& c) {
  const Window& w = c.node.window;
  const Channels& ch = c.node.channels;
  return xnn_define_deconvolution_2d(
      c.graph, w.padding_top, w.padding_right, w.padding_bottom, w.padding_left,
      ch.adjustment_height, ch.adjustment_width, w.kernel_height, w.kernel_width, w.stride_height,
      w.stride_width, w.dilation_height, w.dilation_width, ch.groups, ch.group_input_channels,
      ch.group_output_channels, c.node.output_min, c.node.output_max, c.in[0], c.in[1], c.in[2],
      c.out, 0);
}

xnn_status max_pooling(const Call& c) {
  const Window& w = c.node.window;
  return xnn_define_max_pooling_2d(c.graph, w.padding_top, w.padding_right, w.padding_bottom,
                                   w.padding_left, w.kernel_height, w.kernel_width, w.stride_height,
                                   w.stride_width, w.dilation_height, w.dilation_width,
                                   c.node.output_min, c.node.output_max, c.in[0], c.out, 0);
}

xnn_status average_pooling(const Call& c) {
  const Window& w = c.node.window;
  return xnn_define_average_pooling_2d(c.graph, w.padding_top, w.padding_right, w.padding_bottom,
                                       w.padding_left, w.kernel_height, w.kernel_width,
                                       w.stride_height, w.stride_width, c.node.output_min,
                                       c.node.output_max, c.in[0], c.out, 0);
}

// Rows and columns are the last axes but the channels.
xnn_status global_average(const Call& c) {
  const int64_t axes[] = {-3, -2};
  return xnn_define_static_reduce_v2(c.graph, xnn_reduce_mean, 2, axes, c.in[0], c.out,
                                     c.node.flags);
}

xnn_status softmax(const Call& c) { return xnn_define_softmax(c.graph, c.in[0], c.out, 0); }
xnn_status copy(const Call& c) { return xnn_define_copy(c.graph, c.in[0], c.out, 0); }

xnn_status transpose(const Call& c) {
  return xnn_define_static_transpose(c.graph, c.node.list.size(), widen(c.node.list).data(),
                                     c.in[0], c.out, 0);
}

xnn_status reshape(const Call& c) {
  return xnn_define_static_reshape(c.graph, c.node.list.size(), widen(c.node.list).data(), c.in[0],
                                   c.out, 0);
}

xnn_status slice(const Call& c) {
  return xnn_define_static_slice(c.graph, c.node.list.size(), widen(c.node.list).data(),
                                 widen(c.node.list2).data(), c.in[0], c.out, 0);
}

xnn_status pad(const Call& c) {
  return xnn_define_static_constant_pad(c.graph, widen(c.node.list).data(),
                                        widen(c.node.list2).data(), c.node.scalar, c.in[0], c.out,
                                        0);
}

xnn_status resize(const Call& c) {
  return xnn_define_static_resize_bilinear_2d(c.graph, c.node.new_height, c.node.new_width, c.in[0],
                                              c.out, c.node.flags);
}

xnn_status concatenate(const Call& c) {
  const auto axis = static_cast<int32_t>(c.node.axis);
  const std::vector<uint32_t>& in = c.in;
  switch (in.size()) {
    case 2:
      return xnn_define_concatenate2(c.graph, axis, in[0], in[1], c.out, 0);
    case 3:
      return xnn_define_concatenate3(c.graph, axis, in[0], in[1], in[2], c.out, 0);
    case 4:
      return xnn_define_concatenate4(c.graph, axis, in[0], in[1], in[2], in[3], c.out, 0);
    default:
      return xnn_define_concatenate5(c.graph, axis, in[0], in[1], in[2], in[3], in[4], c.out, 0);
  }
}

using Definition = xnn_status (*)(const Call&);

Definition find_definition(NodeKind kind) {
  switch (kind) {
    case NodeKind::Add:
      return &binary<xnn_binary_add>;
    case NodeKind::Subtract:
      return &binary<xnn_binary_subtract>;
    case NodeKind::Multiply:
      return &binary<xnn_binary_multiply>;
    case NodeKind::Div:
      return &binary<xnn_binary_divide>;
    case NodeKind::Minimum:
      return &binary<xnn_binary_minimum>;
    case NodeKind::Maximum:
      return &binary<xnn_binary_maximum>;
    case NodeKind::PRelu:
      return &binary<xnn_binary_prelu>;
    case NodeKind::BatchMatrixMultiply:
      return &matrix_product;
    case NodeKind::FullyConnected:
      return &fully_connected;
    case NodeKind::Conv2d:
      return &convolution;
    case NodeKind::DepthwiseConv2d:
      return &depthwise_convolution;
    case NodeKind::ConvTranspose2d:
      return &transposed_convolution;
    case NodeKind::MaxPooling2d:
      return &max_pooling;
    case NodeKind::AvgPooling2d:
      return &average_pooling;
    case NodeKind::GlobalAvgPooling2d:
      return &global_average;
    case NodeKind::Softmax:
      return &softmax;
    case NodeKind::Copy:
      return &copy;
    case NodeKind::StaticTranspose:
      return &transpose;
    case NodeKind::StaticReshape:
      return &reshape;
    case NodeKind::StaticSlice:
      return &slice;
    case NodeKind::StaticConstantPad:
      return &pad;
    case NodeKind::StaticResizeBilinear2d:
      return &resize;
    case NodeKind::Concatenate2:
    case NodeKind::Concatenate3:
    case NodeKind::Concatenate4:
    case NodeKind::Concatenate5:
      return &concatenate;
    case NodeKind::Clamp:
      return &clamp;
    case NodeKind::LeakyRelu:
      return &leaky_relu;
    case NodeKind::Elu:
      return &elu;
    case NodeKind::Abs:
      return &unary<xnn_unary_abs>;
    case NodeKind::Ceiling:
      return &unary<xnn_unary_ceiling>;
    case NodeKind::Cos:
      return &unary<xnn_unary_cosine>;
    case NodeKind::Exp:
      return &unary<xnn_unary_exp>;
    case NodeKind::Floor:
      return &unary<xnn_unary_floor>;
    case NodeKind::Gelu:
      return &unary<xnn_unary_gelu>;
    case NodeKind::Hardswish:
      return &unary<xnn_unary_hardswish>;
    case NodeKind::Log:
      return &unary<xnn_unary_log>;
    case NodeKind::Negate:
      return &unary<xnn_unary_negate>;
    case NodeKind::ReciprocalSquareRoot:
      return &unary<xnn_unary_reciprocal_square_root>;
    case NodeKind::Sigmoid:
      return &unary<xnn_unary_sigmoid>;
    case NodeKind::Sin:
      return &unary<xnn_unary_sine>;
    case NodeKind::Square:
      return &unary<xnn_unary_square>;
    case NodeKind::SquareRoot:
      return &unary<xnn_unary_square_root>;
    case NodeKind::Tanh:
      return &unary<xnn_unary_tanh>;
    default:
      return nullptr;
  }
}

}  // namespace

xnn_status define_node(xnn_subgraph_t subgraph, const Node& node,
                       const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs) {
  const Definition define = find_definition(node.kind);
  if (define == nullptr) return xnn_status_unsupported_parameter;
  return define({subgraph, node, inputs, outputs[0]});
}

}  // namespace petrel::backends::xnnpack
