// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/weight_routes.h"

#include <fnmatch.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "exir/backend/blob_names.h"
#include "exir/status_macros.h"

namespace petrel::exir {

bool matches_glob(const std::string& glob, const std::string& text) {
  return fnmatch(glob.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

bool starts_as_zeros(const Constant& state) {
  const Blob::Bytes bytes = state.data.bytes();
  return std::all_of(bytes.span().begin(), bytes.span().end(),
                     [](uint8_t byte) { return byte == 0; });
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

std::optional<size_t> WeightRoutes::rule_of(const Constant& source) const {
  if (source.kind == Constant::Kind::kLiteral) return std::nullopt;
  const std::string name = source_name(source.fqn);
  for (size_t i = 0; i < rules.size(); ++i) {
    if (matches_glob(rules[i].glob, name)) return i;
  }
  return std::nullopt;
}

std::string WeightRoutes::file_for_kernel(const Constant& source) const {
  if (source.kind == Constant::Kind::kLiteral || source.is_mutable()) return "";
  const std::optional<size_t> rule = rule_of(source);
  return rule ? rules[*rule].file : default_file;
}

std::string WeightRoutes::file_for_state(const Constant& state) const {
  const std::optional<size_t> rule = state.is_mutable() ? rule_of(state) : std::nullopt;
  if (!rule || (rules[*rule].glob == "*" && starts_as_zeros(state))) return "";
  return rules[*rule].file;
}

std::string WeightRoutes::file_for_backend(const Constant& source) const {
  if (source.kind != Constant::Kind::kLiteral) return file_for_kernel(source);
  return keys == WeightKeys::kName ? "" : default_file;
}

std::string WeightRoutes::key_for_backend(const Constant& source, const Blob& blob,
                                          const std::string& form) const {
  if (keys == WeightKeys::kName && source.kind != Constant::Kind::kLiteral) {
    return form.empty() ? source.fqn : absl::StrCat(source.fqn, "#", form);
  }
  return to_hex(blob.sha256());
}

}  // namespace petrel::exir
