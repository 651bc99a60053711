// SPDX-License-Identifier: Apache-2.0
//
// Writes a graph as a payload: header, flatbuffer "XN01", padding to 16 bytes.
// The same graph always gives the same bytes. Constants must be named: writing
// does not put bytes into the payload.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_PAYLOAD_WRITER_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_PAYLOAD_WRITER_H_

#include <cstdint>
#include <vector>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Precondition: check_graph finds no problem and all constants but the reserved
// one are named.
std::vector<uint8_t> write_payload(const Graph& graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_PAYLOAD_WRITER_H_
