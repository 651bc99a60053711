// SPDX-License-Identifier: Apache-2.0
//
// Runs the C compiler of the machine on a generated package, in a folder of its own that is
// removed: $CC, which may hold options, else cc.
//
//   PETREL_ASSIGN_OR_RETURN(emit_c::CFile library, compile_library("kws", files));
//   library.name   "libkws.so", which exports one symbol and tells what it is (runtime/micro/
//                  model/petrel_module.h)
//
// With one compiler equal files give equal bytes.
#ifndef PETREL_EXIR_COMPILE_C_COMPILE_C_H_
#define PETREL_EXIR_COMPILE_C_COMPILE_C_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/emit_c/emit_c.h"

namespace petrel::exir {

// Whether a product and a sum may be one operation, rounded once. Results are those of the
// reference kernels only without.
enum class Contraction { kNone, kFused };

struct CompileOptions {
  Contraction contraction = Contraction::kNone;
  // For the kernels of the user alone; folders are those of the machine.
  std::vector<std::string> kernel_flags = {};
  // Libraries may have the model for several levels of the processor.
  bool has_levels = true;
};

// NAME.o: all of the package but its self-test and its arrays of memory. NotFound when there is
// no compiler, FailedPrecondition with what it said when it fails.
absl::StatusOr<emit_c::CFile> compile_object(const std::string& name,
                                             const std::vector<emit_c::CFile>& files,
                                             const CompileOptions& options = {});

// libNAME.so: the same as a compiled module. Errors as above. Where the compiler makes code for
// x86-64 and $CC does not say for which, it has it for several levels (emit_c/module_levels.h).
absl::StatusOr<emit_c::CFile> compile_library(const std::string& name,
                                              const std::vector<emit_c::CFile>& files,
                                              const CompileOptions& options = {});

}  // namespace petrel::exir

#endif  // PETREL_EXIR_COMPILE_C_COMPILE_C_H_
