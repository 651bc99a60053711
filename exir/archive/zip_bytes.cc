// SPDX-License-Identifier: Apache-2.0
#include "exir/archive/zip_bytes.h"

#include <minizip/zip.h>

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace petrel::exir {
namespace {

constexpr uLong kFirstDay = 0x00210000;  // 1 January 1980, as DOS has it
constexpr uLong kUnix = 3 << 8 | 20;     // who made it: what the rights mean
constexpr uLong kRights = 0100644u << 16;
constexpr size_t kPiece = size_t{1} << 30;
constexpr uint64_t kLarge = UINT64_C(0xf0000000);

// A file of minizip that is a string.
struct Memory {
  std::string bytes;
  size_t at = 0;
};

Memory* of(voidpf stream) { return static_cast<Memory*>(stream); }

voidpf open_memory(voidpf memory, const void*, int) { return memory; }

uLong read_memory(voidpf, voidpf stream, void* to, uLong size) {
  Memory& memory = *of(stream);
  const size_t count = std::min<size_t>(size, memory.bytes.size() - memory.at);
  std::memcpy(to, memory.bytes.data() + memory.at, count);
  memory.at += count;
  return static_cast<uLong>(count);
}

uLong write_memory(voidpf, voidpf stream, const void* from, uLong size) {
  Memory& memory = *of(stream);
  const auto* bytes = static_cast<const char*>(from);
  const size_t over = std::min<size_t>(size, memory.bytes.size() - memory.at);
  std::copy(bytes, bytes + over, memory.bytes.begin() + static_cast<ptrdiff_t>(memory.at));
  memory.bytes.append(bytes + over, size - over);
  memory.at += size;
  return size;
}

ZPOS64_T tell_memory(voidpf, voidpf stream) { return of(stream)->at; }

long seek_memory(voidpf, voidpf stream, ZPOS64_T offset, int origin) {  // NOLINT: as minizip has it
  Memory& memory = *of(stream);
  const size_t base = origin == ZLIB_FILEFUNC_SEEK_END   ? memory.bytes.size()
                      : origin == ZLIB_FILEFUNC_SEEK_CUR ? memory.at
                                                         : 0;
  if (base + offset > memory.bytes.size()) return -1;
  memory.at = base + static_cast<size_t>(offset);
  return 0;
}

int close_memory(voidpf, voidpf) { return 0; }
int error_of_memory(voidpf, voidpf) { return 0; }

int add_member(zipFile zip, const std::string& name, const std::string& bytes) {
  zip_fileinfo info = {};
  info.dosDate = kFirstDay;
  info.external_fa = kRights;
  int status = zipOpenNewFileInZip4_64(
      zip, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED, 9, 0, -MAX_WBITS,
      DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, nullptr, 0, kUnix, 0, bytes.size() > kLarge ? 1 : 0);
  for (size_t at = 0; status == ZIP_OK && at < bytes.size(); at += kPiece) {
    const size_t size = std::min(kPiece, bytes.size() - at);
    status = zipWriteInFileInZip(zip, bytes.data() + at, static_cast<unsigned>(size));
  }
  const int closed = zipCloseFileInZip(zip);
  return status == ZIP_OK ? closed : status;
}

}  // namespace

absl::StatusOr<std::string> zip_bytes(const std::map<std::string, std::string>& files) {
  Memory memory;
  zlib_filefunc64_def functions = {open_memory, read_memory,  write_memory,    tell_memory,
                                   seek_memory, close_memory, error_of_memory, &memory};
  const zipFile zip = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &functions);
  int status = zip == nullptr ? ZIP_INTERNALERROR : ZIP_OK;
  for (auto file = files.begin(); status == ZIP_OK && file != files.end(); ++file) {
    status = add_member(zip, file->first, file->second);
  }
  if (zip != nullptr) {
    const int closed = zipClose(zip, nullptr);
    if (status == ZIP_OK) status = closed;
  }
  if (status == ZIP_OK) return std::move(memory.bytes);
  return absl::ResourceExhaustedError(
      absl::StrCat("the archive cannot be made: zlib says ", status));
}

}  // namespace petrel::exir
