// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/node_definition.h"

#include <array>

#include "third_party/xnnpack/split/flag.h"
#include "third_party/xnnpack/image/flag.h"
#include "third_party/xnnpack/norm/norm.h"
#include "third_party/xnnpack/unpacked/flag.h"
#include "third_party/xnnpack/winograd/flag.h"

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

uint32_t algorithm_flag(const Node& node) {
  if (node.winograd.threads != 0) {
    return XNN_FLAG_WINOGRAD | (node.winograd.tile == 4 ? XNN_FLAG_WINOGRAD_LARGE : 0) |
           (node.winograd.transforms_each_run ? XNN_FLAG_WINOGRAD_EACH_RUN : 0);
  }
  if (node.image_threads != 0) return XNN_FLAG_IMAGE | (node.reads_planes ? XNN_FLAG_PLANES : 0);
  if (node.is_unpacked) return XNN_FLAG_UNPACKED;
  return node.is_split ? XNN_FLAG_SPLIT : 0;
}

xnn_status fully_connected(const Call& c) {
  return xnn_define_fully_connected(c.graph, c.node.output_min, c.node.output_max, c.in[0], c.in[1],
                                    c.in[2], c.out, c.node.flags | algorithm_flag(c.node));
}

xnn_status convolution(const Call& c) {
  const Window& w = c.node.window;
  const Channels& ch = c.node.channels;
  return xnn_define_convolution_2d(
      c.graph, w.padding_top, w.padding_right, w.padding_bottom, w.padding_left, w.kernel_height,
      w.kernel_width, w.stride_height, w.stride_width, w.dilation_height, w.dilation_width,
      ch.groups, ch.group_input_channels, ch.group_output_channels, c.node.output_min,
      c.node.output_max, c.in[0], c.in[1], c.in[2], c.out, algorithm_flag(c.node));
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

xnn_status norm(const Call& c) {
  const Channels& ch = c.node.channels;
  petrel_norm norm = {};
  norm.axis = c.node.axis;
  norm.groups = ch.groups;
  norm.channels = size_t{ch.groups} * ch.group_input_channels;
  norm.epsilon = c.node.scalar;
  return petrel_define_norm(c.graph, &norm, c.in[0], c.in[1], c.in[2], c.out);
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

struct Row {
  NodeKind kind;
  Definition define;
};

constexpr Row kDefinitions[] = {
    {NodeKind::Add, &binary<xnn_binary_add>},
    {NodeKind::Subtract, &binary<xnn_binary_subtract>},
    {NodeKind::Multiply, &binary<xnn_binary_multiply>},
    {NodeKind::Div, &binary<xnn_binary_divide>},
    {NodeKind::Minimum, &binary<xnn_binary_minimum>},
    {NodeKind::Maximum, &binary<xnn_binary_maximum>},
    {NodeKind::PRelu, &binary<xnn_binary_prelu>},
    {NodeKind::BatchMatrixMultiply, &matrix_product},
    {NodeKind::FullyConnected, &fully_connected},
    {NodeKind::Conv2d, &convolution},
    {NodeKind::DepthwiseConv2d, &depthwise_convolution},
    {NodeKind::ConvTranspose2d, &transposed_convolution},
    {NodeKind::MaxPooling2d, &max_pooling},
    {NodeKind::AvgPooling2d, &average_pooling},
    {NodeKind::GlobalAvgPooling2d, &global_average},
    {NodeKind::Softmax, &softmax},
    {kNorm, &norm},
    {NodeKind::Convert, &unary<xnn_unary_convert>},
    {NodeKind::Copy, &copy},
    {NodeKind::StaticTranspose, &transpose},
    {NodeKind::StaticReshape, &reshape},
    {NodeKind::StaticSlice, &slice},
    {NodeKind::StaticConstantPad, &pad},
    {NodeKind::StaticResizeBilinear2d, &resize},
    {NodeKind::Concatenate2, &concatenate},
    {NodeKind::Concatenate3, &concatenate},
    {NodeKind::Concatenate4, &concatenate},
    {NodeKind::Concatenate5, &concatenate},
    {NodeKind::Clamp, &clamp},
    {NodeKind::LeakyRelu, &leaky_relu},
    {NodeKind::Elu, &elu},
    {NodeKind::Abs, &unary<xnn_unary_abs>},
    {NodeKind::Ceiling, &unary<xnn_unary_ceiling>},
    {NodeKind::Cos, &unary<xnn_unary_cosine>},
    {NodeKind::Exp, &unary<xnn_unary_exp>},
    {NodeKind::Floor, &unary<xnn_unary_floor>},
    {NodeKind::Gelu, &unary<xnn_unary_gelu>},
    {NodeKind::Hardswish, &unary<xnn_unary_hardswish>},
    {NodeKind::Log, &unary<xnn_unary_log>},
    {NodeKind::Negate, &unary<xnn_unary_negate>},
    {NodeKind::ReciprocalSquareRoot, &unary<xnn_unary_reciprocal_square_root>},
    {NodeKind::Sigmoid, &unary<xnn_unary_sigmoid>},
    {NodeKind::Sin, &unary<xnn_unary_sine>},
    {NodeKind::Square, &unary<xnn_unary_square>},
    {NodeKind::SquareRoot, &unary<xnn_unary_square_root>},
    {NodeKind::Tanh, &unary<xnn_unary_tanh>},
};

Definition find_definition(NodeKind kind) {
  for (const Row& row : kDefinitions) {
    if (row.kind == kind) return row.define;
  }
  return nullptr;
}

}  // namespace

xnn_status define_node(xnn_subgraph_t subgraph, const Node& node,
                       const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs) {
  const Definition define = find_definition(node.kind);
  if (define == nullptr) return xnn_status_unsupported_parameter;
  return define({subgraph, node, inputs, outputs[0]});
}

}  // namespace petrel::backends::xnnpack
