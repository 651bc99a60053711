// SPDX-License-Identifier: Apache-2.0
//
// A Bazel workspace outside of Petrel's tree that builds with it, as `petrel new-backend
// --workspace` and `petrel new-app --build bazel` write it.
//
//   WORKSPACE   @petrel and what it is built with
//   bazelw      runs Petrel's bazelw in this workspace
#ifndef PETREL_EXTENSION_CLI_OWN_WORKSPACE_H_
#define PETREL_EXTENSION_CLI_OWN_WORKSPACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/cli/skeleton_file.h"

namespace petrel::extension {

// `name` is that of what is in it, `petrel` the absolute path of Petrel's tree.
// InvalidArgument for a path that a shell or Bazel would read as more than a path.
absl::StatusOr<std::vector<SkeletonFile>> own_workspace(const std::string& name,
                                                        const std::string& petrel);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_OWN_WORKSPACE_H_
