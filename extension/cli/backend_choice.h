// SPDX-License-Identifier: Apache-2.0
//
// The backends that a command line chooses among those linked.
//
//   --backend xnnpack --backend mine     xnnpack first, mine takes what is left
//   --backend decode=mine                and method decode goes to mine alone
//   --backend decode=none                or to kernels alone
//   --compile-spec mine:tile=8           for one of several backends
#ifndef PETREL_EXTENSION_CLI_BACKEND_CHOICE_H_
#define PETREL_EXTENSION_CLI_BACKEND_CHOICE_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "exir/backend/backend_selection.h"

namespace petrel::extension {

struct BackendArguments {
  std::vector<std::string> backends;       // NAME or METHOD=NAME
  std::vector<std::string> compile_specs;  // KEY=VALUE or NAME:KEY=VALUE
  bool whole_methods = false;
  std::string partition = "cost";  // or "supported"
};

// Adds --backend.
void add_backend_option(CLI::App& verb, BackendArguments* arguments);

// InvalidArgument, about the option and its value, for wrong usage.
absl::StatusOr<exir::BackendSelection> select_backends(const BackendArguments& arguments);

// The two halves of "KEY=VALUE"; false without a key or a value.
bool split_pair(const std::string& text, std::string* out_key, std::string* out_value);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_BACKEND_CHOICE_H_
