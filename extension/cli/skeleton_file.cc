// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/skeleton_file.h"

#include <system_error>

#include "absl/status/status.h"
#include "exir/output/output_files.h"

namespace petrel::extension {

namespace {

namespace fs = std::filesystem;

// Links that lead nowhere are there, too.
bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

std::string write_files(const fs::path& target, const std::vector<SkeletonFile>& files) {
  std::error_code error;
  for (const SkeletonFile& file : files) {
    const fs::path path = target / file.path;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      return "'" + path.parent_path().string() + "' cannot be made: " + error.message();
    }
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

}  // namespace

std::string write_skeleton(const fs::path& target, const std::vector<SkeletonFile>& files) {
  if (is_there(target)) return "'" + target.string() + "' is there already";
  std::error_code error;
  // The outermost folder that is missing: it goes again where not all can be written.
  fs::path made = fs::absolute(target, error);
  while (made.has_relative_path() && !is_there(made.parent_path())) made = made.parent_path();
  std::string wrong = write_files(target, files);
  if (!wrong.empty()) fs::remove_all(made, error);
  return wrong;
}

}  // namespace petrel::extension
