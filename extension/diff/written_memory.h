// SPDX-License-Identifier: Apache-2.0
//
// Which value lies where while a program runs. Programs plan memory: a view, a joined
// tensor or a part of one is the memory of other values, with no instruction that says so.
//
//   memory.write(a, 64, 1);            value 1 is written
//   memory.write(a + 64, 64, 2);       and value 2 behind it
//   memory.find(a, 128)                1, 2: what reads both as one reads these
#ifndef PETREL_EXTENSION_DIFF_WRITTEN_MEMORY_H_
#define PETREL_EXTENSION_DIFF_WRITTEN_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace petrel::extension {

class WrittenMemory {
 public:
  void write(const void* data, size_t size, size_t value);
  // In the order of addresses, each once.
  std::vector<size_t> find(const void* data, size_t size) const;

 private:
  struct Piece {
    uintptr_t end;
    size_t value;
  };
  std::map<uintptr_t, Piece> pieces_;  // by their begin; no two overlap
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DIFF_WRITTEN_MEMORY_H_
