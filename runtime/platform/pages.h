// SPDX-License-Identifier: Apache-2.0
//
// Pages: memory straight from the system, and files mapped into memory. Pages that nobody
// touched cost nothing. Who took or mapped them gives all of them back at once.
//
//   void* memory = take_pages(size);             // zeros; null if there are none
//   drop_pages(memory, size);                    // unused from here on, but still there
//   give_back_pages(memory, size);
//
//   const void* bytes = map_file(fd, size);      // read only; null, and errno says why
//   forget_pages(bytes, size);                   // read from the file again when touched
//   unmap_file(bytes, size);

#ifndef PETREL_RUNTIME_PLATFORM_PAGES_H_
#define PETREL_RUNTIME_PLATFORM_PAGES_H_

#include <cstddef>

namespace petrel::runtime {

void* take_pages(size_t size);
// The same where much more is asked for than will be touched.
void* take_unreserved_pages(size_t size);
void give_back_pages(void* memory, size_t size);

// Of ranges that begin at a page, within what was taken. What drop_pages() leaves is not
// defined, what clear_pages() leaves is zeros; false, and nothing done, where the system cannot
// do that for less than writing them.
void drop_pages(void* memory, size_t size);
bool clear_pages(void* memory, size_t size);
// Has the system give them before they are written; false where it does so one by one.
bool populate_pages(void* memory, size_t size);
// Has the system use huge pages for those of the range that were not touched yet, where it has
// them and is not told to use none.
void prefer_huge_pages(void* memory, size_t size);
// Whether huge pages take no longer to get than as many small ones. False in a virtual machine
// that reports free huge pages to its host, which takes them away: to get one back takes
// milliseconds.
bool huge_pages_are_cheap();

// Precondition: `size` is not 0.
const void* map_file(int fd, size_t size);
void unmap_file(const void* bytes, size_t size);
// Has the system map them before they are read, those of the file that are in memory at no cost
// for each; false where it does so one by one. From the beginning of a page on.
bool bring_pages(const void* bytes, size_t size);
// The system may refuse.
void forget_pages(const void* bytes, size_t size);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_PAGES_H_
