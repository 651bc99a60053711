// SPDX-License-Identifier: Apache-2.0
#include "extension/relink/file_kind.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace petrel::extension {

absl::StatusOr<FileKind> file_kind(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  char head[8] = {};
  in.read(head, sizeof(head));
  if (in.gcount() == sizeof(head)) {
    if (std::memcmp(head + 4, "ET", 2) == 0) return FileKind::kProgram;
    if (std::memcmp(head + 4, "FT", 2) == 0) return FileKind::kData;
    if (std::memcmp(head, "PK\x03\x04", 4) == 0) return FileKind::kArchive;
    if (std::memcmp(head,
                    "\x7f"
                    "ELF",
                    4) == 0)
      return FileKind::kModule;
    // The length of the index, below 2^32, and its first byte.
    char first = '\0';
    if (std::memcmp(head + 4, "\0\0\0\0", 4) == 0 && in.get(first) && first == '{') {
      return FileKind::kTensors;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is not a .pte, .ptd, .pt2 or .safetensors file"));
}

}  // namespace petrel::extension
