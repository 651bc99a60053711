// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/blob_names.h"

#include <cstddef>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

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
  return absl::InvalidArgumentError(absl::StrCat("external file '", shown_name(name),
                                                 "' is not a plain file name of at most ",
                                                 kMaxFileNameBytes, " bytes"));
}

std::string shown_name(const std::string& name) {
  std::string text = absl::CHexEscape(name.substr(0, kShownBytes));
  if (name.size() > kShownBytes) text += "...";
  return text;
}

std::string shown_destination(const std::string& destination) {
  if (destination.empty()) return "the program";
  return absl::StrCat("'", shown_name(destination), "'");
}

}  // namespace petrel::exir
