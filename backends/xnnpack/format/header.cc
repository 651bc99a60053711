// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/header.h"

#include <cstring>
#include <limits>
#include <string>

#include "schema/formats.h"

namespace petrel::backends::xnnpack {
namespace {

template <typename T>
T load(const uint8_t* bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(T{bytes[i]} << (8 * i));
  return value;
}

template <typename T>
void store(T value, uint8_t* bytes) {
  for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
}

Problem check_part(const char* name, uint64_t offset, uint64_t size, uint64_t limit) {
  if (offset <= limit && size <= limit - offset) return Problem::none();
  return Problem::invalid(std::string("header: ") + name + " is at " + std::to_string(offset) +
                          " and has " + std::to_string(size) + " bytes, the payload has " +
                          std::to_string(limit));
}

}  // namespace

Problem read_header(const uint8_t* payload, size_t size, Header* out) {
  if (size < 8) {
    return Problem::invalid("payload has " + std::to_string(size) + " bytes, needs at least 8");
  }
  if (std::memcmp(payload + schema::kIdentifierOffset, schema::kXnnpackHeaderMagic,
                  schema::kMagicBytes) != 0) {
    if (size > std::numeric_limits<int32_t>::max()) {
      return Problem::invalid("payload has " + std::to_string(size) +
                              " bytes, a flatbuffer must be below 2^31");
    }
    *out = Header{0, static_cast<uint32_t>(size), 0, 0};
    return Problem::none();
  }
  if (size < kHeaderSize) {
    return Problem::invalid("payload has " + std::to_string(size) + " bytes, its header needs " +
                            std::to_string(kHeaderSize));
  }
  const uint16_t length = load<uint16_t>(payload + 8);
  if (length < kHeaderSize) {
    return Problem::invalid("header: its length is " + std::to_string(length) +
                            ", must be at least " + std::to_string(kHeaderSize));
  }
  Header header;
  header.flatbuffer_offset = load<uint32_t>(payload + 10);
  header.flatbuffer_size = load<uint32_t>(payload + 14);
  header.constants_offset = load<uint32_t>(payload + 18);
  header.constants_size = load<uint64_t>(payload + 22);
  if (Problem p =
          check_part("the flatbuffer", header.flatbuffer_offset, header.flatbuffer_size, size);
      !p.ok()) {
    return p;
  }
  if (Problem p =
          check_part("the constant region", header.constants_offset, header.constants_size, size);
      !p.ok()) {
    return p;
  }
  *out = header;
  return Problem::none();
}

void write_header(const Header& header, uint8_t* out) {
  std::memset(out, 0, kPaddedHeaderSize);
  std::memcpy(out + schema::kIdentifierOffset, schema::kXnnpackHeaderMagic, schema::kMagicBytes);
  store<uint16_t>(kHeaderSize, out + 8);
  store<uint32_t>(header.flatbuffer_offset, out + 10);
  store<uint32_t>(header.flatbuffer_size, out + 14);
  store<uint32_t>(header.constants_offset, out + 18);
  store<uint64_t>(header.constants_size, out + 22);
}

}  // namespace petrel::backends::xnnpack
