// SPDX-License-Identifier: Apache-2.0
//
// The C of //runtime/micro as text, embedded when the compiler is built.
//
//   find_source("math/exp.h")->text   "/* SPDX... static double petrel_exp(...".
//
// The texts live as long as the process.
#ifndef PETREL_EXIR_EMIT_C_SOURCES_H_
#define PETREL_EXIR_EMIT_C_SOURCES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace petrel::exir::emit_c {

struct Source {
  absl::string_view path;  // below runtime/micro
  absl::string_view text;
};

// By path; what write_sources.cc makes.
absl::Span<const Source> all_sources();

// Null when there is none.
const Source* find_source(absl::string_view path);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_SOURCES_H_
