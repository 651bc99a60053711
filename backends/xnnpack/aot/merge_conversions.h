// SPDX-License-Identifier: Apache-2.0
//
// Lets nodes of a payload take and make integers where the program dequantises before
// them and quantises behind them.
//
//   %f = Convert %q       int8 -> f32        %r = Conv2d %q, filter of int8, bias of int32
//   %y = Conv2d %f, filter of int8, ...  ==>
//   %r = Convert %y       f32 -> int8
//
// Conversions move past nodes that only move elements, so that they meet:
//
//   %f = Convert %q                          %t = StaticTranspose %q
//   %t = StaticTranspose %f              ==> %f = Convert %t
//
// and a value that is dequantised and quantised again to the same levels stays as it was.
//
// A node stays as it is where XNNPACK could not compute it (format/quantization.h,
// format/scale_ratios.h). What nobody needs any more is dropped.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_MERGE_CONVERSIONS_H_
#define PETREL_BACKENDS_XNNPACK_AOT_MERGE_CONVERSIONS_H_

#include <vector>

#include "backends/xnnpack/aot/layout.h"
#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack::aot {

// `sizes` has one entry for each value, and still has afterwards; ids change.
void merge_conversions(Graph* graph, std::vector<Extents>* sizes);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_MERGE_CONVERSIONS_H_
