// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/skeleton_file.h"

#include <system_error>

#include "absl/status/status.h"
#include "exir/output/output_files.h"

namespace petrel::extension {

namespace fs = std::filesystem;

std::string write_skeleton(const fs::path& target, const std::vector<SkeletonFile>& files) {
  std::error_code error;
  if (fs::exists(target, error)) return "'" + target.string() + "' is there already";
  for (const SkeletonFile& file : files) {
    const fs::path path = target / file.path;
    fs::create_directories(path.parent_path(), error);
    const absl::Status written = exir::write_output_file(path.string(), file.text);
    if (!written.ok()) return std::string(written.message());
    if (file.is_executable) {
      fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add, error);
      if (error) return "'" + path.string() + "' cannot be made executable";
    }
  }
  return "";
}

std::string find_tree(const std::string& path) {
  std::error_code error;
  const fs::path tree = fs::canonical(path, error);
  if (error || !fs::exists(tree / "repositories.bzl", error)) return "";
  return tree.string();
}

}  // namespace petrel::extension
