// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/shuffled_convolution.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"
#include "exir/ops/read_sizes.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using IrNode = exir::Node;

// The fewest columns that XNNPACK's kernels compute at once.
constexpr int64_t kColumns = 8;

int64_t whole_columns(int64_t count) { return (count + kColumns - 1) / kColumns * kColumns; }

// Of one axis of the image.
struct Axis {
  int64_t in, out, kernel, stride, padding;

  // Elements of the input that a phase reads.
  int64_t taps() const { return kernel / stride; }
  // With all of the padding.
  int64_t whole() const { return (in + taps() - 1) * stride; }
  // Phases of fewer taps would read elements for zeros of a filter, which make no number of an
  // infinity.
  bool fits() const {
    return kernel % stride == 0 && padding >= 0 && out > 0 && padding + out <= whole();
  }
};

Axis axis_of(const IrNode& node, const ConvolutionArguments& p, size_t i) {
  return {*fixed(exir::sizes_of(node.input(arg::input))[i + 2]),
          *fixed(exir::sizes_of(node.result())[i + 2]),
          node.input(arg::weight)->tensor().sizes[i + 2], p.stride[i], p.padding[i]};
}

// [rows * columns * O, I, th, tw] of [I, O, kh, kw]: of each phase its taps, the last one first,
// which the window of a convolution meets first.
exir::ConstantPtr phases_of(const exir::Constant& weight, const Axis& rows, const Axis& columns) {
  const exir::Sizes& from = weight.type.sizes;
  auto made = std::make_shared<exir::Constant>();
  made->kind = exir::Constant::Kind::kLiteral;
  made->fqn = absl::StrCat(weight.fqn, "@phases");
  const exir::Sizes sizes = {rows.stride * columns.stride * from[1], from[0], rows.taps(),
                             columns.taps()};
  made->type = exir::TensorType::contiguous(exir::ScalarType::kFloat, sizes);
  const auto produce = [=, data = weight.data](absl::Span<uint8_t> out) {
    const exir::Blob::Bytes bytes = data.bytes();
    uint8_t* to = out.data();
    for (int64_t f = 0; f < sizes[0]; ++f) {
      const int64_t output = f % from[1], phase = f / from[1];
      const int64_t row = phase / columns.stride, column = phase % columns.stride;
      for (int64_t i = 0; i < from[0]; ++i) {
        for (int64_t ty = sizes[2]; ty-- > 0;) {
          for (int64_t tx = sizes[3]; tx-- > 0; to += sizeof(float)) {
            const int64_t y = row + ty * rows.stride, x = column + tx * columns.stride;
            const int64_t place = ((i * from[1] + output) * from[2] + y) * from[3] + x;
            std::memcpy(to, bytes.data() + place * sizeof(float), sizeof(float));
          }
        }
      }
    }
  };
  const auto count = static_cast<size_t>(sizes[0] * sizes[1] * sizes[2] * sizes[3]);
  made->data = exir::Blob::produced(count * sizeof(float), produce);
  return made;
}

absl::StatusOr<uint32_t> add_bias(Lowering& l, const IrNode& node, int64_t phases) {
  const exir::Argument& bias = node.argument(arg::bias);
  if (!bias.is_value()) return kNoId;
  const exir::Constant& stored = *bias.value()->constant();
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> numbers, exir::decode_constant(stored));
  std::vector<float> repeated;
  for (int64_t i = 0; i < phases; ++i) {
    for (const double number : numbers) repeated.push_back(static_cast<float>(number));
  }
  const Dims dims = {static_cast<uint32_t>(repeated.size())};
  return l.floats({{&stored}, absl::StrCat("phases", phases)}, dims, repeated);
}

}  // namespace

