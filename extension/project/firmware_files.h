// SPDX-License-Identifier: Apache-2.0
//
// The C of runtime/micro that firmware is made of, as text, embedded when the command is built,
// and which of it a family of boards needs.
//
//   PETREL_ASSIGN_OR_RETURN(const auto files, firmware_of("mps2"));
//   files[0].name   "board.c"
//
// The texts live as long as the process.
#ifndef PETREL_EXTENSION_PROJECT_FIRMWARE_FILES_H_
#define PETREL_EXTENSION_PROJECT_FIRMWARE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace petrel::extension {

struct FirmwareFile {
  absl::string_view path;  // below runtime/micro
  absl::string_view text;

  absl::string_view name() const;    // "board.c"
  absl::string_view folder() const;  // "firmware/mps2"
};

// All; made by the build.
absl::Span<const FirmwareFile> all_firmware();

// Those of a family: its own, and the folders that it builds on. Names differ. NotFound with
// the families that there are.
absl::StatusOr<std::vector<FirmwareFile>> firmware_of(absl::string_view family);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_FIRMWARE_FILES_H_
