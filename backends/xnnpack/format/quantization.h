// SPDX-License-Identifier: Apache-2.0
//
// Which quantisations a value may have, and the element types that each kind of node
// takes. XNNPACK checks a part of this, and for the rest takes what a caller says for
// granted: that filters have zero point 0, that groups divide rows.
//
//   datatype  quantisation       where
//   FP32      none               anywhere
//   FP16      none               anywhere but in filters and biases of convolutions
//   QINT8     per tensor         activations, filters
//   QCINT8    per channel        filters
//   QCINT4    per channel        filters of FullyConnected
//   QBINT4    per group          filters of FullyConnected
//   QINT32    per tensor         biases beside QINT8 filters
//   QCINT32   per channel        biases beside QCINT8 filters
//   QDINT8    found at run time  activations between a Convert and a product

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_QUANTIZATION_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_QUANTIZATION_H_

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/format/problem.h"

namespace petrel::backends::xnnpack {

// Elements in a group of 4 bits: what XNNPACK's kernels go through at a time, or more.
inline constexpr uint32_t kGroupUnit = 32;

// Whether a scale is finite, positive and not denormal, as XNNPACK wants it.
Problem check_scale(float scale);

// Unsupported for a datatype or quantisation outside the table above; invalid for one
// whose numbers contradict each other or the dims. Scales in constants are not read.
Problem check_quantization(const Value& value);

// Whether the values of `node` have element types and parameters that it can take.
// Precondition: ids exist, all values pass check_quantization().
Problem check_datatypes(const Graph& graph, const Node& node);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_QUANTIZATION_H_
