// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/heap_size.h"

#include <malloc.h>

namespace petrel::runtime {

size_t heap_size(void* block) { return _msize(block); }

size_t aligned_heap_size(void* memory, size_t alignment) {
  return _aligned_msize(memory, alignment, 0);
}

}  // namespace petrel::runtime
