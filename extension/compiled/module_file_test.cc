// SPDX-License-Identifier: Apache-2.0
#include "extension/compiled/module_file.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "extension/compiled/testing_library.h"
#include "extension/module/error_text.h"
#include "runtime/micro/model/petrel_model.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using testing::HasSubstr;
using testing::StartsWith;

static_assert(sizeof(petrel_module_header) == 88, "as exir/compile_c/seal.cc has it");
static_assert(offsetof(petrel_module_header, file_bytes) == 16);
static_assert(offsetof(petrel_module_header, model_sha256) == 24);
static_assert(offsetof(petrel_module_header, file_sha256) == 56);

constexpr char kCounter[] = "extension/compiled/libcounter.so";

// What is said when these bytes are opened.
std::string refusal(const std::string& bytes) {
  const ErrorText said;
  const auto file = ModuleFile::open(write_library(bytes));
  EXPECT_FALSE(file.ok());
  if (file.ok()) return "";
  EXPECT_EQ(file.error(), Error::InvalidProgram);
  return said.text();
}

std::string refusal_here(const std::string& bytes) {
  const auto file = ModuleFile::open(write_library(bytes));
  EXPECT_TRUE(file.ok());
  if (!file.ok()) return "";
  const ErrorText said;
  EXPECT_EQ(file->check_runs_here(), Error::NotSupported);
  return said.text();
}

TEST(ModuleFile, TellsWhatItHoldsWithoutRunningIt) {
  const auto file = ModuleFile::open(kCounter);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->bytes(), read_library(kCounter).size());
  EXPECT_EQ(file->abi_version(), PETREL_MODEL_ABI_VERSION);
  EXPECT_THAT(file->manifest(), StartsWith("{\n  \"format\": 1,\n  \"name\": \"counter\","));
  EXPECT_THAT(file->manifest(), HasSubstr("\"sha256\": \"" + file->model_sha256() + "\""));
  EXPECT_EQ(file->check_runs_here(), Error::Ok);
}

TEST(ModuleFile, FileCutAnywhereIsRefused) {
  const std::string whole = read_library(kCounter);
  for (size_t size = 0; size < whole.size(); size += 97) {
    EXPECT_NE(refusal(whole.substr(0, size)), "") << size;
  }
  EXPECT_THAT(refusal(whole.substr(0, 40)), HasSubstr("ends after 40 bytes, within its header of"));
  EXPECT_THAT(refusal(whole.substr(0, whole.size() - 1)), HasSubstr("its table of sections has"));
  EXPECT_THAT(refusal(whole + " "), HasSubstr("it was cut or changed afterwards"));
}

TEST(ModuleFile, EveryBitThatChangesIsSeen) {
  const std::string whole = read_library(kCounter);
  for (size_t at = 0; at < whole.size(); at += 11) {
    EXPECT_NE(refusal(with(whole, at, static_cast<char>(whole[at] ^ 1 << at % 8))), "") << at;
  }
  const std::string damaged = with(whole, header_at(whole) + 200, '#');
  EXPECT_THAT(refusal(damaged), HasSubstr("is damaged: its SHA-256 is "));
}

TEST(ModuleFile, OtherFilesAreToldApart) {
  EXPECT_THAT(refusal(""), HasSubstr("has 0 bytes and begins with 00 00 00 00"));
  EXPECT_THAT(refusal(read_library("examples/quickstart/digits.pt2")),
              HasSubstr("begins with 50 4b 03 04, a shared library begins with 7f 45 4c 46"));
  EXPECT_THAT(refusal(std::string("\x1c\0\0\0ET12", 8)), HasSubstr("is a .pte program"));
  const std::string whole = read_library(kCounter);
  EXPECT_THAT(refusal(with(whole, EI_CLASS, char{ELFCLASS32})), HasSubstr("is of ELF class 1"));
  EXPECT_THAT(refusal(with<uint16_t>(whole, offsetof(Elf64_Ehdr, e_type), ET_EXEC)),
              HasSubstr("is of ELF type 2, a shared library is 3"));
  std::string other = whole;
  other[other.rfind(PETREL_MODULE_SECTION) + 1] = 'q';
  EXPECT_THAT(refusal(other), HasSubstr("has no section .petrel, so it is not a module"));
  EXPECT_EQ(ModuleFile::open("no.so").error(), Error::NotFound);
}

