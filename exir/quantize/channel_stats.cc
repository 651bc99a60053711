// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/channel_stats.h"

#include <algorithm>

#include "exir/ops/handles.h"
#include "exir/ops/table.h"

namespace petrel::exir {
namespace {

// Calls use(channel, offset, count) for each run of elements of one channel.
template <typename Use>
void for_each_run(absl::Span<const int32_t> sizes, size_t dim, const Use& use) {
  size_t outer = 1, inner = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d < dim) outer *= static_cast<size_t>(sizes[d]);
    if (d > dim) inner *= static_cast<size_t>(sizes[d]);
  }
  const auto channels = static_cast<size_t>(sizes[dim]);
  for (size_t o = 0; o < outer; ++o) {
    for (size_t c = 0; c < channels; ++c) use(c, (o * channels + c) * inner, inner);
  }
}

}  // namespace

void ChannelStats::add(const float* elements, absl::Span<const int32_t> sizes, size_t dim) {
  const auto channels = static_cast<size_t>(sizes[dim]);
  ranges.resize(channels);
  squares.resize(channels, 0);
  double runs = 0;
  for_each_run(sizes, dim, [&](size_t channel, size_t offset, size_t length) {
    Range& range = ranges[channel];
    double sum = 0;
    for (size_t i = offset; i < offset + length; ++i) {
      range.min = std::min(range.min, elements[i]);
      range.max = std::max(range.max, elements[i]);
      sum += static_cast<double>(elements[i]) * static_cast<double>(elements[i]);
    }
    squares[channel] += sum;
    if (channel == 0) runs += static_cast<double>(length);
  });
  count += runs;
}

Range ChannelStats::divided_by(const std::vector<float>& factors) const {
  Range all;
  for (size_t c = 0; c < ranges.size(); ++c) {
    if (!ranges[c].is_empty())
      all.include({ranges[c].min / factors[c], ranges[c].max / factors[c]});
  }
  return all;
}

void divide_channels(const std::vector<float>& factors, absl::Span<const int32_t> sizes, size_t dim,
                     float* elements) {
  for_each_run(sizes, dim, [&](size_t channel, size_t offset, size_t length) {
    for (size_t i = offset; i < offset + length; ++i) elements[i] /= factors[channel];
  });
}

bool has_images(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) {
    return node->is(aten::convolution) && node->result()->tensor().rank() == 4;
  });
}

Value* with_channels_last(Graph& graph, Value* image) {
  const Sizes& sizes = image->tensor().sizes;
  const TensorType type =
      TensorType::contiguous(image->tensor().dtype, {sizes[0], sizes[2], sizes[3], sizes[1]});
  return graph
      .append(op(aten::permute), {Argument(image), Argument(std::vector<int64_t>{0, 2, 3, 1})},
              {Type(type)}, image->name() + "_channels_last")
      ->result();
}

}  // namespace petrel::exir
