// SPDX-License-Identifier: Apache-2.0
//
// What a file is, by its first bytes: names are not trusted.
#ifndef PETREL_EXTENSION_RELINK_FILE_KIND_H_
#define PETREL_EXTENSION_RELINK_FILE_KIND_H_

#include <string>

#include "absl/status/statusor.h"

namespace petrel::extension {

enum class FileKind {
  kProgram,  // .pte
  kData,     // .ptd
  kArchive,  // .pt2, or another zip file
  kTensors,  // .safetensors
  kModule,   // libNAME.so of `petrel gen-c`, or another ELF file
};

// NotFound, or InvalidArgument for a file that is none of them.
absl::StatusOr<FileKind> file_kind(const std::string& path);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_RELINK_FILE_KIND_H_
