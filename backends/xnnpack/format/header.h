// SPDX-License-Identifier: Apache-2.0
//
// The first 32 bytes of a payload, which say where its two parts are. All
// numbers are little-endian.
//
//   0   4 zero bytes
//   4   "XH00"
//   8   u16  length of the header, 30
//   10  u32  offset of the flatbuffer      14  u32  its size
//   18  u32  offset of inline constants    22  u64  their size
//   30  2 zero bytes
//
// A payload without the magic is a bare flatbuffer, as older writers made it.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_HEADER_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_HEADER_H_

#include <cstddef>
#include <cstdint>

#include "backends/xnnpack/format/problem.h"

namespace petrel::backends::xnnpack {

inline constexpr size_t kHeaderSize = 30;
// Where the flatbuffer starts in payloads that are written here.
inline constexpr size_t kPaddedHeaderSize = 32;

struct Header {
  uint32_t flatbuffer_offset = 0;
  uint32_t flatbuffer_size = 0;
  uint32_t constants_offset = 0;
  uint64_t constants_size = 0;
};

// Both parts lie within the payload when it returns no problem.
Problem read_header(const uint8_t* payload, size_t size, Header* out);

// Writes kPaddedHeaderSize bytes.
void write_header(const Header& header, uint8_t* out);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_HEADER_H_
