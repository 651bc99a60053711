// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/own_workspace.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/core/version.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;

// The path is "" where none of both is there.
PetrelFolder petrel_at(const fs::path& path) {
  std::error_code error;
  const fs::path folder = fs::canonical(path, error);
  if (error || !fs::exists(folder / "repositories.bzl", error)) return {};
  return {folder.string(), fs::exists(folder / "lib/libpetrel_core.a", error)};
}

// The folder above bin/petrel.
fs::path own_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path().parent_path();
}

absl::Status check_tree(const std::string& petrel) {
  const bool is_plain = std::all_of(petrel.begin(), petrel.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '/' || c == '.' || c == '-' || c == '+';
  });
  if (is_plain && !petrel.empty() && petrel[0] == '/') return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "'", petrel, "' must be an absolute path of letters, digits and '_', '.', '-', '+'"));
}

std::string workspace_text(const std::string& name, const std::string& petrel) {
  return absl::StrReplaceAll(R"(# SPDX-License-Identifier: Apache-2.0
workspace(name = "NAME_workspace")

local_repository(
    name = "petrel",
    path = "PETREL",
)

load("@petrel//:repositories.bzl", "petrel_repositories")

petrel_repositories("PETREL")
)",
                             {{"NAME", name}, {"PETREL", petrel}});
}

std::string module_text(const std::string& name, const std::string& petrel) {
  return absl::StrReplaceAll(R"(# SPDX-License-Identifier: Apache-2.0
module(name = "NAME_workspace")

bazel_dep(
    name = "petrel",
    version = "VERSION",
)
bazel_dep(
    name = "rules_cc",
    version = "0.0.9",
)
local_path_override(
    module_name = "petrel",
    path = "PETREL",
)
)",
                             {{"NAME", name}, {"PETREL", petrel}, {"VERSION", kVersion}});
}

// Bazel 7 reads it where there is a MODULE.bazel, and WORKSPACE where there is none.
constexpr char kNoWorkspace[] = "# SPDX-License-Identifier: Apache-2.0\n";

// Later releases take the standard from the compiler, and Debian's keeps its sandboxes.
constexpr char kBazelrc[] = R"(# Petrel's headers are of C++17.
build --cxxopt=-std=c++17 --host_cxxopt=-std=c++17
build --nosandbox_debug
)";

std::string bazelw_text(const std::string& petrel) {
  return absl::StrReplaceAll(R"sh(#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Petrel's build, in this workspace: installs what is missing, then runs Bazel.
PETREL_WORKSPACE=$(dirname "$(realpath "$0")") exec PETREL/bazelw "$@"
)sh",
                             {{"exec PETREL", "exec " + petrel}});
}

}  // namespace

absl::StatusOr<PetrelFolder> find_petrel(const std::string& path) {
  PetrelFolder found = petrel_at(path.empty() ? "." : path);
  if (found.path.empty() && path.empty()) found = petrel_at(own_folder());
  if (!found.path.empty()) return found;
  return absl::NotFoundError(absl::StrCat("'", path.empty() ? "." : path,
                                          "' is neither a tree of Petrel's sources nor the SDK; ",
                                          "--petrel says where one is"));
}

absl::StatusOr<std::vector<SkeletonFile>> own_workspace(const std::string& name,
                                                        const PetrelFolder& petrel) {
  if (const absl::Status status = check_tree(petrel.path); !status.ok()) return status;
  std::vector<SkeletonFile> files = {{"WORKSPACE", workspace_text(name, petrel.path)}};
  if (petrel.is_sdk) {
    files.push_back({"MODULE.bazel", module_text(name, petrel.path)});
    files.push_back({"WORKSPACE.bzlmod", kNoWorkspace});
    files.push_back({".bazelrc", kBazelrc});
  } else {
    files.push_back({"bazelw", bazelw_text(petrel.path), /*is_executable=*/true});
  }
  return files;
}

std::string bazel_in(const std::string& workspace, const PetrelFolder& petrel) {
  if (petrel.is_sdk) return absl::StrCat("cd ", workspace, " && bazel");
  return absl::StrCat(workspace, "/bazelw");
}

}  // namespace petrel::extension
