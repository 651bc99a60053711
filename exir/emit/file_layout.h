// SPDX-License-Identifier: Apache-2.0
//
// What `.pte` and `.ptd` files have in common: a header spliced into a
// flatbuffer behind its first eight bytes, padding, and the segments.
//
//   0       4      8                8+H
//   | root  | id   | header, zeros  | rest of the flatbuffer | zeros | pieces
//
// The root offset is the only absolute offset in a flatbuffer, so adding H to
// it makes the buffer valid again; H is a multiple of every alignment in it.
#ifndef PETREL_EXIR_EMIT_FILE_LAYOUT_H_
#define PETREL_EXIR_EMIT_FILE_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/emit/segments.h"
#include "exir/output/byte_sink.h"

namespace petrel::exir {

// Appends `value` in little-endian order.
void append_u32(std::vector<uint8_t>* bytes, uint32_t value);
void append_u64(std::vector<uint8_t>* bytes, uint64_t value);

// Writes `flatbuffer` with `header` (already padded; may be empty) spliced in,
// then each piece at `segment_base` plus its offset; ends no earlier than at
// `segment_base`. Returns the file's size.
absl::StatusOr<uint64_t> write_file(absl::Span<const uint8_t> flatbuffer,
                                    absl::Span<const uint8_t> header, uint64_t segment_base,
                                    const std::vector<Piece>& pieces, const ByteSink& sink);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_FILE_LAYOUT_H_