TEST(ModuleFile, NumbersOfTheFileAreCheckedBeforeUse) {
  const std::string whole = read_library(kCounter);
  for (const uint64_t offset : {uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{0} - 63}) {
    EXPECT_THAT(refusal(with(whole, offsetof(Elf64_Ehdr, e_shoff), offset)),
                HasSubstr("its table of sections has"));
  }
  for (const auto& [at, value] : {std::pair(offsetof(Elf64_Ehdr, e_shstrndx), 999),
                                  std::pair(offsetof(Elf64_Ehdr, e_shnum), 0),
                                  std::pair(offsetof(Elf64_Ehdr, e_shentsize), 63)}) {
    EXPECT_THAT(refusal(with<uint16_t>(whole, at, static_cast<uint16_t>(value))),
                HasSubstr("must have some, of 64 bytes"));
  }
  const size_t at = header_at(whole);
  EXPECT_THAT(refusal(with(whole, at + offsetof(petrel_module_header, manifest_bytes), ~0u)),
              HasSubstr("its manifest has 4294967295 bytes"));
  EXPECT_THAT(refusal(with(whole, at + offsetof(petrel_module_header, file_bytes), uint64_t{5})),
              HasSubstr("5 were made"));
}

TEST(ModuleFile, SectionsLieInTheFile) {
  const std::string whole = read_library(kCounter);
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof(header));
  const size_t names = header.e_shoff + header.e_shstrndx * sizeof(Elf64_Shdr);
  size_t own = 0;  // the section of the module, which begins with its header
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    const size_t at = header.e_shoff + i * sizeof(section);
    std::memcpy(&section, whole.data() + at, sizeof(section));
    if (section.sh_offset == header_at(whole) && section.sh_type == SHT_PROGBITS) own = at;
  }
  ASSERT_NE(own, 0u);
  for (const auto& [section, said] : {std::pair(names, "the names of its sections are from"),
                                      std::pair(own, "its section .petrel has")}) {
    EXPECT_THAT(refusal(with<uint32_t>(whole, section + offsetof(Elf64_Shdr, sh_type), SHT_NOBITS)),
                HasSubstr(said));
    for (const uint64_t beyond : {uint64_t{whole.size()}, ~uint64_t{0}}) {
      EXPECT_THAT(refusal(with(whole, section + offsetof(Elf64_Shdr, sh_offset), beyond)),
                  HasSubstr(said));
      EXPECT_THAT(refusal(with(whole, section + offsetof(Elf64_Shdr, sh_size), beyond)),
                  HasSubstr(said));
    }
  }
  EXPECT_THAT(refusal(with(whole, own + offsetof(Elf64_Shdr, sh_size), uint64_t{87})),
              HasSubstr("has 87 bytes, its header alone has 88"));
  EXPECT_THAT(refusal(with(whole, header_at(whole), 'Q')),
              HasSubstr("does not begin with PETRELM"));
  EXPECT_THAT(refusal(with(whole, EI_DATA, char{ELFDATA2MSB})),
              HasSubstr("is of ELF class 2 and byte order 2"));
}

TEST(ModuleFile, OtherMachinesAndVersionsAreKnownButNotRun) {
  const std::string whole = read_library(kCounter);
  const auto machine = sealed(with<uint16_t>(whole, offsetof(Elf64_Ehdr, e_machine), EM_LOONGARCH));
  EXPECT_THAT(refusal_here(machine), HasSubstr("is for loongarch64, this process runs on "));
  const auto version =
      sealed(with<uint32_t>(whole, header_at(whole) + offsetof(petrel_module_header, abi_version),
                            PETREL_MODEL_ABI_VERSION + 1));
  EXPECT_THAT(refusal_here(version), HasSubstr("has ABI version 6, this process knows 5"));
}

}  // namespace
}  // namespace petrel::extension
