// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include "runtime/platform/pages.h"

namespace petrel::runtime {
namespace {

// Linux 5.14; older C libraries do not know them, nor do older devices.
constexpr int kPopulateRead = 22, kPopulateWrite = 23;

}  // namespace

bool clear_pages(void* memory, size_t size) { return madvise(memory, size, MADV_DONTNEED) == 0; }

bool populate_pages(void* memory, size_t size) {
  return madvise(memory, size, kPopulateWrite) == 0;
}

bool bring_pages(const void* bytes, size_t size) {
  return madvise(const_cast<void*>(bytes), size, kPopulateRead) == 0;
}

void prefer_huge_pages(void* memory, size_t size) { madvise(memory, size, MADV_HUGEPAGE); }

}  // namespace petrel::runtime
