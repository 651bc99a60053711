// SPDX-License-Identifier: Apache-2.0
//
// C without factors of 1, terms of 0, and products with 0, which constants of a model leave behind:
// readers need not think of them, and MISRA C takes them for code that does nothing.
//
//   with_plain_terms("out[r * 10 + c] = bias[r * 0 + c * 1];")    "out[r * 10 + c] = bias[c];"
//
// Only plain integers count, not 0.0 or 1u. Comments, strings and lines of the preprocessor stay. A
// product with 0 stays where it has the only use of a name, which would be a warning then.
#ifndef PETREL_EXIR_EMIT_C_PLAIN_TERMS_H_
#define PETREL_EXIR_EMIT_C_PLAIN_TERMS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace petrel::exir::emit_c {

std::string with_plain_terms(absl::string_view text);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_PLAIN_TERMS_H_
