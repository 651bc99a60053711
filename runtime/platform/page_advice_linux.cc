// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include "runtime/platform/pages.h"

namespace petrel::runtime {
namespace {

// Linux 5.14; older C libraries do not know it.
constexpr int kPopulateWrite = 23;

}  // namespace

bool clear_pages(void* memory, size_t size) { return madvise(memory, size, MADV_DONTNEED) == 0; }

bool populate_pages(void* memory, size_t size) {
  return madvise(memory, size, kPopulateWrite) == 0;
}

}  // namespace petrel::runtime
