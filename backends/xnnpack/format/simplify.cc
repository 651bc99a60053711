// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/simplify.h"

#include "backends/xnnpack/format/chained_joins.h"
#include "backends/xnnpack/format/channels_last.h"
#include "backends/xnnpack/format/joined_attention.h"
#include "backends/xnnpack/format/joined_transposes.h"
#include "backends/xnnpack/format/single_pixels.h"
#include "backends/xnnpack/format/trimmed_windows.h"

namespace petrel::backends::xnnpack {

void simplify(Graph* graph, bool sizes_are_fixed, size_t threads) {
  keep_channels_last(graph);
  join_transposes(graph);
  chain_joins(graph);
  widen_strides_of_single_pixels(graph);
  if (sizes_are_fixed) trim_windows(graph);
  join_attention(graph, sizes_are_fixed, threads);
}

}  // namespace petrel::backends::xnnpack
