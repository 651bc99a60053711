// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/kernel_rules.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "exir/annotate.h"
#include "exir/backend/weight_routes.h"
#include "exir/input/file_content.h"

namespace petrel::exir {
namespace {

// What archives begin with that hold their objects.
constexpr absl::string_view kArchive = "!<arch>\n";

}  // namespace

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

absl::StatusOr<std::vector<emit_c::UserKernel>> read_kernel_sources(
    const std::vector<std::string>& words) {
  std::vector<emit_c::UserKernel> kernels;
  for (const std::string& word : words) {
    const auto wrong = [&](const auto&... why) {
      return absl::InvalidArgumentError(absl::StrCat("--kernel-source '", word, "': ", why...));
    };
    const size_t colon = word.rfind(':');
    if (colon == std::string::npos) return wrong("must be FILE:SYMBOL");
    const std::filesystem::path path = word.substr(0, colon);
    emit_c::UserKernel kernel{word.substr(colon + 1), path.filename().string(), ""};
    if (path.extension() != ".c" && path.extension() != ".S" && path.extension() != ".a") {
      return wrong("FILE must end in .c, .S or .a");
    }
    if (!emit_c::is_c_name(kernel.symbol)) return wrong("SYMBOL is no name that C can have");
    if (emit_c::is_variant(kernel.symbol)) return wrong("SYMBOL is the name of a variant");
    auto text = read_file_content(path.string(), kMaxContentBytes);
    if (!text.ok()) return annotate(text.status(), absl::StrCat("--kernel-source '", word, "'"));
    kernel.text = *std::move(text);
    if (path.extension() == ".a" && !absl::StartsWith(kernel.text, kArchive)) {
      return wrong("the file is no archive of objects; thin ones hold none");
    }
    if (!absl::StrContains(kernel.text, kernel.symbol)) {
      return wrong("the file has no ", kernel.symbol);
    }
    for (const emit_c::UserKernel& other : kernels) {
      if (other.file != kernel.file || other.text == kernel.text) continue;
      return wrong("another file is called ", kernel.file,
                   ", and both would be one in the package");
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

absl::StatusOr<std::vector<std::string>> read_kernel_flags(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const bool is_plain = std::all_of(word.begin(), word.end(), [](char c) {
      return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-_./+=,:", c);
    });
    if (word.size() < 2 || word[0] != '-' || !is_plain) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--kernel-flag '", word,
          "': must begin with '-' and have letters, digits and -_./+=,: alone, as -Iinclude"));
    }
  }
  return words;
}

}  // namespace petrel::exir
