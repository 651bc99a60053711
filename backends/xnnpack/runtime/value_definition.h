// SPDX-License-Identifier: Apache-2.0
//
// Values of a payload as values of an XNNPACK subgraph, by how they are quantised.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_VALUE_DEFINITION_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_VALUE_DEFINITION_H_

#include <xnnpack.h>

#include <cstdint>
#include <string>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// `data` is null for what is not a constant. `scales` holds quant.scales.count floats, for
// groups bfloat16s, and lives until the runtime is made. Precondition: check_graph and
// check_implemented found nothing.
xnn_status define_value(xnn_subgraph_t subgraph, const Value& value, const void* data,
                        const void* scales, uint32_t* out);

// Scale and zero point in text that tells all of them apart; "" without any. Scales per
// channel or group are not part of it.
std::string describe_quantization(const Value& value);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_VALUE_DEFINITION_H_
