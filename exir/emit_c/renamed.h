// SPDX-License-Identifier: Apache-2.0
//
// Texts of ours in the words of a package. Kernels and what surrounds them are written with
// the project's names:
//
//   petrel_run(struct petrel_context *context)    PETREL_OK     petrel.h
//   kws_run(struct kws_context *context)          KWS_OK        kws.h
//
// Only for texts without names of the user, which may hold anything.
#ifndef PETREL_EXIR_EMIT_C_RENAMED_H_
#define PETREL_EXIR_EMIT_C_RENAMED_H_

#include <string>

#include "absl/strings/string_view.h"
#include "exir/emit_c/package.h"

namespace petrel::exir::emit_c {

std::string renamed(const Package& package, absl::string_view text);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_RENAMED_H_
