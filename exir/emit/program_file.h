// SPDX-License-Identifier: Apache-2.0
//
// Writes a finished program flatbuffer and its segments as a `.pte` file.
#ifndef PETREL_EXIR_EMIT_PROGRAM_FILE_H_
#define PETREL_EXIR_EMIT_PROGRAM_FILE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/emit/file_layout.h"
#include "exir/emit/segments.h"

namespace petrel::exir {

// `flatbuffer` names the segments as `segments` laid them out. Returns the size
// of the file.
absl::StatusOr<uint64_t> write_program_file(absl::Span<const uint8_t> flatbuffer,
                                            const ProgramSegments& segments, const ByteSink& sink);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_PROGRAM_FILE_H_
