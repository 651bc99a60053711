// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4) of bytes in memory, for systems without a library that has
// it. Plain C++: an app with large bound weights gives ProgramOptions::sha256 one
// that uses the processor's instructions.
//
//   uint8_t digest[kSha256Bytes];
//   sha256({data, size}, digest);

#ifndef PETREL_RUNTIME_EXECUTOR_SHA256_H_
#define PETREL_RUNTIME_EXECUTOR_SHA256_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/span.h"

namespace petrel::runtime {

constexpr size_t kSha256Bytes = 32;

// Writes kSha256Bytes bytes to `digest`.
using Sha256Function = void (*)(Span<const uint8_t> data, uint8_t* digest);

void sha256(Span<const uint8_t> data, uint8_t* digest);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_SHA256_H_
