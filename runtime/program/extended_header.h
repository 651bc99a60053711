// SPDX-License-Identifier: Apache-2.0
//
// The header that follows the first eight bytes of a program file and says
// where the flatbuffer ends and the segments begin:
//
//   0    u32 root table    4  "ET12"    8  "eh00"       12  u32 header length
//   16   u64 program size              24  u64 segment base
//   32   u64 segment data size (only if the length is at least 32)
//
// Old files have none: the whole file is then the flatbuffer.

#ifndef PETREL_RUNTIME_PROGRAM_EXTENDED_HEADER_H_
#define PETREL_RUNTIME_PROGRAM_EXTENDED_HEADER_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/result.h"
#include "runtime/core/span.h"

namespace petrel::runtime {

struct ExtendedHeader {
  // Bytes read to look for a header; files are at least this long.
  static constexpr size_t kNumHeadBytes = 64;
  static constexpr uint32_t kMinLength = 24;
  static constexpr uint32_t kMinLengthWithDataSize = 32;

  // Bytes from the start of the file that hold flatbuffer and header.
  uint64_t program_size = 0;
  // Where segments are counted from; 0 if there are none.
  uint64_t segment_base_offset = 0;
  // Bytes from there to the end of the last segment; 0 if not told.
  uint64_t segment_data_size = 0;

  // `head`: the first kNumHeadBytes bytes of a file. NotFound if they hold no
  // header, InvalidProgram if they hold a damaged one. The numbers are not
  // compared with each other, nor with the file size: see verify.
  static Result<ExtendedHeader> parse(Span<const uint8_t> head);

  // InvalidProgram unless the parts follow each other inside a file of
  // `file_size` bytes. Bytes after the last segment are allowed.
  Error verify(uint64_t file_size) const;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PROGRAM_EXTENDED_HEADER_H_
