// SPDX-License-Identifier: Apache-2.0
//
// C names for the names of a model. What C does not take becomes an underscore; two
// names that become one, and those that C or C++ keeps for itself, are an error that
// tells the original names: silently renamed, nobody would find them.
//
//   Names inputs("input");
//   inputs.add("input:0")   "input_0"
//   inputs.add("input.0")   InvalidArgument: inputs 'input:0' and 'input.0' would both
//                           be called input_0
#ifndef PETREL_EXIR_EMIT_C_NAMES_H_
#define PETREL_EXIR_EMIT_C_NAMES_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace petrel::exir::emit_c {

// Letters, digits and single underscores, beginning with a letter.
std::string sanitized(absl::string_view name);

bool is_keyword(absl::string_view name);  // of C or C++

class Names {
 public:
  // `what` they are names of, for messages.
  explicit Names(std::string what) : what_(std::move(what)) {}

  absl::StatusOr<std::string> add(const std::string& name);

 private:
  std::string what_;
  std::map<std::string, std::string> originals_;  // by C name
};

// The name that the user gives a package: it begins every name of its files.
absl::Status check_package_name(const std::string& name);

// "KWS" for "kws".
std::string in_capitals(absl::string_view name);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_NAMES_H_
