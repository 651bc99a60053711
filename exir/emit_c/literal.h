// SPDX-License-Identifier: Apache-2.0
//
// Numbers as C text that a compiler reads back as the very same bits; of a NaN, as a
// NaN.
//
//   literal(ScalarType::kFloat, bytes of 0.1f)   "0.1f"
//   number(0.5)                                  "0.5"
//   number(int64_t{-3})                          "(-3)"
#ifndef PETREL_EXIR_EMIT_C_LITERAL_H_
#define PETREL_EXIR_EMIT_C_LITERAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "exir/ir/scalar_type.h"

namespace petrel::exir::emit_c {

// "float", "int64_t"; "uint16_t" for the bits of half and bfloat16, which C99 does not have.
const char* c_type(ScalarType type);

// One element of an array, without parentheses.
std::string literal(ScalarType type, const uint8_t* element);

// In an expression of doubles or of integers; in parentheses where it needs some.
std::string number(double value);
std::string number(int64_t value);

// "{2, 3, 4}", and "{1}" for no numbers, because C has no empty arrays.
std::string list(const std::vector<int64_t>& values);

// "\"a\\042b\"": a C string; names may hold anything.
std::string quoted(absl::string_view text);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_LITERAL_H_
