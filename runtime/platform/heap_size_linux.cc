// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/heap_size.h"

#include <malloc.h>

namespace petrel::runtime {

size_t heap_size(void* block) { return malloc_usable_size(block); }

size_t aligned_heap_size(void* memory, size_t) { return malloc_usable_size(memory); }

}  // namespace petrel::runtime
