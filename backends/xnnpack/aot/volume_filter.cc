// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/volume_filter.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"
#include "exir/ops/read_sizes.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {

using absl::StatusOr;

VolumeFilter::VolumeFilter(Lowering& lowering, const exir::Node& node,
                           const ConvolutionArguments& arguments)
    : lowering_(lowering),
      arguments_(arguments),
      weight_(node.input(arg::weight)->constant()),
      bias_(node.argument(arg::bias).is_value() ? node.argument(arg::bias).value()->constant()
                                                : nullptr),
      sizes_(weight_->type.sizes),
      inputs_(*fixed(exir::sizes_of(node.input(arg::input))[1])),
      outputs_(*fixed(exir::sizes_of(node.result())[1])) {}

StatusOr<uint32_t> VolumeFilter::of_images(int64_t first, int64_t count) {
  const auto h = static_cast<uint32_t>(height()), w = static_cast<uint32_t>(width());
  const auto outputs = static_cast<uint32_t>(outputs_);
  if (is_depthwise()) return constant(first, count, {3, 4, 5, 0, 1}, {1, h, w, outputs});
  const auto inputs = static_cast<uint32_t>(count * inputs_ / arguments_.groups);
  const std::vector<size_t> axes = arguments_.transposed ? std::vector<size_t>{0, 2, 4, 5, 3, 1}
                                                         : std::vector<size_t>{0, 1, 4, 5, 3, 2};
  return constant(first, count, axes, {outputs, h, w, inputs});
}

StatusOr<uint32_t> VolumeFilter::of_outputs(int64_t first, int64_t count) {
  return constant(first, count, {0, 3, 1, 4, 5, 2},
                  {static_cast<uint32_t>(count * outputs_), static_cast<uint32_t>(height()),
                   static_cast<uint32_t>(width()), static_cast<uint32_t>(inputs_)});
}

StatusOr<uint32_t> VolumeFilter::of_columns() {
  const auto planes = static_cast<uint32_t>(this->planes());
  const auto outputs = static_cast<uint32_t>(outputs_);
  if (is_depthwise()) return constant(0, planes, {4, 3, 5, 0, 1}, {1, planes, 1, outputs});
  const auto inputs = static_cast<uint32_t>(inputs_ / arguments_.groups);
  const std::vector<size_t> axes = arguments_.transposed ? std::vector<size_t>{0, 2, 3, 4, 5, 1}
                                                         : std::vector<size_t>{0, 1, 3, 4, 5, 2};
  return constant(0, planes, axes, {outputs, planes, 1, inputs});
}

// `axes` are of [groups, O / groups, I / groups, k, kh, kw], of transposed ones of
// [groups, I / groups, O / groups, k, kh, kw].
StatusOr<uint32_t> VolumeFilter::constant(int64_t first, int64_t count,
                                          const std::vector<size_t>& axes, Dims dims) {
  const auto view = [&](const exir::Constant& weight) {
    return WeightView::of(weight).with_axis_split(0, arguments_.groups).permuted(axes);
  };
  if (count == planes() && !is_half()) {
    return lowering_.constant(weight_, view(*weight_), std::move(dims));
  }
  const exir::ConstantPtr cut = cut_planes(first, count);
  const MadeOf made = {{weight_.get()}, absl::StrCat("f32planes", first, "to", first + count)};
  return lowering_.made_constant(made, cut, view(*cut), std::move(dims));
}

exir::ConstantPtr VolumeFilter::cut_planes(int64_t first, int64_t count) const {
  auto cut = std::make_shared<exir::Constant>();
  cut->kind = exir::Constant::Kind::kLiteral;
  cut->fqn = absl::StrCat(weight_->fqn, "@planes", first, "to", first + count);
  exir::Sizes sizes = sizes_;
  sizes[2] = count;
  cut->type = exir::TensorType::contiguous(exir::ScalarType::kFloat, sizes);
  const auto type = weight_->type.dtype;
  const size_t item = exir::item_size(type);
  const auto area = static_cast<size_t>(height() * width());
  const auto filters = static_cast<size_t>(sizes_[0] * sizes_[1]);
  const size_t all = static_cast<size_t>(planes()) * area;
  const size_t before = static_cast<size_t>(first) * area;
  const size_t run = static_cast<size_t>(count) * area;
  const auto produce = [=, data = weight_->data](absl::Span<uint8_t> out) {
    const exir::Blob::Bytes bytes = data.bytes();
    uint8_t* to = out.data();
    for (size_t f = 0; f < filters; ++f) {
      const uint8_t* from = bytes.data() + (f * all + before) * item;
      for (size_t i = 0; i < run; ++i, from += item, to += sizeof(float)) {
        const auto value = static_cast<float>(exir::decode_element(from, type));
        std::memcpy(to, &value, sizeof(value));
      }
    }
  };
  cut->data = exir::Blob::produced(filters * run * sizeof(float), produce);
  return cut;
}

StatusOr<uint32_t> VolumeFilter::bias() {
  if (bias_ == nullptr) return kNoId;
  const auto outputs = static_cast<uint32_t>(outputs_);
  if (!is_half()) return lowering_.constant(bias_, WeightView::of(*bias_), {outputs});
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> numbers, exir::decode_constant(*bias_));
  return add_floats(bias_, numbers, "f32");
}

StatusOr<uint32_t> VolumeFilter::bias_among(uint32_t count, uint32_t first) {
  if (bias_ == nullptr) return kNoId;
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> numbers, exir::decode_constant(*bias_));
  std::vector<double> among(count, 0);
  std::copy(numbers.begin(), numbers.end(), among.begin() + first);
  return add_floats(bias_, among, absl::StrCat("f32from", first, "of", count));
}

// What was computed from `source`.
StatusOr<uint32_t> VolumeFilter::add_floats(const exir::ConstantPtr& source,
                                            const std::vector<double>& numbers,
                                            const std::string& recipe) {
  auto made = std::make_shared<exir::Constant>();
  made->kind = exir::Constant::Kind::kLiteral;
  made->fqn = absl::StrCat(source->fqn, "@", recipe);
  made->type = exir::TensorType::contiguous(exir::ScalarType::kFloat,
                                            {static_cast<int64_t>(numbers.size())});
  PETREL_ASSIGN_OR_RETURN(made->data, exir::encode_constant(numbers, exir::ScalarType::kFloat));
  return lowering_.made_constant({{source.get()}, recipe}, made, WeightView::of(*made),
                                 {static_cast<uint32_t>(numbers.size())});
}

}  // namespace petrel::backends::xnnpack::aot
