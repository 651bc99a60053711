// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a file that a user named and that is read whole: an array, a plan.
//
//   absl::StatusOr<std::string> text = read_file_content("plan.csv", kMaxContentBytes);
//
// Regular files and pipes, so that a shell's <(command) works. Folders and devices,
// which may never end, are refused. Nothing throws, and no more than the limit is kept
// in memory. Errors do not name the path, which the caller knows.
#ifndef PETREL_EXIR_INPUT_FILE_CONTENT_H_
#define PETREL_EXIR_INPUT_FILE_CONTENT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace petrel::exir {

constexpr uint64_t kMaxContentBytes = uint64_t{16} << 30;

absl::StatusOr<std::string> read_file_content(const std::string& path, uint64_t max_bytes);

// Of a descriptor, which stays open.
absl::StatusOr<std::string> read_open_file(int fd, uint64_t max_bytes);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_INPUT_FILE_CONTENT_H_
