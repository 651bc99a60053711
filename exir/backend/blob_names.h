// SPDX-License-Identifier: Apache-2.0
//
// Names of blobs and of the files that hold them: which names a file may have,
// and how messages show a name. Names are data: a message never prints one raw.
//
//   PETREL_RETURN_IF_ERROR(check_plain_file_name("weights.ptd"));
//   absl::StrCat("key '", shown_name("a\nb"), "' goes to ", shown_destination(""));
//   // "key 'a\nb' goes to the program", on one line
#ifndef PETREL_EXIR_BACKEND_BLOB_NAMES_H_
#define PETREL_EXIR_BACKEND_BLOB_NAMES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace petrel::exir {

// InvalidArgument unless `name` is a plain file name: not empty, "." or "..",
// at most 255 bytes, without '/', '\\' or NUL.
absl::Status check_plain_file_name(const std::string& name);

// `name` escaped onto one line, at most its first 80 bytes.
std::string shown_name(const std::string& name);

// "the program" for "", else the quoted file name.
std::string shown_destination(const std::string& destination);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BACKEND_BLOB_NAMES_H_
