// SPDX-License-Identifier: Apache-2.0
#include "extension/compiled/module_file.h"

#include <elf.h>

#include <cstring>

#include "extension/compiled/elf_section.h"
#include "extension/data_loader/mmap_data_loader.h"
#include "runtime/core/log.h"
#include "runtime/micro/model/petrel_model.h"
#include "runtime/platform/fast_sha256.h"

namespace petrel::extension {

using runtime::DataLoader;
using runtime::Error;
using runtime::Result;
using runtime::Span;

namespace {

#if defined(__x86_64__)
constexpr uint16_t kThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kThisMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kThisMachine = EM_RISCV;
#else
#error "compiled modules run on x86-64, arm64 and riscv64"
#endif

struct MachineRow {
  uint16_t machine;
  const char* name;
};
constexpr MachineRow kMachines[] = {{EM_X86_64, "x86-64"}, {EM_AARCH64, "arm64"},
                                    {EM_RISCV, "riscv64"}, {EM_PPC64, "ppc64"},
                                    {EM_S390, "s390x"},    {EM_LOONGARCH, "loongarch64"}};

std::string machine_name(uint16_t machine) {
  for (const MachineRow& row : kMachines) {
    if (row.machine == machine) return row.name;
  }
  return "ELF machine " + std::to_string(machine);
}

std::string hex_text(const uint8_t* bytes, size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

// The header at the start of the section, when the file is as long as it says.
Result<petrel_module_header> read_header(const char* path, Span<const uint8_t> file,
                                         Span<const uint8_t> section) {
  petrel_module_header header;
  if (section.size() < sizeof(header)) {
    PETREL_LOG(Error, "%s: its section %s has %zu bytes, its header alone has %zu", path,
               PETREL_MODULE_SECTION, section.size(), sizeof(header));
    return Error::InvalidProgram;
  }
  std::memcpy(&header, section.data(), sizeof(header));
  if (std::memcmp(header.magic, PETREL_MODULE_MAGIC, sizeof(header.magic)) != 0) {
    PETREL_LOG(Error, "%s: its section %s does not begin with %s", path, PETREL_MODULE_SECTION,
               PETREL_MODULE_MAGIC);
    return Error::InvalidProgram;
  }
  if (header.manifest_bytes > section.size() - sizeof(header)) {
    PETREL_LOG(Error, "%s: its manifest has %u bytes, its section %s has room for %zu", path,
               header.manifest_bytes, PETREL_MODULE_SECTION, section.size() - sizeof(header));
    return Error::InvalidProgram;
  }
  if (header.file_bytes != file.size()) {
    PETREL_LOG(Error, "%s: has %zu bytes, %llu were made; it was cut or changed afterwards", path,
               file.size(), static_cast<unsigned long long>(header.file_bytes));
    return Error::InvalidProgram;
  }
  return header;
}

// Precondition: the header at `section` is within the file.
Error check_sha256(const char* path, Span<const uint8_t> file, const uint8_t* section,
                   const petrel_module_header& header) {
  constexpr uint8_t kNone[sizeof(header.file_sha256)] = {};
  const uint8_t* const hole = section + offsetof(petrel_module_header, file_sha256);
  const uint8_t* const rest = hole + sizeof(kNone);
  runtime::Sha256 hash(runtime::fast_sha256_mixer());
  hash.update({file.data(), static_cast<size_t>(hole - file.data())});
  hash.update({kNone, sizeof(kNone)});
  hash.update({rest, static_cast<size_t>(file.data() + file.size() - rest)});
  uint8_t digest[runtime::kSha256Bytes];
  hash.finish(digest);
  if (std::memcmp(digest, header.file_sha256, sizeof(digest)) == 0) return Error::Ok;
  PETREL_LOG(Error, "%s: is damaged: its SHA-256 is %s, %s was made", path,
             hex_text(digest, 8).c_str(), hex_text(header.file_sha256, 8).c_str());
  return Error::InvalidProgram;
}

}  // namespace

Result<ModuleFile> ModuleFile::open(const std::string& path) {
  PETREL_ASSIGN_OR_RETURN(const MmapDataLoader loader, MmapDataLoader::from(path.c_str()));
  PETREL_ASSIGN_OR_RETURN(const size_t size, loader.size());
  const DataLoader::SegmentInfo info(DataLoader::SegmentInfo::Type::Constant);
  PETREL_ASSIGN_OR_RETURN(const runtime::FreeableBuffer buffer, loader.load(0, size, info));
  const Span<const uint8_t> file(static_cast<const uint8_t*>(buffer.data()), size);
  PETREL_ASSIGN_OR_RETURN(const ElfSection section,
                          find_section(path.c_str(), file, PETREL_MODULE_SECTION));
  ModuleFile opened(path, section.machine);
  PETREL_ASSIGN_OR_RETURN(opened.header_, read_header(path.c_str(), file, section.bytes));
  PETREL_RETURN_IF_ERROR(check_sha256(path.c_str(), file, section.bytes.data(), opened.header_));
  const auto* text = reinterpret_cast<const char*>(section.bytes.data() + sizeof(header_));
  opened.manifest_.assign(text, opened.header_.manifest_bytes);
  return opened;
}

Error ModuleFile::check_runs_here() const {
  if (machine_ != kThisMachine) {
    PETREL_LOG(Error, "%s: is for %s, this process runs on %s", path_.c_str(), machine().c_str(),
               machine_name(kThisMachine).c_str());
    return Error::NotSupported;
  }
  if (header_.abi_version != PETREL_MODEL_ABI_VERSION) {
    PETREL_LOG(Error, "%s: has ABI version %u, this process knows %u; make it anew", path_.c_str(),
               header_.abi_version, PETREL_MODEL_ABI_VERSION);
    return Error::NotSupported;
  }
  return Error::Ok;
}

std::string ModuleFile::model_sha256() const {
  return hex_text(header_.model_sha256, sizeof(header_.model_sha256));
}

std::string ModuleFile::machine() const { return machine_name(machine_); }

}  // namespace petrel::extension