bool is_better_shuffled(const IrNode& node, const ConvolutionArguments& p) {
  const exir::Value* input = node.input(arg::input);
  const exir::Value* weight = node.input(arg::weight);
  if (!p.transposed || p.groups != 1 || input->tensor().rank() != 4 || !weight->is_constant() ||
      input->tensor().dtype != exir::ScalarType::kFloat ||
      weight->tensor().dtype != exir::ScalarType::kFloat) {
    return false;
  }
  const exir::rules::Sizes in = exir::sizes_of(input), out = exir::sizes_of(node.result());
  for (const size_t i : {2, 3}) {
    if (!fixed(in[i]) || !fixed(out[i]) || p.dilation[i - 2] != 1) return false;
  }
  const Axis rows = axis_of(node, p, 0), columns = axis_of(node, p, 1);
  if (!rows.fits() || !columns.fits()) return false;
  const int64_t outputs = *fixed(out[1]);
  const int64_t phases = rows.stride * columns.stride;
  return phases > 1 && rows.kernel * columns.kernel * whole_columns(outputs) >=
                           2 * rows.taps() * columns.taps() * whole_columns(phases * outputs);
}

absl::Status lower_shuffled(Lowering& l, const IrNode& node, const ConvolutionArguments& p) {
  const Axis rows = axis_of(node, p, 0), columns = axis_of(node, p, 1);
  const exir::rules::Sizes in = exir::sizes_of(node.input(arg::input));
  const int64_t outputs = *fixed(exir::sizes_of(node.result())[1]);
  const int64_t phases = rows.stride * columns.stride;
  PETREL_ASSIGN_OR_RETURN(const uint32_t x,
                          l.operand(node.input(arg::input), Layout::kChannelsLast));
  const exir::Constant& weight = *node.input(arg::weight)->constant();
  const exir::ConstantPtr filter = phases_of(weight, rows, columns);
  const MadeOf made = {{&weight}, absl::StrCat("phases", rows.stride, "x", columns.stride)};
  const Dims dims = {static_cast<uint32_t>(phases * outputs), static_cast<uint32_t>(rows.taps()),
                     static_cast<uint32_t>(columns.taps()), static_cast<uint32_t>(*fixed(in[1]))};
  PETREL_ASSIGN_OR_RETURN(
      const uint32_t w,
      l.made_constant(made, filter, WeightView::of(*filter).permuted({0, 2, 3, 1}), dims));
  PETREL_ASSIGN_OR_RETURN(const uint32_t bias, add_bias(l, node, phases));

  const int64_t height = rows.in + rows.taps() - 1, width = columns.in + columns.taps() - 1;
  const uint32_t channels = l.intermediate({in[0], height, width, phases * outputs});
  Node& conv = l.add_node(NodeKind::Conv2d, {x, w, bias}, channels);
  conv.window.kernel_height = dims[1];
  conv.window.kernel_width = dims[2];
  conv.window.padding_top = conv.window.padding_bottom = dims[1] - 1;
  conv.window.padding_left = conv.window.padding_right = dims[2] - 1;
  conv.channels = {1, dims[3], dims[0], 0, 0};
  conv.output_min = l.range().min;
  conv.output_max = l.range().max;

  const int64_t run = columns.stride * outputs;
  const uint32_t apart = l.reshape(channels, {in[0] * height, width, rows.stride, run});
  const uint32_t turned = l.intermediate({in[0] * height, rows.stride, width, run});
  l.add_node(NodeKind::StaticTranspose, {apart}, turned).list = {0, 2, 1, 3};
  if (rows.out == rows.whole() && columns.out == columns.whole()) {
    l.add_reshape(turned, l.result(node));
    return absl::OkStatus();
  }
  const uint32_t pixels =
      l.reshape(turned, {in[0], rows.whole(), columns.whole(), exir::rules::Size(outputs)});
  Node& cut = l.add_node(NodeKind::StaticSlice, {pixels}, l.result(node));
  cut.list = {0, static_cast<uint32_t>(rows.padding), static_cast<uint32_t>(columns.padding), 0};
  cut.list2 = {0, static_cast<uint32_t>(rows.out), static_cast<uint32_t>(columns.out), 0};
  return absl::OkStatus();
}

}  // namespace petrel::backends::xnnpack::aot
