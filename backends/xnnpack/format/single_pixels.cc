// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/single_pixels.h"

#include <cstdint>

namespace petrel::backends::xnnpack {
namespace {

// Sizes in a graph are the largest ones, so that one stays one.
void widen(uint64_t size, uint32_t kernel, uint32_t* stride) {
  if (size == 1 && kernel > *stride) *stride = kernel;
}

}  // namespace

void widen_strides_of_single_pixels(Graph* graph) {
  for (Node& node : graph->nodes) {
    if (node.kind != NodeKind::ConvTranspose2d) continue;
    const Value& input = graph->values[node.inputs[0]];
    if (input.datatype != Datatype::FP32 || input.quantization != Quantization::kNone) continue;
    Window& w = node.window;
    // Phases are computed apart where neither side is dilated.
    if (w.dilation_height != 1 || w.dilation_width != 1) continue;
    widen(input.dims[1], w.kernel_height, &w.stride_height);
    widen(input.dims[2], w.kernel_width, &w.stride_width);
  }
}

}  // namespace petrel::backends::xnnpack
