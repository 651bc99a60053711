// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/method_files.h"

#include "absl/strings/str_cat.h"
#include "extension/cli/backend_choice.h"

namespace petrel::extension {

void add_method_files(CLI::App& verb, MethodFiles* given) {
  verb.add_option("model", given->model, "MODEL.pt2 of method 'forward'; others with --method");
  verb.add_option("--method", given->methods, "NAME=FILE.pt2, once per further method")
      ->take_all()
      ->allow_extra_args(false);
}

std::string read_method_files(const MethodFiles& given,
                              std::map<std::string, std::string>* methods) {
  if (!given.model.empty()) (*methods)["forward"] = given.model;
  for (const std::string& method : given.methods) {
    std::string name, path;
    if (!split_pair(method, &name, &path)) {
      return absl::StrCat("--method is '", method, "', must be NAME=FILE.pt2");
    }
    if (!methods->emplace(name, path).second) {
      return absl::StrCat("method '", name, "' is given twice");
    }
  }
  return methods->empty() ? "there is no model: give MODEL.pt2 or --method" : "";
}

}  // namespace petrel::extension
