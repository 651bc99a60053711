// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of a file go while it is written: called with each piece, in
// order. An error ends the writing.
#ifndef PETREL_EXIR_OUTPUT_BYTE_SINK_H_
#define PETREL_EXIR_OUTPUT_BYTE_SINK_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace petrel::exir {

using ByteSink = std::function<absl::Status(absl::Span<const uint8_t>)>;

}  // namespace petrel::exir

#endif  // PETREL_EXIR_OUTPUT_BYTE_SINK_H_
