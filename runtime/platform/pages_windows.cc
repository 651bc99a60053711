// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <io.h>
#include <windows.h>

#include "runtime/platform/pages.h"

namespace petrel::runtime {

void* take_pages(size_t size) {
  return VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

// Committed memory counts against the page file, touched or not; there is no other kind.
void* take_unreserved_pages(size_t size) { return take_pages(size); }

void give_back_pages(void* memory, size_t) { VirtualFree(memory, 0, MEM_RELEASE); }

void drop_pages(void* memory, size_t size) {
  VirtualAlloc(memory, size, MEM_RESET, PAGE_READWRITE);
}

const void* map_file(int fd, size_t size) {
  const auto file = reinterpret_cast<HANDLE>(_get_osfhandle(fd));
  const HANDLE section = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (section == nullptr) {
    errno = EACCES;
    return nullptr;
  }
  const void* const bytes = MapViewOfFile(section, FILE_MAP_READ, 0, 0, size);
  CloseHandle(section);  // The view keeps what it needs.
  if (bytes == nullptr) errno = ENOMEM;
  return bytes;
}

void unmap_file(const void* bytes, size_t) { UnmapViewOfFile(bytes); }

// Unlocking pages that are not locked takes them out of the working set.
void forget_pages(const void* bytes, size_t size) { VirtualUnlock(const_cast<void*>(bytes), size); }

}  // namespace petrel::runtime
