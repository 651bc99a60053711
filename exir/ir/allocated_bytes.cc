// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/allocated_bytes.h"

#include <cstdlib>
#include <new>

namespace {
size_t total = 0;
}  // namespace

void* operator new(size_t size) {
  total += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace petrel::exir {

size_t allocated_bytes() { return total; }

}  // namespace petrel::exir
