// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/convolution_arguments.h"
#include "backends/xnnpack/aot/dynamic_input.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/quantized_weight.h"
#include "backends/xnnpack/aot/shuffled_convolution.h"
#include "backends/xnnpack/aot/volume_convolution.h"
#include "exir/ops/read_sizes.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using absl::Status;
using exir::Support;
using IrNode = exir::Node;

Support check_convolution(const IrNode& node) {
  const exir::Value* input = node.input(arg::input);
  const exir::Value* weight = node.input(arg::weight);
  const exir::Argument& bias = node.argument(arg::bias);
  const size_t rank = input->tensor().rank();
  if (rank < 3 || rank > 5) {
    return Support::no(absl::StrCat("input has rank ", rank, ", must be 3, 4 or 5"));
  }
  if (weight_constant(weight) == nullptr) return Support::no("weight is computed at run time");
  if (weight->tensor().rank() != rank) {
    return Support::no(
        absl::StrCat("weight has rank ", weight->tensor().rank(), ", input has ", rank));
  }
  if (bias.is_value() && !bias.value()->is_constant()) {
    return Support::no("bias is computed at run time");
  }
  if (!fixed(exir::sizes_of(input)[1]) || !fixed(exir::sizes_of(node.result())[1])) {
    return Support::no("its channels vary");
  }
  ConvolutionArguments p;
  if (Support support = read_convolution(node, &p); !support.supported) return support;
  if (rank == 5) return check_volume(node, p);
  if (!p.transposed) return Support::yes();
  for (size_t i = 0; i < 2; ++i) {
    if (p.output_padding[i] >= p.stride[i]) {
      return Support::no(absl::StrCat("output_padding is ", p.output_padding[i],
                                      ", must be below the stride ", p.stride[i]));
    }
  }
  return Support::yes();
}

// What was accepted by check_convolution.
Support check_dynamic_convolution(const IrNode& node) {
  const exir::Value* input = node.input(arg::input);
  if (input->tensor().rank() != 4) return Support::no("it is not a convolution of images");
  if (!is_whole(input)) return Support::no("its input has more than one scale for an image");
  ConvolutionArguments p;
  read_convolution(node, &p);
  if (p.is_depthwise(*fixed(exir::sizes_of(input)[1]))) return Support::no("it is depthwise");
  return check_dynamic_filter(node.input(arg::weight), p.transposed ? 1 : 0,
                              *fixed(exir::sizes_of(node.result())[1]));
}

// The filter in the order of the payload, from what PyTorch has:
//
//   convolution   [O, I/g, kh, kw]  ->  [O, kh, kw, I/g]
//   depthwise     [O, 1, kh, kw]    ->  [1, kh, kw, O]
//   transposed    [I, O/g, kh, kw]  ->  [O, kh, kw, I/g]
WeightView filter_view(const exir::Constant& weight, const ConvolutionArguments& p,
                       bool depthwise) {
  WeightView view = WeightView::of(weight);
  if (view.sizes.size() == 3) view = view.with_axis(2);
  if (depthwise) return view.permuted({1, 2, 3, 0});
  if (!p.transposed) return view.permuted({0, 2, 3, 1});
  // [g, I/g, O/g, kh, kw] -> [g, O/g, kh, kw, I/g]; g and O/g become one axis.
  return view.with_axis_split(0, p.groups).permuted({0, 2, 3, 4, 1});
}

Status lower_convolution(Lowering& l, const IrNode& node) {
  const exir::Value* input = node.input(arg::input);
  const exir::Value* weight = node.input(arg::weight);
  const exir::Argument& bias = node.argument(arg::bias);
  ConvolutionArguments p;
  read_convolution(node, &p);
  if (input->tensor().rank() == 5) return lower_volume(l, node, p);
  if (is_better_shuffled(node, p)) return lower_shuffled(l, node, p);
  const int64_t in = *fixed(exir::sizes_of(input)[1]);
  const int64_t out = *fixed(exir::sizes_of(node.result())[1]);
  const exir::Constant& stored = *weight_constant(weight)->constant();
  const exir::Sizes& kernel = stored.type.sizes;

  Channels channels;
  channels.groups = static_cast<uint32_t>(p.groups);
  channels.group_input_channels = static_cast<uint32_t>(in / p.groups);
  channels.group_output_channels = static_cast<uint32_t>(out / p.groups);
  const Window w = p.window(kernel.size() == 4 ? kernel[2] : 1, kernel.back());

  NodeKind kind = NodeKind::Conv2d;
  const bool depthwise = p.is_depthwise(in);
  if (depthwise) kind = NodeKind::DepthwiseConv2d;
  if (p.transposed) {
    kind = NodeKind::ConvTranspose2d;
    channels.adjustment_height = static_cast<uint32_t>(p.output_padding[0]);
    channels.adjustment_width = static_cast<uint32_t>(p.output_padding[1]);
  }

  FilterUse use = {input, weight, bias.is_value() ? bias.value() : nullptr,
                   l.effective_result(node), filter_view(stored, p, depthwise)};
  use.filter_dims = {static_cast<uint32_t>(depthwise ? 1 : out), w.kernel_height, w.kernel_width,
                     static_cast<uint32_t>(depthwise ? out : in / p.groups)};
  use.weight_axis = p.transposed ? 1 : 0;
  use.filter_axis = depthwise ? 3 : 0;
  use.layout = Layout::kChannelsLast;
  PETREL_ASSIGN_OR_RETURN(const ProductIds ids, add_operands(l, use));
  Node& conv = l.add_node(kind, {ids.input, ids.filter, ids.bias}, l.result(node));
  conv.window = w;
  conv.channels = channels;
  conv.output_min = l.range().min;
  conv.output_max = l.range().max;
  return absl::OkStatus();
}

constexpr OpRow kRows[] = {
    {aten::convolution, &check_convolution, &channels_last, &lower_convolution,
     /*takes_activation=*/true, /*needs_company=*/false, &check_dynamic_convolution},
};

}  // namespace

absl::Span<const OpRow> convolution_ops() { return kRows; }

}  // namespace petrel::backends::xnnpack::aot
