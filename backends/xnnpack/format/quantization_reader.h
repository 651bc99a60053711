// SPDX-License-Identifier: Apache-2.0
//
// Reads how a value of a payload is quantised.
//
//   PerTensorQuant   scale, zero point                    activations, filters, biases
//   PerChannelQuant  a scale for each index of one dim    filters and biases
//   PerChannelGroup  a scale for each group along rows    4-bit filters
//   PerTokenDynamic  scales that are found at run time    activations

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_QUANTIZATION_READER_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_QUANTIZATION_READER_H_

#include <cstddef>

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/format/problem.h"

namespace petrel::backends::xnnpack {

// Fills quantization and quant of `value`; inline scales stay in the payload. Scales name
// one of `num_constants` entries. What the numbers say is checked by check_quantization().
Problem read_quantization(const schema::xnnpack::QuantizedTensorValue& entry, size_t num_constants,
                          Value* value);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_QUANTIZATION_READER_H_
