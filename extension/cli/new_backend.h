// SPDX-License-Identifier: Apache-2.0
//
// The skeleton of a backend under another name: what `petrel new-backend` writes, which
// builds and passes the conformance suite as it is.
//
//   backends/null/aot/null_backend.h         aot/mine_backend.h
//   namespace petrel::backends::null   -->   namespace petrel::backends::mine
//   //backends/null/format                   //examples/mine/format
//
// In a workspace of its own, outside of this repository, the rest is called @petrel//...:
//
//   WORKSPACE, ...     own_workspace.h
//   mine/BUILD.bazel   //exir/backend   -->   @petrel//exir/backend
//
// The files are those of backends/null and its fixture, embedded by the build.
#ifndef PETREL_EXTENSION_CLI_NEW_BACKEND_H_
#define PETREL_EXTENSION_CLI_NEW_BACKEND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/cli/own_workspace.h"
#include "extension/cli/skeleton_file.h"

namespace petrel::extension {

// Generated: as they are in this repository.
const std::vector<SkeletonFile>& skeleton();

// The files of backend `name`, by paths in `folder`, which is a path from the root of the
// workspace. InvalidArgument for a name that is not lower case letters, digits and '_', or
// a folder that is not relative or leaves the workspace.
absl::StatusOr<std::vector<SkeletonFile>> new_backend(const std::string& name,
                                                      const std::string& folder);

// The files of a workspace that has only backend `name`, by paths in the workspace, whose
// builds use `petrel`. InvalidArgument as above, and as own_workspace() says.
absl::StatusOr<std::vector<SkeletonFile>> new_backend_workspace(const std::string& name,
                                                                const PetrelFolder& petrel);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_NEW_BACKEND_H_
