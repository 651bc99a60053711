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

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "exir/backend/backend_selection.h"
#include "extension/export/export_option.h"

namespace petrel::extension {

// What counts for methods that no --backend names.
enum class OtherMethods { kFirstLinked, kNone };

// Adds --backend, whose words go to (*given)["backend"].
void add_backend_option(CLI::App& verb, OptionWords* given,
                        OtherMethods others = OtherMethods::kFirstLinked);

// From the words of "backend" and "compile-spec". InvalidArgument, about the
// option and its value, for wrong usage.
absl::StatusOr<exir::BackendSelection> select_backends(const OptionWords& given);
absl::StatusOr<exir::BackendSelection> select_given_backends(const OptionWords& given,
                                                             OtherMethods others);

// The two halves of "KEY=VALUE"; false without a key or a value.
bool split_pair(const std::string& text, std::string* out_key, std::string* out_value);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_BACKEND_CHOICE_H_
