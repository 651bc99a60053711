// SPDX-License-Identifier: Apache-2.0
//
// Files as the bytes of a zip archive that is the same whoever makes it, and when: members in
// the order of their names, compressed, all of 1 January 1980, with the rights 0644.
//
//   PETREL_ASSIGN_OR_RETURN(const std::string bytes, zip_bytes({{"a/x.c", "int x;"}}));
#ifndef PETREL_EXIR_ARCHIVE_ZIP_BYTES_H_
#define PETREL_EXIR_ARCHIVE_ZIP_BYTES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace petrel::exir {

// By path in the archive. ResourceExhausted when zlib has no memory.
absl::StatusOr<std::string> zip_bytes(const std::map<std::string, std::string>& files);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_ARCHIVE_ZIP_BYTES_H_
