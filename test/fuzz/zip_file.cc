// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/zip_file.h"

#include <array>

namespace petrel::fuzz {
namespace {

uint32_t crc_of(const std::string& bytes) {
  static const std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table = {};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0xEDB88320u : 0);
      table[i] = value;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc = kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff] ^ (crc >> 8);
  }
  return ~crc;
}

// Little-endian numbers, one after the other.
class Writer final {
 public:
  Writer& u16(size_t value) { return number(value, 2); }
  Writer& u32(size_t value) { return number(value, 4); }
  Writer& text(const std::string& value) {
    bytes += value;
    return *this;
  }
  std::string bytes;

 private:
  Writer& number(size_t value, int width) {
    for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i));
    return *this;
  }
};

// What a local header and an entry of the directory share, from "version needed" on.
void add_common(Writer& out, const ZipMember& member) {
  out.u16(20).u16(0).u16(0).u32(0).u32(crc_of(member.bytes));
  out.u32(member.bytes.size()).u32(member.bytes.size()).u16(member.name.size()).u16(0);
}

}  // namespace

std::string write_zip_file(const std::vector<ZipMember>& members) {
  Writer file, directory;
  for (const ZipMember& member : members) {
    directory.u32(0x02014b50).u16(20);
    add_common(directory, member);
    directory.u16(0).u16(0).u16(0).u32(0).u32(file.bytes.size()).text(member.name);
    file.u32(0x04034b50);
    add_common(file, member);
    file.text(member.name).text(member.bytes);
  }
  const size_t start = file.bytes.size();
  file.text(directory.bytes).u32(0x06054b50).u16(0).u16(0);
  file.u16(members.size()).u16(members.size());
  return file.u32(directory.bytes.size()).u32(start).u16(0).bytes;
}

}  // namespace petrel::fuzz
