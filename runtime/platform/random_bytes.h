// SPDX-License-Identifier: Apache-2.0
//
// Bytes that nobody can foretell, for secret keys.
//
//   uint8_t key[32];
//   if (!random_bytes(key, sizeof(key))) ...      // the system gives none

#ifndef PETREL_RUNTIME_PLATFORM_RANDOM_BYTES_H_
#define PETREL_RUNTIME_PLATFORM_RANDOM_BYTES_H_

#include <cstddef>

namespace petrel::runtime {

bool random_bytes(void* bytes, size_t size);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_RANDOM_BYTES_H_
