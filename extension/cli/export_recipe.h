// SPDX-License-Identifier: Apache-2.0
//
// The options of `petrel export` that decide which graph a program has, and so
// what becomes of its weights, as text that the program remembers:
//
//   backend=xnnpack            --backend
//   compile-spec=key=value     --compile-spec
//   whole-methods              --whole-methods
//   partition=cost             --partition
//   allow-petrel-ops           --allow-petrel-ops
#ifndef PETREL_EXTENSION_CLI_EXPORT_RECIPE_H_
#define PETREL_EXTENSION_CLI_EXPORT_RECIPE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "extension/cli/backend_choice.h"
#include "exir/driver/export.h"

namespace petrel::extension {

std::vector<std::string> make_recipe(const BackendArguments& backends, bool allow_petrel_ops);

// Sets the same options again. FailedPrecondition for a line that this version
// does not know, or a backend that is not linked.
absl::Status apply_recipe(const std::vector<std::string>& recipe, exir::ExportOptions* options);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_EXPORT_RECIPE_H_
