// SPDX-License-Identifier: Apache-2.0
//
// Compiles the firmware of a project, with the tools that its board names.
//
//   PETREL_ASSIGN_OR_RETURN(const Image image, build_project(project, "standalone"));
//   image.path                "p/build/standalone.elf"
//   image.memories[1].used    8192
//
// Nothing outside of the folder build/ of the project is written.
#ifndef PETREL_EXTENSION_PROJECT_BUILD_H_
#define PETREL_EXTENSION_PROJECT_BUILD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "extension/project/project.h"

namespace petrel::extension {

// What a firmware takes of a memory of the board; the stack is what is left of the first
// written one.
struct MemoryUse {
  std::string name;
  int64_t used = 0;
  int64_t size = 0;
};

struct Image {
  std::string path;
  std::vector<MemoryUse> memories;
};

inline constexpr char kStandalone[] = "standalone";
inline constexpr char kHostDriven[] = "host_driven";
inline constexpr char kCalibrate[] = "calibrate";
inline constexpr char kProfile[] = "profile";

// NotFound names a tool that is not installed and the command that installs it;
// FailedPrecondition with the memory and the bytes that are missing where it does not fit, or
// with what the compiler said first.
absl::StatusOr<Image> build_project(const Project& project, const std::string& driver);

// Of a program that was built. NotFound where it was not.
absl::StatusOr<Image> built_image(const Project& project, const std::string& driver);

// NotFound where a program is not installed, with what installs it.
absl::Status check_installed(const std::string& program, const std::string& install,
                             const exir::Board& board);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_BUILD_H_
