// SPDX-License-Identifier: Apache-2.0
//
// Files that the verbs new-backend and new-app write for a project to start from.
//
//   const std::string wrong = write_skeleton("mine", files);   // "" or what went wrong
#ifndef PETREL_EXTENSION_CLI_SKELETON_FILE_H_
#define PETREL_EXTENSION_CLI_SKELETON_FILE_H_

#include <filesystem>
#include <string>
#include <vector>

namespace petrel::extension {

struct SkeletonFile {
  std::string path;
  std::string text;
  bool is_executable = false;
};

// Writes them below `target`, which must not be there and, after an error, is not.
std::string write_skeleton(const std::filesystem::path& target,
                           const std::vector<SkeletonFile>& files);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_SKELETON_FILE_H_
