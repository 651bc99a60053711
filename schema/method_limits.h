// SPDX-License-Identifier: Apache-2.0
//
// How much a method has at most of what takes a few bytes of its file and, when it is
// run, memory of its own. Readers refuse more, and writers do not write it.
//
//   if (plan.inputs()->size() > schema::kMaxInputs) return Error::InvalidProgram;
#ifndef PETREL_SCHEMA_METHOD_LIMITS_H_
#define PETREL_SCHEMA_METHOD_LIMITS_H_

#include <cstdint>

namespace petrel::schema {

inline constexpr uint32_t kMaxArenas = 1024;
// Inputs, and as many outputs: they are compared with one another, too.
inline constexpr uint32_t kMaxInputs = 16384;

}  // namespace petrel::schema

#endif  // PETREL_SCHEMA_METHOD_LIMITS_H_
