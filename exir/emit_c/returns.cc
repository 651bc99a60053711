// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/returns.h"

#include "absl/strings/str_cat.h"

namespace petrel::exir::emit_c {

std::string return_if(const std::string& condition, const std::string& result) {
  return absl::StrCat("  if (", condition, ") {\n    return ", result, ";\n  }\n");
}

std::string return_errors(const Package& package) {
  return return_if(absl::StrCat("status != ", package.capitals, "_OK"), "status");
}

}  // namespace petrel::exir::emit_c
