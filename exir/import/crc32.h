// SPDX-License-Identifier: Apache-2.0
//
// The checksum of members of zip archives. Many bytes are cut into pieces that several threads
// take, since zlib can join the checksums of parts that follow one another:
//
//   crc32_of(bytes, work_threads())
//
// The number is the same for every number of threads. Few bytes are not worth a thread.
#ifndef PETREL_EXIR_IMPORT_CRC32_H_
#define PETREL_EXIR_IMPORT_CRC32_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace petrel::exir {

// Of a piece, so that tests know where one ends.
inline constexpr size_t kCrcPieceBytes = size_t{1} << 20;

// `threads`: at most so many, the caller's included.
uint32_t crc32_of(absl::Span<const uint8_t> bytes, size_t threads);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_CRC32_H_
