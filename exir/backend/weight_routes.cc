// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/weight_routes.h"

#include <fnmatch.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr size_t kMaxFileNameBytes = 255;
constexpr size_t kShownBytes = 80;

}  // namespace

absl::Status check_plain_file_name(const std::string& name) {
  const bool plain = !name.empty() && name.size() <= kMaxFileNameBytes && name != "." &&
                     name != ".." &&
                     name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
  if (plain) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("external file '", absl::CHexEscape(name.substr(0, kShownBytes)),
                   "' is not a plain file name of at most ", kMaxFileNameBytes, " bytes"));
}

bool matches_glob(const std::string& glob, const std::string& text) {
  return fnmatch(glob.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

std::string source_name(const std::string& fqn) { return fqn.substr(0, fqn.find('@')); }

absl::Status WeightRoutes::check() const {
  if (!default_file.empty()) {
    PETREL_RETURN_IF_ERROR(check_plain_file_name(default_file));
  }
  for (const WeightRule& rule : rules) {
    if (rule.glob.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the pattern of the weights for '", rule.file, "' is empty"));
    }
    PETREL_RETURN_IF_ERROR(check_plain_file_name(rule.file));
  }
  return absl::OkStatus();
}

std::optional<size_t> WeightRoutes::rule_of(const std::string& fqn) const {
  const std::string source = source_name(fqn);
  for (size_t i = 0; i < rules.size(); ++i) {
    if (matches_glob(rules[i].glob, source)) return i;
  }
  return std::nullopt;
}

}  // namespace petrel::exir
