// SPDX-License-Identifier: Apache-2.0
#include "exir/import/crc32.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "exir/ir/shared_work.h"

namespace petrel::exir {
namespace {

// A thread takes as long to begin as a checksum of some 100 KB.
constexpr size_t kLeastPieces = 4;

uint32_t crc32_of_piece(absl::Span<const uint8_t> bytes) {
  // zlib returns 0 for no pointer, and that is the checksum of no bytes.
  return static_cast<uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

}  // namespace

uint32_t crc32_of(absl::Span<const uint8_t> bytes, size_t threads) {
  const size_t pieces = (bytes.size() + kCrcPieceBytes - 1) / kCrcPieceBytes;
  if (threads <= 1 || pieces < kLeastPieces) return crc32_of_piece(bytes);
  const auto piece = [&](size_t i) { return bytes.subspan(i * kCrcPieceBytes, kCrcPieceBytes); };
  std::vector<uint32_t> sums(pieces);
  SharedWork work(pieces, threads - 1, [&](size_t i) { sums[i] = crc32_of_piece(piece(i)); });
  work.finish();
  uLong whole = 0;
  for (size_t i = 0; i < pieces; ++i) {
    whole = crc32_combine(whole, sums[i], static_cast<z_off_t>(piece(i).size()));
  }
  return static_cast<uint32_t>(whole);
}

}  // namespace petrel::exir
