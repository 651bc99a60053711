// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/export_recipe.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace petrel::extension {
namespace {

constexpr char kBackend[] = "backend=";
constexpr char kCompileSpec[] = "compile-spec=";
constexpr char kWholeMethods[] = "whole-methods";
constexpr char kPartition[] = "partition=";
constexpr char kAllowPetrelOps[] = "allow-petrel-ops";

// What stands behind `prefix` in `line`; false when it does not begin so.
bool read_line(const std::string& line, const std::string& prefix, std::string* out) {
  if (line.compare(0, prefix.size(), prefix) != 0) return false;
  *out = line.substr(prefix.size());
  return true;
}

}  // namespace

std::vector<std::string> make_recipe(const BackendArguments& backends, bool allow_petrel_ops) {
  std::vector<std::string> recipe;
  for (const std::string& backend : backends.backends) {
    recipe.push_back(absl::StrCat(kBackend, backend));
  }
  for (const std::string& spec : backends.compile_specs) {
    recipe.push_back(absl::StrCat(kCompileSpec, spec));
  }
  if (backends.whole_methods) recipe.push_back(kWholeMethods);
  recipe.push_back(absl::StrCat(kPartition, backends.partition));
  if (allow_petrel_ops) recipe.push_back(kAllowPetrelOps);
  return recipe;
}

absl::Status apply_recipe(const std::vector<std::string>& recipe, exir::ExportOptions* options) {
  BackendArguments backends;
  for (const std::string& line : recipe) {
    std::string text;
    if (read_line(line, kBackend, &text)) {
      backends.backends.push_back(text);
    } else if (read_line(line, kCompileSpec, &text)) {
      backends.compile_specs.push_back(text);
    } else if (read_line(line, kPartition, &text)) {
      backends.partition = text;
    } else if (line == kWholeMethods) {
      backends.whole_methods = true;
    } else if (line == kAllowPetrelOps) {
      options->allow_petrel_ops = true;
    } else {
      return absl::FailedPreconditionError(
          absl::StrCat("the program was made with '", line, "', which this version does not know"));
    }
  }
  absl::StatusOr<exir::BackendSelection> selection = select_backends(backends);
  if (!selection.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the program was made with backends that this command does not have: ",
                     selection.status().message()));
  }
  options->backends = *std::move(selection);
  return absl::OkStatus();
}

}  // namespace petrel::extension
