// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 with the processor's instructions for it, where it has them: SHA-NI on x86-64,
// those of ARMv8 on arm64. Elsewhere it is sha256.h. The digests are the same, so the
// level of isa_level.h does not matter here.
//
//   Sha256 hash(fast_sha256_mixer());
//   fast_sha256({data, size}, digest);          // a Sha256Function

#ifndef PETREL_RUNTIME_PLATFORM_FAST_SHA256_H_
#define PETREL_RUNTIME_PLATFORM_FAST_SHA256_H_

#include "runtime/platform/sha256.h"

namespace petrel::runtime {

// The fastest one that this machine can run.
Sha256Mixer fast_sha256_mixer();

void fast_sha256(Span<const uint8_t> data, uint8_t* digest);

// Whether the machine has such instructions.
bool has_sha256_instructions();

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_FAST_SHA256_H_
