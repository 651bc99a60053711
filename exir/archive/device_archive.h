// SPDX-License-Identifier: Apache-2.0
//
// A generated model as one archive that firmware projects take: with its sources what CMake,
// make, Zephyr, Arduino, PlatformIO and CMSIS want beside them, and what the model tells about
// itself.
//
//   src/               all that `petrel gen-c` writes into a folder
//   metadata.json      what NAME_get_model_metadata() says, but for what only a compiler knows
//   manifest.json      every file with its bytes and SHA-256, and versions
//   MEMORY.md          the memories, and what lies there
//   examples/NAME/NAME.ino, templates/main.c    a main program to start from
//   and the files of ecosystem_texts.h
//
//   PETREL_ASSIGN_OR_RETURN(const std::string bytes, device_archive("kws", files, "0.1.0"));
//
// Equal files give equal bytes.
#ifndef PETREL_EXIR_ARCHIVE_DEVICE_ARCHIVE_H_
#define PETREL_EXIR_ARCHIVE_DEVICE_ARCHIVE_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace petrel::exir {

// `files` by name, as gen-c writes them, manifest.json among them; `version` of who wrote them.
absl::StatusOr<std::string> device_archive(const std::string& name,
                                           const std::map<std::string, std::string>& files,
                                           const std::string& version);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_ARCHIVE_DEVICE_ARCHIVE_H_
