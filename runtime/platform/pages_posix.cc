// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include "runtime/platform/pages.h"

namespace petrel::runtime {
namespace {

void* take(size_t size, int more_flags) {
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more_flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

void* take_pages(size_t size) { return take(size, 0); }

void* take_unreserved_pages(size_t size) { return take(size, MAP_NORESERVE); }

void give_back_pages(void* memory, size_t size) { munmap(memory, size); }

void drop_pages(void* memory, size_t size) { madvise(memory, size, MADV_DONTNEED); }

const void* map_file(int fd, size_t size) {
  void* const bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  return bytes == MAP_FAILED ? nullptr : bytes;
}

void unmap_file(const void* bytes, size_t size) { munmap(const_cast<void*>(bytes), size); }

void forget_pages(const void* bytes, size_t size) {
  madvise(const_cast<void*>(bytes), size, MADV_DONTNEED);
}

}  // namespace petrel::runtime
