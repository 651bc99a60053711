// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/kernel_rules.h"

#include "absl/strings/str_cat.h"
#include "exir/backend/weight_routes.h"

namespace petrel::exir {

absl::StatusOr<std::vector<emit_c::ForcedKernel>> read_kernel_rules(
    const std::vector<std::string>& words) {
  std::vector<emit_c::ForcedKernel> rules;
  for (const std::string& word : words) {
    const size_t sign = word.rfind('=');
    if (sign == std::string::npos || sign == 0 || sign + 1 == word.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--kernel '", word, "': must be NODE=VARIANT"));
    }
    const std::string glob = word.substr(0, sign);
    rules.push_back({glob, word.substr(sign + 1),
                     [glob](const std::string& name) { return matches_glob(glob, name); }});
  }
  return rules;
}

}  // namespace petrel::exir
