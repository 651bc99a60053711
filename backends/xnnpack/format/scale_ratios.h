// SPDX-License-Identifier: Apache-2.0
//
// How far apart the scales of a node's values may lie. XNNPACK's kernels compute with
// multipliers and shifts of few bits; it takes the ratios behind them on trust.
//
//   Add, Subtract   input / output             [2^-10, 2^8)
//   Multiply        input * input / output     [2^-16, 2^8)
//   LeakyRelu       input / output             [2^-8, 2^7]
//                   the same by the slope      [2^-8, 2^7], below 0 to -(2^7 - 2^-8)
//   Convert         input / output             [2^-8, 2^7]
//   products        input * filter / output    [2^-32, 2^8)

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_SCALE_RATIOS_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_SCALE_RATIOS_H_

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/format/problem.h"

namespace petrel::backends::xnnpack {

// Precondition: check_datatypes() found nothing. Scales per channel are not looked at.
Problem check_scale_ratios(const Graph& graph, const Node& node);

// The same for one scale of a filter between int8 values.
Problem check_filter_scale(float input, float filter, float output);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_SCALE_RATIOS_H_
