// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/transposed_phases.h"

#include <algorithm>
#include <utility>

#include "exir/ops/handles.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {

int64_t PhasesOfDim::missing() const {
  return std::max<int64_t>((padding + out - 1) / stride + 1 - (in + reach()), 0);
}

int64_t PhasesOfDim::tap(int64_t f, int64_t j) const {
  const int64_t place = j * stride + f;
  return place % dilation == 0 && place / dilation < kernel ? place / dilation : -1;
}

TransposedPhases::TransposedPhases(const Node& node)
    : groups_(node.argument(arg::groups).as_int()) {
  const TensorType& in = node.input(arg::input)->tensor();
  const TensorType& weight = node.input(arg::weight)->tensor();
  in_ = weight.sizes[0] / groups_;
  each_ = weight.sizes[1];
  const size_t spatial = weight.rank() - 2;
  const auto numbers = [&](ArgHandle name) { return ints_at(node, name, spatial); };
  const Ints stride = numbers(arg::stride), padding = numbers(arg::padding),
             more = numbers(arg::output_padding), dilation = numbers(arg::dilation);
  for (size_t d = 0; d < spatial; ++d) {
    phases_.push_back({stride[d], padding[d], more[d], dilation[d], weight.sizes[2 + d],
                       in.sizes[2 + d], node.result()->tensor().sizes[2 + d]});
  }
}

const PhasesOfDim& TransposedPhases::rows() const {
  static constexpr PhasesOfDim kLine = {1, 0, 0, 1, 1, 1, 1};
  return phases_.size() == 1 ? kLine : phases_[0];
}

Sizes TransposedPhases::weight_sizes() const {
  Sizes sizes = {each_ * groups_ * count(), in_};
  for (const PhasesOfDim& one : phases_) sizes.push_back(one.reach() + 1);
  return sizes;
}

absl::StatusOr<std::vector<double>> TransposedPhases::weight(
    const std::vector<double>& from) const {
  const PhasesOfDim &r = rows(), &c = columns();
  const int64_t height = r.reach() + 1, width = c.reach() + 1, out = each_ * groups_;
  PETREL_RETURN_IF_ERROR(check_table({out, r.stride, c.stride, in_, height, width}));
  std::vector<double> to;
  for (int64_t channel = 0; channel < out; ++channel) {
    for (int64_t f = 0; f < count(); ++f) {
      for (int64_t i = 0; i < in_ * height * width; ++i) {
        const int64_t row = r.tap(f / c.stride, height - 1 - i / width % height);
        const int64_t column = c.tap(f % c.stride, width - 1 - i % width);
        const int64_t filter =
            (channel / each_ * in_ + i / (height * width)) * each_ + channel % each_;
        const int64_t place = (filter * r.kernel + row) * c.kernel + column;
        to.push_back(row < 0 || column < 0 ? 0 : from[static_cast<size_t>(place)]);
      }
    }
  }
  return to;
}

std::vector<double> TransposedPhases::for_phases(const std::vector<double>& of_channels) const {
  std::vector<double> all;
  for (const double number : of_channels) {
    all.insert(all.end(), static_cast<size_t>(count()), number);
  }
  return all;
}

Ints TransposedPhases::pads() const {
  Ints pads;
  for (auto one = phases_.rbegin(); one != phases_.rend(); ++one) {
    pads.insert(pads.end(), {0, one->missing()});
  }
  const bool adds = std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad > 0; });
  return adds ? pads : Ints();
}

Ints TransposedPhases::padding() const {
  Ints padding;
  for (const PhasesOfDim& one : phases_) padding.push_back(one.reach());
  return padding;
}

// [N, C * s, L], [N, C * s * t, H, W].
BuiltValue TransposedPhases::interleaved(Builder& b, Value* y) const {
  const rules::Sizes in = sizes_of(y);
  rules::Sizes split = {in[0], in[1]}, joined = {in[0], in[1]};
  Ints order = {0, 1};
  const auto spatial = static_cast<int64_t>(phases_.size());
  for (const PhasesOfDim& one : phases_) {
    split[1] = split[1] / one.stride;
    split.push_back(one.stride);
  }
  joined[1] = split[1];
  for (int64_t d = 0; d < spatial; ++d) {
    const rules::Size& size = in[static_cast<size_t>(2 + d)];
    split.push_back(size);
    order.insert(order.end(), {2 + spatial + d, 2 + d});
    joined.push_back(size * phases_[static_cast<size_t>(d)].stride);
  }
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, split));
  PETREL_ASSIGN_OR_RETURN(y, b.permute(y, order));
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, joined));
  for (int64_t d = 0; d < spatial; ++d) {
    const PhasesOfDim& one = phases_[static_cast<size_t>(d)];
    PETREL_ASSIGN_OR_RETURN(y, b.slice(y, 2 + d, one.padding, one.padding + one.out));
  }
  return y;
}

}  // namespace petrel::exir
