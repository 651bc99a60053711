// SPDX-License-Identifier: Apache-2.0
#include "extension/flat_data/flat_data_header.h"

#include <cstring>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "schema/formats.h"

namespace petrel::extension {

using runtime::Error;
using runtime::in_bounds;
using runtime::Result;
using runtime::Span;

namespace {

constexpr uint32_t kHeaderLength = 40;

uint64_t read(Span<const uint8_t> head, size_t at, size_t bytes) {
  uint64_t value = 0;  // little-endian, whatever the machine
  for (size_t i = bytes; i-- > 0;) value = value << 8 | head[at + i];
  return value;
}

}  // namespace

Result<FlatDataHeader> FlatDataHeader::parse(Span<const uint8_t> head, uint64_t file_size) {
  if (head.size() < kNumHeadBytes) {
    PETREL_LOG(Error, "data file has %zu bytes, must have at least %zu", head.size(),
               kNumHeadBytes);
    return Error::InvalidExternalData;
  }
  if (std::memcmp(head.data() + schema::kIdentifierOffset, schema::kDataFileIdentifier,
                  schema::kMagicBytes) != 0 ||
      std::memcmp(head.data() + schema::kHeaderOffset, schema::kDataFileHeaderMagic,
                  schema::kMagicBytes) != 0) {
    PETREL_LOG(Error, "data file does not begin with %s and %s", schema::kDataFileIdentifier,
               schema::kDataFileHeaderMagic);
    return Error::InvalidExternalData;
  }
  const uint64_t length = read(head, schema::kHeaderOffset + 4, 4);
  const uint64_t offset = read(head, schema::kHeaderOffset + 8, 8);
  const uint64_t size = read(head, schema::kHeaderOffset + 16, 8);
  FlatDataHeader header;
  header.segment_base = read(head, schema::kHeaderOffset + 24, 8);
  header.segment_data_size = read(head, schema::kHeaderOffset + 32, 8);
  if (length < kHeaderLength) {
    PETREL_LOG(Error, "data file header has %llu bytes, must have at least %u",
               static_cast<unsigned long long>(length), kHeaderLength);
    return Error::InvalidExternalData;
  }
  if (!in_bounds(offset, size, file_size) || offset + size < kNumHeadBytes) {
    PETREL_LOG(Error, "data file index [%llu, +%llu) is not inside the file of %llu bytes",
               static_cast<unsigned long long>(offset), static_cast<unsigned long long>(size),
               static_cast<unsigned long long>(file_size));
    return Error::InvalidExternalData;
  }
  header.index_end = offset + size;
  if (!in_bounds(header.segment_base, header.segment_data_size, file_size)) {
    PETREL_LOG(Error, "data file segments [%llu, +%llu) are not inside the file of %llu bytes",
               static_cast<unsigned long long>(header.segment_base),
               static_cast<unsigned long long>(header.segment_data_size),
               static_cast<unsigned long long>(file_size));
    return Error::InvalidExternalData;
  }
  return header;
}

}  // namespace petrel::extension
