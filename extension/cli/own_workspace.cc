// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/own_workspace.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace petrel::extension {
namespace {

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

absl::StatusOr<std::vector<SkeletonFile>> own_workspace(const std::string& name,
                                                        const std::string& petrel) {
  if (const absl::Status status = check_tree(petrel); !status.ok()) return status;
  return std::vector<SkeletonFile>{{"WORKSPACE", workspace_text(name, petrel)},
                                   {"bazelw", bazelw_text(petrel), /*is_executable=*/true}};
}

}  // namespace petrel::extension
