// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/extended_header.h"

#include <cinttypes>
#include <cstring>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "schema/formats.h"

namespace petrel::runtime {
namespace {

// Little-endian numbers of any alignment, on a machine of any byte order.
uint64_t read_number(const uint8_t* data, size_t bytes) {
  uint64_t number = 0;
  for (size_t i = bytes; i-- > 0;) number = number << 8 | data[i];
  return number;
}

}  // namespace

Result<ExtendedHeader> ExtendedHeader::parse(Span<const uint8_t> head) {
  if (head.size() < kNumHeadBytes) {
    PETREL_LOG(Error, "a program starts with %zu bytes, needs at least %zu", head.size(),
               kNumHeadBytes);
    return Error::InvalidProgram;
  }
  const uint8_t* const start = head.data() + schema::kHeaderOffset;
  if (std::memcmp(start, schema::kProgramHeaderMagic, schema::kMagicBytes) != 0)
    return Error::NotFound;
  const auto length = static_cast<uint32_t>(read_number(start + 4, 4));
  if (length < kMinLength) {
    PETREL_LOG(Error, "the header's length is %" PRIu32 ", must be at least %" PRIu32, length,
               kMinLength);
    return Error::InvalidProgram;
  }
  ExtendedHeader header;
  header.program_size = read_number(start + 8, 8);
  header.segment_base_offset = read_number(start + 16, 8);
  if (length >= kMinLengthWithDataSize) header.segment_data_size = read_number(start + 24, 8);
  return header;
}

Error ExtendedHeader::verify(uint64_t file_size) const {
  if (program_size < kNumHeadBytes || program_size > file_size) {
    PETREL_LOG(Error,
               "the header's program size is %" PRIu64 ", must be in [%zu, %" PRIu64
               "], the size of the file",
               program_size, kNumHeadBytes, file_size);
    return Error::InvalidProgram;
  }
  if (segment_base_offset == 0) {
    if (segment_data_size == 0) return Error::Ok;
    PETREL_LOG(Error, "the header tells of %" PRIu64 " bytes of segments, but not where they are",
               segment_data_size);
    return Error::InvalidProgram;
  }
  if (segment_base_offset < program_size || segment_base_offset > file_size) {
    PETREL_LOG(Error,
               "the header's segment base is %" PRIu64 ", must be in [%" PRIu64 ", %" PRIu64 "]",
               segment_base_offset, program_size, file_size);
    return Error::InvalidProgram;
  }
  if (!in_bounds(segment_base_offset, segment_data_size, file_size)) {
    PETREL_LOG(Error,
               "the header tells of %" PRIu64 " bytes of segments from %" PRIu64
               " on, but the file has %" PRIu64 " bytes: it may have been cut off",
               segment_data_size, segment_base_offset, file_size);
    return Error::InvalidProgram;
  }
  return Error::Ok;
}

}  // namespace petrel::runtime
