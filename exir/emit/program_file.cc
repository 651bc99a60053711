// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/program_file.h"

#include <vector>

#include "schema/formats.h"

namespace petrel::exir {
namespace {

constexpr uint32_t kHeaderBytes = 32;

}  // namespace

absl::StatusOr<uint64_t> write_program_file(absl::Span<const uint8_t> flatbuffer,
                                            const ProgramSegments& segments, const ByteSink& sink) {
  if (segments.total_bytes() == 0) {
    return write_file(flatbuffer, {}, 0, {}, sink);
  }
  const uint64_t program_bytes = flatbuffer.size() + kHeaderBytes;
  const uint64_t base = align_up(program_bytes, segments.base_alignment());
  std::vector<uint8_t> header(schema::kProgramHeaderMagic,
                              schema::kProgramHeaderMagic + schema::kMagicBytes);
  append_u32(&header, kHeaderBytes);
  append_u64(&header, program_bytes);
  append_u64(&header, base);
  append_u64(&header, segments.total_bytes());
  return write_file(flatbuffer, header, base, segments.pieces(), sink);
}

}  // namespace petrel::exir
