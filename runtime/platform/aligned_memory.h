// SPDX-License-Identifier: Apache-2.0
//
// Memory from the heap at a multiple of an alignment. Who allocated it frees it, with the
// function here and no other: systems keep such memory apart from malloc()'s.
//
//   void* memory = allocate_aligned(kDataAlignment, padded);   // null if there is none
//   free_aligned(memory);

#ifndef PETREL_RUNTIME_PLATFORM_ALIGNED_MEMORY_H_
#define PETREL_RUNTIME_PLATFORM_ALIGNED_MEMORY_H_

#include <cstddef>

namespace petrel::runtime {

// Preconditions: `alignment` is a power of two and at least that of a pointer, `size` is a
// multiple of it and not 0.
void* allocate_aligned(size_t alignment, size_t size);
void free_aligned(void* memory);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_ALIGNED_MEMORY_H_
