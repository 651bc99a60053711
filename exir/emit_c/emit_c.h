// SPDX-License-Identifier: Apache-2.0
//
// Writes a planned Program as C99 that needs no library: the same passes, memory plan and
// names as a .pte with kernels, and bit for bit what `petrel run --kernels reference`
// computes from that. The files are listed in text_files.h.
//
//   PETREL_ASSIGN_OR_RETURN(const std::vector<CFile> files,
//                           emit_c(planned, CPools(), "kws", calls));
//   files[0].name   "kws.h"
//
// Equal programs give equal bytes.
#ifndef PETREL_EXIR_EMIT_C_EMIT_C_H_
#define PETREL_EXIR_EMIT_C_EMIT_C_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/emit_c/memories.h"
#include "exir/emit_c/module_levels.h"
#include "exir/emit_c/text_files.h"
#include "exir/ir/blob.h"
#include "exir/memory/planned_program.h"

namespace petrel::exir::emit_c {

struct CFile {
  std::string name;
  std::string text;
  std::vector<Blob> bytes = {};  // of a binary file, behind the text

  size_t size() const;
  // Hands over all that it holds, in pieces.
  absl::Status write(const std::function<absl::Status(absl::Span<const uint8_t>)>& sink) const;
};

// Computes what the self-test expects; asked for only when the program can be C.
using GoldenFn = std::function<absl::StatusOr<std::vector<GoldenCall>>()>;

absl::Status check_package_name(const std::string& name);

// Unimplemented lists every node that cannot be C yet. The program was planned with the
// pools of activations.
absl::StatusOr<std::vector<CFile>> emit_c(const PlannedProgram& planned, const CPools& pools,
                                          const std::string& name, const GoldenFn& golden);

// Of the files of a package those that compute, as its metadata and its manifest have it; of
// bytes beside them those files say the digests.
Sha256 sha256_of_sources(const std::string& name, const std::vector<CFile>& files);

// What a shared library of the package has besides: NAME_module.c, which exports its
// metadata and has the manifest as data, and petrel_module.h. Where it has levels (module_levels.h)
// also NAME_LEVEL.h of each, which renames what a package exports but its parameters.
std::vector<CFile> module_files(const std::string& name, const std::vector<CFile>& files,
                                absl::Span<const ModuleLevel> levels);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_EMIT_C_H_
