// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "runtime/platform/random_bytes.h"

namespace petrel::runtime {

bool random_bytes(void* bytes, size_t size) {
  arc4random_buf(bytes, size);
  return true;
}

}  // namespace petrel::runtime
