// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "runtime/platform/random_bytes.h"

namespace petrel::runtime {

bool random_bytes(void* bytes, size_t size) {
  auto* at = static_cast<uint8_t*>(bytes);
  while (size > 0) {
    // glibc has a function for it from 2.25 on only.
    const long got = syscall(SYS_getrandom, at, std::min(size, size_t{256}), 0);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace petrel::runtime
