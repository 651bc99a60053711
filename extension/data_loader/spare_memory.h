// SPDX-License-Identifier: Apache-2.0
//
// SpareMemory: page-aligned memory for what is read from files. Weights that are read,
// packed and given back one after the other go through the same few pages: the system's
// fresh pages, which it clears, cost ten times what reading from its cache does.
//
//   void* memory = SpareMemory::take(size);      // null if there is none
//   SpareMemory::give_back(memory, size);
//
//   read 640 KB   pack   give back -.
//   read 640 KB   pack   give back <-' the same pages
//   loaded                                       clear(): they go to the system
//
// Keeps at most kMostBytes of what came back, in a few blocks; the rest goes to the
// system at once. Who knows that loading has ended clears it.
// Thread-safe.
#ifndef PETREL_EXTENSION_DATA_LOADER_SPARE_MEMORY_H_
#define PETREL_EXTENSION_DATA_LOADER_SPARE_MEMORY_H_

#include <cstddef>

namespace petrel::extension {

class SpareMemory final {
 public:
  static constexpr size_t kMostBytes = size_t{2} << 20;

  // With whatever bytes were there before.
  static void* take(size_t size);
  static void give_back(void* memory, size_t size);
  static void clear();

 private:
  struct Blocks;
  static Blocks& blocks();
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DATA_LOADER_SPARE_MEMORY_H_
