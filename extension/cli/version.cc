// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/version.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/import/import.h"
#include "extension/cli/linked_backends.h"
#include "runtime/core/version.h"
#include "runtime/program/program_additions.h"
#include "schema/formats.h"

namespace petrel::extension {
namespace {

std::string compiler() {
#ifdef __clang__
  // Its __VERSION__ begins with a name, which vendors choose.
  return absl::StrCat("Clang ", __clang_major__, ".", __clang_minor__, ".", __clang_patchlevel__);
#else
  return absl::StrCat("GCC ", __VERSION__);
#endif
}

}  // namespace

std::string version_text() {
  const std::string backends = absl::StrJoin(
      linked_backends(), ", ",
      [](std::string* out, const LinkedBackend& linked) { out->append(linked.name); });
  return absl::StrCat("petrel ", kVersion, ", built with ", compiler(), "\n.pt2            schema ",
                      exir::kArchiveSchema, "\n.pte            ", schema::kProgramIdentifier,
                      ", version 0\n", ".ptd            ", schema::kDataFileIdentifier,
                      ", version 0\n", "petrel.program  ", runtime::ProgramAdditions::identifier(),
                      ", version 0\nbackends        ", backends);
}

}  // namespace petrel::extension
