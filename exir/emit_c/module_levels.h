// SPDX-License-Identifier: Apache-2.0
//
// What a compiled module may have its code for beside the least processor of its kind. The
// parameters of the package are there once; its code and metadata are there for each level, under
// names of their own, and who opens the module gets those of the best level that the processor has.
//
//   for (const ModuleLevel& level : module_levels()) level.name   "avx2", then "avx512"
//
// Invariant: each level has all of those before it. The texts are constants.
//
// The processor itself is asked (cpuid, xgetbv): in the library of zig's compiler
// __builtin_cpu_supports() says no to everything.
#ifndef PETREL_EXIR_EMIT_C_MODULE_LEVELS_H_
#define PETREL_EXIR_EMIT_C_MODULE_LEVELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace petrel::exir::emit_c {

struct ModuleLevel {
  std::string name;                // ends in the macro PETREL_MODULE_LEVEL_NAME
  std::vector<std::string> flags;  // of the compiler
  uint32_t first = 0;              // bits of ecx that cpuid 1 must have
  uint32_t seventh = 0;            // of ebx, cpuid 7
  uint32_t saved = 0;              // registers that the system must save, as xgetbv has them
};

// Those of x86-64.
absl::Span<const ModuleLevel> module_levels();

// The file for the compiler's -include: "kws_avx2.h".
std::string level_header(const std::string& name, const ModuleLevel& level);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_MODULE_LEVELS_H_
