// SPDX-License-Identifier: Apache-2.0
//
// What the channels of a value were seen to be, over any number of samples:
//
//   ChannelStats seen;
//   seen.add(elements, {2, 16, 8, 8}, 1);    // 16 channels
//   seen.ranges[3], seen.mean_square(3)
//
// Images may be shown with channels last, which backends have and which costs them nothing.
#ifndef PETREL_EXIR_QUANTIZE_CHANNEL_STATS_H_
#define PETREL_EXIR_QUANTIZE_CHANNEL_STATS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "exir/ir/graph.h"
#include "exir/quantize/scheme.h"

namespace petrel::exir {

struct ChannelStats {
  std::vector<Range> ranges;
  std::vector<double> squares;  // sums
  double count = 0;             // elements of each channel

  // Elements in row-major order of `sizes`; channels are those of dimension `dim`.
  // Precondition: finite, and as many channels as before.
  void add(const float* elements, absl::Span<const int32_t> sizes, size_t dim);

  double mean_square(size_t channel) const { return count == 0 ? 0 : squares[channel] / count; }
  // Of all channels, each divided by its factor.
  Range divided_by(const std::vector<float>& factors) const;
};

// Divides the channels in place, as ChannelStats::add() sees them.
void divide_channels(const std::vector<float>& factors, absl::Span<const int32_t> sizes, size_t dim,
                     float* elements);

// Whether a graph has convolutions of images.
bool has_images(const Graph& graph);

// A value [N, C, H, W] of fixed sizes as [N, H, W, C].
Value* with_channels_last(Graph& graph, Value* image);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_CHANNEL_STATS_H_
