// SPDX-License-Identifier: Apache-2.0
//
// What a model says, as a part of a comment in C that it cannot leave: names and paths come
// from a file, and may hold anything.
//
//   comment_text("a/b.py")        "a/b.py"
//   comment_text("w*/ int x;")    "w* / int x;"
//
// Printable ASCII of one line, without the ends and beginnings of comments, line splices and
// trigraphs; equal texts give equal ones. manifest.json has the names as they are.
#ifndef PETREL_EXIR_EMIT_C_COMMENT_TEXT_H_
#define PETREL_EXIR_EMIT_C_COMMENT_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace petrel::exir::emit_c {

std::string comment_text(absl::string_view text);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_COMMENT_TEXT_H_
