// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include "runtime/platform/aligned_memory.h"

namespace petrel::runtime {

void* allocate_aligned(size_t alignment, size_t size) { return _aligned_malloc(size, alignment); }

void free_aligned(void* memory) { _aligned_free(memory); }

}  // namespace petrel::runtime
