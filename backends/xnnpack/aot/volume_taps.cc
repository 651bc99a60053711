// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/volume_taps.h"

#include <algorithm>

namespace petrel::backends::xnnpack::aot {

std::vector<Tap> taps_of(const Depth& d) {
  std::vector<Tap> taps;
  for (int64_t k = 0; k < d.kernel; ++k) {
    const int64_t first = k * d.dilation - d.padding;  // what plane 0 of the output reads
    const int64_t last = d.in - 1 - first;
    const int64_t begin = first >= 0 ? 0 : (-first + d.stride - 1) / d.stride;
    const int64_t end = last < 0 ? 0 : std::min(d.out, last / d.stride + 1);
    if (begin < end) taps.push_back({k, begin * d.stride + first, begin, end - begin});
  }
  return taps;
}

bool are_neighbours(const std::vector<Tap>& taps) {
  return taps.back().plane - taps.front().plane + 1 == static_cast<int64_t>(taps.size());
}

std::vector<Tap> transposed_taps_of(const Depth& d, int64_t rest) {
  std::vector<Tap> taps;
  for (int64_t k = 0; k < d.kernel; ++k) {
    const int64_t place = k * d.dilation - d.padding - rest;  // where plane 0 of the input goes
    if (place % d.stride != 0) continue;
    const int64_t shift = place / d.stride;
    const int64_t begin = std::max<int64_t>(0, shift);
    const int64_t end = std::min(class_size(d), d.in + shift);
    if (begin < end) taps.push_back({k, begin - shift, begin, end - begin});
  }
  return taps;
}

int64_t class_size(const Depth& d) { return (d.out + d.stride - 1) / d.stride; }

}  // namespace petrel::backends::xnnpack::aot
