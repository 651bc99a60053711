// SPDX-License-Identifier: Apache-2.0
//
// The fixed part at the start of a `.ptd` file.
//
//   0 u32 root   4 "FT01"   8 "FH01"   12 u32 length   16 u64 flatbuffer offset
//   24 u64 flatbuffer size   32 u64 segment base   40 u64 segment data size
//
// parse() checks each number against the size of the file; what it returns can
// be added up without overflow.
#ifndef PETREL_EXTENSION_FLAT_DATA_FLAT_DATA_HEADER_H_
#define PETREL_EXTENSION_FLAT_DATA_FLAT_DATA_HEADER_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/result.h"
#include "runtime/core/span.h"

namespace petrel::extension {

struct FlatDataHeader {
  static constexpr size_t kNumHeadBytes = 48;

  uint64_t index_end = 0;     // end of the flatbuffer, from the file's start
  uint64_t segment_base = 0;  // start of the segment data
  uint64_t segment_data_size = 0;

  // `head`: the first kNumHeadBytes bytes of a file of `file_size`.
  static runtime::Result<FlatDataHeader> parse(runtime::Span<const uint8_t> head,
                                               uint64_t file_size);
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_FLAT_DATA_FLAT_DATA_HEADER_H_
