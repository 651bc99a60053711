// SPDX-License-Identifier: Apache-2.0
//
// A Bazel workspace outside of Petrel's tree that builds with it or with the SDK, as `petrel
// new-backend --workspace` and `petrel new-app --build bazel` write it.
//
//   WORKSPACE          @petrel and what it is built with
//   bazelw             with the tree: runs Petrel's bazelw in this workspace
//   MODULE.bazel       with the SDK: the same as WORKSPACE, for later Bazels
//   WORKSPACE.bzlmod   what Bazel 7 reads in place of WORKSPACE then
//   .bazelrc           options that any Bazel needs then
#ifndef PETREL_EXTENSION_CLI_OWN_WORKSPACE_H_
#define PETREL_EXTENSION_CLI_OWN_WORKSPACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/cli/skeleton_file.h"

namespace petrel::extension {

// What a workspace builds with: the absolute path of Petrel's tree or of the SDK.
struct PetrelFolder {
  std::string path;
  bool is_sdk = false;
};

// What is at `path`; where that is "", at `.`, and else the SDK that this command is a part of.
// NotFound where there is neither.
absl::StatusOr<PetrelFolder> find_petrel(const std::string& path);

// `name` is that of what is in it. InvalidArgument for a path that a shell or Bazel would read as
// more than a path.
absl::StatusOr<std::vector<SkeletonFile>> own_workspace(const std::string& name,
                                                        const PetrelFolder& petrel);

// How somebody builds there, for "bazel test //mine/...".
std::string bazel_in(const std::string& workspace, const PetrelFolder& petrel);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_OWN_WORKSPACE_H_
