// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/renamed.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace petrel::exir::emit_c {

std::string renamed(const Package& package, absl::string_view text) {
  return absl::StrReplaceAll(text, {{"petrel_", absl::StrCat(package.name, "_")},
                                    {"petrel.c", absl::StrCat(package.name, ".c")},
                                    {"petrel.h", absl::StrCat(package.name, ".h")},
                                    {"petrel.ld", absl::StrCat(package.name, ".ld")},
                                    {"PETREL_", absl::StrCat(package.capitals, "_")}});
}

}  // namespace petrel::exir::emit_c
