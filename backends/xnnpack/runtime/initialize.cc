// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/initialize.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>

namespace petrel::backends::xnnpack {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

void* allocate(void*, size_t size) { return std::malloc(size); }
void* reallocate(void*, void* data, size_t size) { return std::realloc(data, size); }
void release(void*, void* data) { std::free(data); }

void* allocate_aligned(void*, size_t alignment, size_t size) {
  void* data = nullptr;
  const bool is_large = size >= kHugePage;
  if (posix_memalign(&data, is_large ? kHugePage : alignment, size) != 0) return nullptr;
#ifdef MADV_HUGEPAGE
  // A hint. The rest behind the last whole huge page stays in small ones.
  if (is_large) madvise(data, size - size % kHugePage, MADV_HUGEPAGE);
#endif
  return data;
}

const xnn_allocator kAllocator = {nullptr, &allocate, &reallocate,
                                  &release, &allocate_aligned, &release};

}  // namespace

xnn_status initialize() { return xnn_initialize(&kAllocator); }

}  // namespace petrel::backends::xnnpack
