// SPDX-License-Identifier: Apache-2.0
#include <windows.h>
// After it, which it needs.
#include <bcrypt.h>

#include "runtime/platform/random_bytes.h"

namespace petrel::runtime {

bool random_bytes(void* bytes, size_t size) {
  if (size > ULONG_MAX) return false;
  return BCryptGenRandom(nullptr, static_cast<unsigned char*>(bytes), static_cast<ULONG>(size),
                         BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0;
}

}  // namespace petrel::runtime
