// SPDX-License-Identifier: Apache-2.0
//
// Statements of generated C that end a function early. Their bodies have braces, as MISRA C wants
// them.
//
//   return_if("data == NULL", "KWS_E_NULL")    if (data == NULL) {
//                                                return KWS_E_NULL;
//                                              }
#ifndef PETREL_EXIR_EMIT_C_RETURNS_H_
#define PETREL_EXIR_EMIT_C_RETURNS_H_

#include <string>

#include "exir/emit_c/package.h"

namespace petrel::exir::emit_c {

std::string return_if(const std::string& condition, const std::string& result);
// What returns `status` where it is an error.
std::string return_errors(const Package& package);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_RETURNS_H_
