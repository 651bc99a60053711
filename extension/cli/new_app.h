// SPDX-License-Identifier: Apache-2.0
//
// An app to start from, with what builds it: what `petrel new-app` writes. It runs a
// program on ones, and prints what comes out.
//
//   mine.cc
//   CMakeLists.txt      with the SDK that //dist writes
//
//   mine/mine.cc        or, in a Bazel workspace of its own, with Petrel's tree or the SDK
//   mine/BUILD.bazel
//   WORKSPACE, ...      own_workspace.h
#ifndef PETREL_EXTENSION_CLI_NEW_APP_H_
#define PETREL_EXTENSION_CLI_NEW_APP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/cli/own_workspace.h"
#include "extension/cli/skeleton_file.h"

namespace petrel::extension {

// InvalidArgument for a name that is not lower case letters, digits and '_', or that
// Petrel's own targets have.
absl::StatusOr<std::vector<SkeletonFile>> new_app_for_cmake(const std::string& name);

absl::StatusOr<std::vector<SkeletonFile>> new_app_for_bazel(const std::string& name,
                                                            const PetrelFolder& petrel);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_NEW_APP_H_
