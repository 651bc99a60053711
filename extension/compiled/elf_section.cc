// SPDX-License-Identifier: Apache-2.0
#include "extension/compiled/elf_section.h"

#include <elf.h>

#include <cstddef>
#include <cstring>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"

namespace petrel::extension {

using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

// True if `file` has all of [offset, offset + size).
bool has(Span<const uint8_t> file, uint64_t offset, uint64_t size) {
  uint64_t end = 0;
  return runtime::checked_add(offset, size, &end) && end <= file.size();
}

// What begins otherwise is told by its first bytes.
Error check_magic(const char* path, Span<const uint8_t> file) {
  if (file.size() >= SELFMAG && std::memcmp(file.data(), ELFMAG, SELFMAG) == 0) return Error::Ok;
  if (file.size() >= 8 && std::memcmp(file.data() + 4, "ET", 2) == 0) {
    PETREL_LOG(Error, "%s: is a .pte program, which is data, and not a compiled module", path);
    return Error::InvalidProgram;
  }
  uint8_t first[SELFMAG] = {};
  if (file.size() >= SELFMAG) std::memcpy(first, file.data(), SELFMAG);
  PETREL_LOG(Error,
             "%s: has %zu bytes and begins with %02x %02x %02x %02x, a shared library begins with "
             "7f 45 4c 46",
             path, file.size(), first[0], first[1], first[2], first[3]);
  return Error::InvalidProgram;
}

Result<Elf64_Ehdr> read_header(const char* path, Span<const uint8_t> file) {
  PETREL_RETURN_IF_ERROR(check_magic(path, file));
  Elf64_Ehdr header;
  if (file.size() < sizeof(header)) {
    PETREL_LOG(Error, "%s: ends after %zu bytes, within its header of %zu", path, file.size(),
               sizeof(header));
    return Error::InvalidProgram;
  }
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    PETREL_LOG(
        Error,
        "%s: is of ELF class %u and byte order %u, must be 2 (64 bits) and 1 (little-endian)", path,
        header.e_ident[EI_CLASS], header.e_ident[EI_DATA]);
    return Error::InvalidProgram;
  }
  if (header.e_type != ET_DYN) {
    PETREL_LOG(Error, "%s: is of ELF type %u, a shared library is %u", path, header.e_type, ET_DYN);
    return Error::InvalidProgram;
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum) {
    PETREL_LOG(Error,
               "%s: has %u sections of %u bytes each and their names in number %u, must have some, "
               "of %zu bytes, and the names in one of them",
               path, header.e_shnum, header.e_shentsize, header.e_shstrndx, sizeof(Elf64_Shdr));
    return Error::InvalidProgram;
  }
  const uint64_t table = uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  if (!has(file, header.e_shoff, table)) {
    PETREL_LOG(Error, "%s: ends after %zu bytes, its table of sections has %llu from %llu on", path,
               file.size(), static_cast<unsigned long long>(table),
               static_cast<unsigned long long>(header.e_shoff));
    return Error::InvalidProgram;
  }
  return header;
}

// Precondition: `index` is below the number of sections.
Elf64_Shdr read_section(Span<const uint8_t> file, const Elf64_Ehdr& header, size_t index) {
  Elf64_Shdr section;
  std::memcpy(&section, file.data() + header.e_shoff + index * sizeof(section), sizeof(section));
  return section;
}

// Whether the text at `offset` of the names is `name`, to its end.
bool is_named(Span<const uint8_t> names, uint32_t offset, std::string_view name) {
  if (!has(names, offset, name.size() + 1)) return false;
  const auto* text = reinterpret_cast<const char*>(names.data()) + offset;
  return std::string_view(text, name.size()) == name && text[name.size()] == '\0';
}

}  // namespace

Result<ElfSection> find_section(const char* path, Span<const uint8_t> file, std::string_view name) {
  PETREL_ASSIGN_OR_RETURN(const Elf64_Ehdr header, read_header(path, file));
  const Elf64_Shdr texts = read_section(file, header, header.e_shstrndx);
  if (texts.sh_type == SHT_NOBITS || !has(file, texts.sh_offset, texts.sh_size)) {
    PETREL_LOG(Error, "%s: ends after %zu bytes, the names of its sections are from %llu on", path,
               file.size(), static_cast<unsigned long long>(texts.sh_offset));
    return Error::InvalidProgram;
  }
  const Span<const uint8_t> names(file.data() + texts.sh_offset, texts.sh_size);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr section = read_section(file, header, i);
    if (!is_named(names, section.sh_name, name)) continue;
    if (section.sh_type == SHT_NOBITS || !has(file, section.sh_offset, section.sh_size)) {
      PETREL_LOG(Error, "%s: ends after %zu bytes, its section %.*s has %llu from %llu on", path,
                 file.size(), static_cast<int>(name.size()), name.data(),
                 static_cast<unsigned long long>(section.sh_size),
                 static_cast<unsigned long long>(section.sh_offset));
      return Error::InvalidProgram;
    }
    ElfSection found;
    found.machine = header.e_machine;
    found.bytes = {file.data() + section.sh_offset, section.sh_size};
    return found;
  }
  PETREL_LOG(Error,
             "%s: has no section %.*s, so it is not a module that `petrel gen-c --compile so` made",
             path, static_cast<int>(name.size()), name.data());
  return Error::InvalidProgram;
}

}  // namespace petrel::extension
