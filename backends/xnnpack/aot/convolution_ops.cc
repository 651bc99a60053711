// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/dynamic_input.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/quantized_weight.h"
#include "exir/ops/read_sizes.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using absl::Status;
using exir::Support;
using IrNode = exir::Node;
using Ints = std::vector<int64_t>;

// The literal arguments, with a height of one in front for 1-D convolutions.
struct Parameters {
  Ints stride;
  Ints padding;
  Ints dilation;
  Ints output_padding;
  int64_t groups = 1;
  bool transposed = false;
};

Support read_parameters(const IrNode& node, Parameters* out) {
  const size_t spatial = node.input(arg::input)->tensor().rank() - 2;
  const auto list = [&](exir::ArgHandle name, int64_t absent, int64_t minimum,
                        Ints* result) -> Support {
    std::optional<Ints> values = ints_argument(node.argument(name), spatial);
    if (!values)
      return Support::no(absl::StrCat(name.text, " is not a list of ", spatial, " numbers"));
    if (values->empty()) values->assign(spatial, absent);
    for (const int64_t value : *values) {
      if (value < minimum || value > INT32_MAX) {
        return Support::no(
            absl::StrCat(name.text, " has ", value, ", must be in [", minimum, ", 2^31)"));
      }
    }
    if (spatial == 1) values->insert(values->begin(), absent);
    *result = std::move(*values);
    return Support::yes();
  };
  for (const Support& support :
       {list(arg::stride, 1, 1, &out->stride), list(arg::padding, 0, 0, &out->padding),
        list(arg::dilation, 1, 1, &out->dilation),
        list(arg::output_padding, 0, 0, &out->output_padding)}) {
    if (!support.supported) return support;
  }
  if (!node.argument(arg::groups).is_int() || node.argument(arg::groups).as_int() < 1) {
    return Support::no("groups must be a positive number");
  }
  if (!node.argument(arg::transposed).is_bool()) return Support::no("transposed must be literal");
  out->groups = node.argument(arg::groups).as_int();
  out->transposed = node.argument(arg::transposed).as_bool();
  return Support::yes();
}

Support check_convolution(const IrNode& node) {
  const exir::Value* input = node.input(arg::input);
  const exir::Value* weight = node.input(arg::weight);
  const exir::Argument& bias = node.argument(arg::bias);
  const size_t rank = input->tensor().rank();
  if (rank != 3 && rank != 4) {
    return Support::no(absl::StrCat("input has rank ", rank, ", must be 3 or 4"));
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
  Parameters p;
  if (Support support = read_parameters(node, &p); !support.supported) return support;
  if (!p.transposed) return Support::yes();
  for (size_t i = 0; i < 2; ++i) {
    if (p.output_padding[i] >= p.stride[i]) {
      return Support::no(absl::StrCat("output_padding is ", p.output_padding[i],
                                      ", must be below the stride ", p.stride[i]));
    }
  }
  return Support::yes();
}

bool is_depthwise(const Parameters& p, int64_t input_channels) {
  return !p.transposed && p.groups > 1 && input_channels == p.groups;
}

// What was accepted by check_convolution.
Support check_dynamic_convolution(const IrNode& node) {
  const exir::Value* input = node.input(arg::input);
  if (input->tensor().rank() != 4) return Support::no("it is not a convolution of images");
  if (!is_whole(input)) return Support::no("its input has more than one scale for an image");
  Parameters p;
  read_parameters(node, &p);
  if (is_depthwise(p, *fixed(exir::sizes_of(input)[1]))) return Support::no("it is depthwise");
  return check_dynamic_filter(node.input(arg::weight), p.transposed ? 1 : 0,
                              *fixed(exir::sizes_of(node.result())[1]));
}

// The filter in the order of the payload, from what PyTorch has:
//
//   convolution   [O, I/g, kh, kw]  ->  [O, kh, kw, I/g]
//   depthwise     [O, 1, kh, kw]    ->  [1, kh, kw, O]
//   transposed    [I, O/g, kh, kw]  ->  [O, kh, kw, I/g]
WeightView filter_view(const exir::Constant& weight, const Parameters& p, bool depthwise) {
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
  Parameters p;
  read_parameters(node, &p);
  const int64_t in = *fixed(exir::sizes_of(input)[1]);
  const int64_t out = *fixed(exir::sizes_of(node.result())[1]);
  const exir::Constant& stored = *weight_constant(weight)->constant();
  const exir::Sizes& kernel = stored.type.sizes;

  Channels channels;
  channels.groups = static_cast<uint32_t>(p.groups);
  channels.group_input_channels = static_cast<uint32_t>(in / p.groups);
  channels.group_output_channels = static_cast<uint32_t>(out / p.groups);
  Window w;
  w.padding_top = w.padding_bottom = static_cast<uint32_t>(p.padding[0]);
  w.padding_left = w.padding_right = static_cast<uint32_t>(p.padding[1]);
  w.kernel_height = static_cast<uint32_t>(kernel.size() == 4 ? kernel[2] : 1);
  w.kernel_width = static_cast<uint32_t>(kernel.back());
  w.stride_height = static_cast<uint32_t>(p.stride[0]);
  w.stride_width = static_cast<uint32_t>(p.stride[1]);
  w.dilation_height = static_cast<uint32_t>(p.dilation[0]);
  w.dilation_width = static_cast<uint32_t>(p.dilation[1]);

  NodeKind kind = NodeKind::Conv2d;
  const bool depthwise = is_depthwise(p, in);
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
     /*takes_activation=*/true, /*only_moves=*/false, &check_dynamic_convolution},
};

}  // namespace

absl::Span<const OpRow> convolution_ops() { return kRows; }

}  // namespace petrel::backends::xnnpack::aot
