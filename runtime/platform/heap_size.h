// SPDX-License-Identifier: Apache-2.0
//
// How many bytes a block of the heap has: those that were asked for, and what the system adds to
// them. Owns nothing.
//
//   free_bytes += heap_size(block);                  // of malloc()
//   free_bytes += aligned_heap_size(memory, 64);     // of allocate_aligned(64, ...)

#ifndef PETREL_RUNTIME_PLATFORM_HEAP_SIZE_H_
#define PETREL_RUNTIME_PLATFORM_HEAP_SIZE_H_

#include <cstddef>

namespace petrel::runtime {

// Precondition: the block is there, and of malloc() or realloc().
size_t heap_size(void* block);

// Precondition: the memory is there, and of allocate_aligned() with this alignment.
size_t aligned_heap_size(void* memory, size_t alignment);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_HEAP_SIZE_H_
