// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "runtime/platform/aligned_memory.h"

namespace petrel::runtime {

void* allocate_aligned(size_t alignment, size_t size) {
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

void free_aligned(void* memory) { std::free(memory); }

}  // namespace petrel::runtime
