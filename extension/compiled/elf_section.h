// SPDX-License-Identifier: Apache-2.0
//
// Finds a section of a shared library (ELF, 64 bits, little-endian) in its bytes. Every number
// of the file is checked before it is used.
//
//   PETREL_ASSIGN_OR_RETURN(const ElfSection section, find_section("libkws.so", bytes, ".petrel"));
//   section.machine   EM_X86_64
//   section.bytes     within `bytes`
#ifndef PETREL_EXTENSION_COMPILED_ELF_SECTION_H_
#define PETREL_EXTENSION_COMPILED_ELF_SECTION_H_

#include <cstdint>
#include <string_view>

#include "runtime/core/result.h"
#include "runtime/core/span.h"

namespace petrel::extension {

struct ElfSection {
  uint16_t machine = 0;  // of elf.h
  runtime::Span<const uint8_t> bytes;
};

// InvalidProgram when `file` is not a whole shared library or has no such section; messages
// begin with `path`.
runtime::Result<ElfSection> find_section(const char* path, runtime::Span<const uint8_t> file,
                                         std::string_view name);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_COMPILED_ELF_SECTION_H_
